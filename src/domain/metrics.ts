/** What can be asked of each grouping (docs/api.md). */
export const GROUP_BYS = [
  'TOPIC',
  'TOPIC_CLUSTER',
  'REPEATED_REQUEST',
  'CSAT_DSAT',
  'GAP',
  'SESSION',
  'END_USER',
] as const;
export type GroupBy = (typeof GROUP_BYS)[number];

export const METRICS = [
  'sessions',
  'users',
  'messages',
  'avgMessagesPerSession',
  'sat',
  'dsat',
  'netSat',
  'duration',
  'lastActiveAt',
  'repeatedRequests',
] as const;
export type Metric = (typeof METRICS)[number];

/** Sortable besides the metrics. */
export const SORT_FIELDS = [...METRICS, 'createdAt'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

const ENTITY_METRICS = ['sessions', 'users', 'messages'] as const;
const TOPIC_METRICS = [...ENTITY_METRICS, 'avgMessagesPerSession', 'sat', 'dsat', 'netSat'] as const;

export const METRICS_OF: Readonly<Record<GroupBy, readonly Metric[]>> = {
  TOPIC: TOPIC_METRICS,
  TOPIC_CLUSTER: TOPIC_METRICS,
  REPEATED_REQUEST: ENTITY_METRICS,
  CSAT_DSAT: ENTITY_METRICS,
  GAP: ENTITY_METRICS,
  SESSION: ['messages', 'duration', 'lastActiveAt', 'sat', 'dsat', 'netSat', 'repeatedRequests'],
  END_USER: ['sessions', 'messages', 'sat', 'dsat', 'netSat', 'repeatedRequests'],
};

/** Sort fields that a grouping has besides its metrics. */
export const EXTRA_SORTS_OF: Readonly<Record<GroupBy, readonly SortField[]>> = {
  TOPIC: [],
  TOPIC_CLUSTER: [],
  REPEATED_REQUEST: [],
  CSAT_DSAT: [],
  GAP: [],
  SESSION: ['createdAt', 'lastActiveAt'],
  END_USER: ['createdAt', 'lastActiveAt'],
};

export const DIMENSION_FIELDS_OF: Readonly<Record<GroupBy, readonly string[]>> = {
  TOPIC: [],
  TOPIC_CLUSTER: [],
  REPEATED_REQUEST: [],
  CSAT_DSAT: [],
  GAP: [],
  SESSION: ['title', 'summary', 'topics', 'language', 'externalId'],
  END_USER: ['externalId', 'topTopics', 'createdAt', 'lastActiveAt'],
};
