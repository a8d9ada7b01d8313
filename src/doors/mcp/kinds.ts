/**
 * Kinds of entities that the tools list and explain: one line each, based on the API's groupings.
 *
 * Test: test/doors/mcp/tools.test.ts.
 */
import { GROUPINGS, type DeclaredGroupings, type GroupBy } from '../../domain/groupings.ts';
import { isRatio, type Metric } from '../../domain/metrics.ts';
import { WHY_PATHS, type WhyPath } from '../../query/why/why-schema.ts';

/** Orders of the tool `topics`. */
export const SORTS = ['sessions', 'messages', 'users', 'sat', 'dsat', 'netSat', 'growth'] as const;

export interface Kind {
  readonly groupBy: GroupBy;
  /** Member of `dimensions` with the entity. */
  readonly dimension: Exclude<DeclaredGroupings[GroupBy]['name'], 'session'>;
  /** Singular noun. */
  readonly word: string;
  readonly metrics: readonly Metric[];
  readonly dimensionFields: string;
  /** Path that explains the kind, or null. */
  readonly why: WhyPath | null;
}

function kind<G extends Exclude<GroupBy, 'SESSION'>>(groupBy: G, word: string, dimensionFields = ''): Kind {
  const { name, metrics } = GROUPINGS[groupBy];
  const why = (Object.keys(WHY_PATHS) as WhyPath[]).find((path) => WHY_PATHS[path] === groupBy);
  return {
    groupBy,
    dimension: name as Kind['dimension'],
    word,
    // A ratio adds nothing to its parts, except where rows are sorted by it.
    metrics: metrics.filter((metric) => !isRatio(metric) || SORTS.some((sort) => sort === metric)),
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
  labels: kind('LABEL', 'label'),
  // The name of an end user is the external id.
  users: kind('END_USER', 'end user', 'externalId'),
};

export type KindName = keyof typeof DECLARED;
export const KINDS: Readonly<Record<KindName, Kind>> = DECLARED;
export const KIND_NAMES = Object.keys(DECLARED) as [KindName, ...KindName[]];

/** Kinds that can be explained. */
export const WHY_KINDS = KIND_NAMES.filter((name) => KINDS[name].why !== null) as [KindName, ...KindName[]];

/** The kinds whose entities have changes and effects. */
const CHANGED = ['topics', 'gaps', 'signals', 'repeats'] as const;

/** Returns the entity of a change or an effect, with its kind. */
export function changedEntity(of: Readonly<Record<string, unknown>>) {
  const kind = CHANGED.find((one) => of[KINDS[one].dimension] !== undefined) ?? 'topics';
  const { id = '', name = '' } = (of[KINDS[kind].dimension] ?? {}) as {
    readonly id?: string;
    readonly name?: string;
  };
  return { id, name, kind };
}
