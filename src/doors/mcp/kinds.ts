/** What the tools list and explain: one line for each kind, on top of the groupings of the API. */
import { GROUPINGS, type DeclaredGroupings, type GroupBy } from '../../domain/groupings.ts';
import type { Metric } from '../../domain/metrics.ts';
import { WHY_PATHS, type WhyPath } from '../../query/why/why-schema.ts';

export interface Kind {
  readonly groupBy: GroupBy;
  /** The member of `dimensions` that holds the entity. */
  readonly dimension: Exclude<DeclaredGroupings[GroupBy]['name'], 'session'>;
  /** One of them, in words. */
  readonly word: string;
  readonly metrics: readonly Metric[];
  readonly dimensionFields: string;
  /** Where it is explained; null: nowhere. */
  readonly why: WhyPath | null;
}

function kind<G extends Exclude<GroupBy, 'SESSION'>>(groupBy: G, word: string, dimensionFields = ''): Kind {
  const { name, metrics } = GROUPINGS[groupBy];
  const why = (Object.keys(WHY_PATHS) as WhyPath[]).find((path) => WHY_PATHS[path] === groupBy);
  return {
    groupBy,
    dimension: name as Kind['dimension'],
    word,
    // Beside its two parts it tells nothing more.
    metrics: metrics.filter((metric) => metric !== 'avgMessagesPerSession'),
    dimensionFields,
    why: why ?? null,
  };
}

const DECLARED = {
  topics: kind('TOPIC', 'topic'),
  clusters: kind('TOPIC_CLUSTER', 'topic cluster'),
  gaps: kind('GAP', 'gap'),
  signals: kind('CSAT_DSAT', 'signal'),
  repeats: kind('REPEATED_REQUEST', 'repeated request'),
  // An end user's name is its external id.
  users: kind('END_USER', 'end user', 'externalId'),
};

export type KindName = keyof typeof DECLARED;
export const KINDS: Readonly<Record<KindName, Kind>> = DECLARED;
export const KIND_NAMES = Object.keys(DECLARED) as [KindName, ...KindName[]];

/** Those that can be explained. */
export const WHY_KINDS = KIND_NAMES.filter((name) => KINDS[name].why !== null) as [KindName, ...KindName[]];
