/**
 * What each grouping has, as types. test/client/contract.test.ts holds them to src/domain: they cannot differ.
 */

/** An instant in UTC or with an offset, or a date (its midnight in UTC). */
export type Instant = string | Date;

/** A topic, gap or other thing with a name. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** How a session ended. */
export type SessionOutcome = 'solved' | 'thanked' | 'handed_over' | 'gave_up' | 'not_possible' | 'open';

type EntityMetric = 'sessions' | 'users' | 'messages' | 'waitSeconds';
type TopicMetric = EntityMetric | 'avgMessagesPerSession' | 'sat' | 'dsat' | 'netSat';

/** By grouping: the member of `dimensions`, what it always holds, and what only `dimensionFields` brings. */
export interface Groupings {
  TOPIC: {
    name: 'topic';
    metric: TopicMetric;
    sort: never;
    filter: never;
    always: Named & { readonly clusterId: string | null };
    onRequest: {
      readonly description: string | null;
      readonly isOwn: boolean;
      readonly isNamed: boolean;
      readonly isHidden: boolean;
    };
  };
  TOPIC_CLUSTER: {
    name: 'cluster';
    metric: TopicMetric;
    sort: never;
    filter: never;
    always: Named;
    onRequest: { readonly isNamed: boolean };
  };
  REPEATED_REQUEST: {
    name: 'repeatedRequest';
    metric: EntityMetric;
    sort: never;
    filter: never;
    always: Named & { readonly description: string };
    onRequest: NoMembers;
  };
  CSAT_DSAT: {
    name: 'csatDsatSignal';
    metric: EntityMetric;
    sort: never;
    filter: never;
    always: Named & { readonly signalType: 'SAT' | 'DSAT'; readonly description: string };
    onRequest: NoMembers;
  };
  GAP: {
    name: 'gap';
    metric: EntityMetric;
    sort: never;
    filter: 'gapType';
    always: Named & {
      readonly description: string;
      readonly gapType: 'TOOL' | 'KNOWLEDGE';
      readonly topics?: readonly Named[] | undefined;
    };
    onRequest: { readonly isNamed: boolean };
  };
  SESSION: {
    name: 'session';
    metric:
      | 'messages'
      | 'duration'
      | 'lastActiveAt'
      | 'sat'
      | 'dsat'
      | 'netSat'
      | 'repeatedRequests'
      | 'waitSeconds';
    sort: 'createdAt' | 'lastActiveAt';
    filter:
      | 'topicIds'
      | 'clusterIds'
      | 'signalIds'
      | 'repeatedRequestIds'
      | 'gapIds'
      | 'endUserIds'
      | 'language'
      | 'outcome'
      | 'externalId'
      | 'titleContains'
      | 'textContains';
    always: { readonly id: string };
    onRequest: {
      readonly title: string | null;
      readonly summary: string | null;
      readonly topics: readonly Named[];
      readonly language: string | null;
      readonly outcome: SessionOutcome | null;
      readonly externalId: string | null;
    };
  };
  END_USER: {
    name: 'endUser';
    metric: 'sessions' | 'messages' | 'sat' | 'dsat' | 'netSat' | 'repeatedRequests' | 'waitSeconds';
    sort: 'createdAt' | 'lastActiveAt';
    filter: 'topicIds' | 'clusterIds' | 'externalId';
    always: { readonly id: string };
    onRequest: {
      readonly externalId: string;
      readonly topTopics: readonly Named[];
      readonly createdAt: string;
      readonly lastActiveAt: string | null;
    };
  };
}

/** `keyof` it is `never`. */
type NoMembers = Readonly<Record<never, never>>;

export type GroupBy = keyof Groupings;
export type MetricOf<G extends GroupBy> = Groupings[G]['metric'];
export type DimensionFieldOf<G extends GroupBy> = keyof Groupings[G]['onRequest'];
export type SortFieldOf<G extends GroupBy> = MetricOf<G> | Groupings[G]['sort'];
export type Granularity = 'ALL' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';
/** Of a trend. */
export type TrendGranularity = Exclude<Granularity, 'ALL'>;

/** The value of each metric. Instants are ISO 8601 in UTC, durations seconds, `netSat` is in percent. */
export interface MetricValues {
  readonly sessions: number;
  readonly users: number;
  readonly messages: number;
  readonly avgMessagesPerSession: number;
  readonly sat: number;
  readonly dsat: number;
  readonly netSat: number | null;
  readonly duration: number | null;
  readonly lastActiveAt: string | null;
  readonly repeatedRequests: number;
  readonly waitSeconds: number | null;
}
export type Metric = keyof MetricValues;

/** The values of filters. */
export interface FilterValues {
  readonly topicIds: readonly string[];
  readonly clusterIds: readonly string[];
  readonly signalIds: readonly string[];
  readonly repeatedRequestIds: readonly string[];
  readonly gapIds: readonly string[];
  readonly endUserIds: readonly string[];
  readonly gapType: 'TOOL' | 'KNOWLEDGE';
  readonly language: string;
  readonly outcome: readonly SessionOutcome[];
  readonly externalId: string;
  readonly titleContains: string;
  readonly textContains: string;
}

type BoundedMetric = 'sessions' | 'messages' | 'sat' | 'dsat' | 'repeatedRequests';
/** `minSessions`, `maxSessions` … for the metrics of the grouping that can be bounded. */
export type BoundOf<G extends GroupBy> = `${'min' | 'max'}${Capitalize<MetricOf<G> & BoundedMetric>}`;

/** What an entity of the grouping is, with the dimension fields `D`. */
export type EntityOf<G extends GroupBy, D extends DimensionFieldOf<G> = never> = Groupings[G]['always'] &
  Pick<Groupings[G]['onRequest'], D>;

/** All that a description of one entity has. */
export type WholeEntityOf<G extends GroupBy> = EntityOf<G, DimensionFieldOf<G>>;
