/** What the tools list and explain: one declaration per kind, on top of the groupings of the API. */
import type { GroupBy } from '../domain/groupings.ts';
import type { Metric } from '../domain/metrics.ts';
import type { WhyPath } from '../query/why/why-schema.ts';

export interface Kind {
  readonly groupBy: GroupBy;
  /** The member of `dimensions` that holds the entity. */
  readonly dimension: 'topic' | 'cluster' | 'gap' | 'csatDsatSignal' | 'repeatedRequest' | 'endUser';
  /** One of them, in words. */
  readonly word: string;
  readonly metrics: readonly Metric[];
  readonly dimensionFields: string;
  /** Where it is explained; null: nowhere. */
  readonly why: WhyPath | null;
}

const COUNTED = ['sessions', 'users', 'messages', 'waitSeconds'] as const;
const RATED = [...COUNTED, 'sat', 'dsat', 'netSat'] as const;

const DECLARED = {
  topics: {
    groupBy: 'TOPIC',
    dimension: 'topic',
    word: 'topic',
    metrics: RATED,
    dimensionFields: '',
    why: 'topics',
  },
  clusters: {
    groupBy: 'TOPIC_CLUSTER',
    dimension: 'cluster',
    word: 'topic cluster',
    metrics: RATED,
    dimensionFields: '',
    why: 'topic-clusters',
  },
  gaps: {
    groupBy: 'GAP',
    dimension: 'gap',
    word: 'gap',
    metrics: COUNTED,
    dimensionFields: '',
    why: 'gaps',
  },
  signals: {
    groupBy: 'CSAT_DSAT',
    dimension: 'csatDsatSignal',
    word: 'signal',
    metrics: COUNTED,
    dimensionFields: '',
    why: null,
  },
  repeats: {
    groupBy: 'REPEATED_REQUEST',
    dimension: 'repeatedRequest',
    word: 'repeated request',
    metrics: COUNTED,
    dimensionFields: '',
    why: 'repeated-requests',
  },
  users: {
    groupBy: 'END_USER',
    dimension: 'endUser',
    word: 'end user',
    metrics: ['sessions', 'messages', 'sat', 'dsat', 'netSat', 'repeatedRequests', 'waitSeconds'],
    dimensionFields: 'externalId',
    why: 'end-users',
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof DECLARED;
export const KINDS: Readonly<Record<KindName, Kind>> = DECLARED;
export const KIND_NAMES = Object.keys(DECLARED) as [KindName, ...KindName[]];

/** Those that can be explained. */
export const WHY_KINDS = KIND_NAMES.filter((name) => KINDS[name].why !== null) as [KindName, ...KindName[]];
