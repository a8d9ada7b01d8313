/**
 * Bodies of requests and answers, and the options of calls. What the service declares comes from contract.ts;
 * test/doors/client/contract.test.ts holds the options to its parameters.
 */
import type {
  ChangesAnswer,
  CuratedAnswer,
  CurationsAnswer,
  Erasure,
  ExportedLine,
  IngestBody,
  IngestIds,
  Instances,
  MetricValues,
  NewTopicAnswer,
  OverviewAnswer,
  OverviewMetric,
  SaidAnswer,
  TranscriptAnswer,
  WhyAnswer,
  WhyGroupBy,
} from './contract.ts';
import type { Groupings, Instant, TrendGranularity, WholeEntityOf } from './groupings.ts';
import type { CallOptions, DateRange, ReadOptions, Waited } from './queries.ts';

export type {
  Erasure,
  Erasures,
  IngestBody,
  Instances,
  Key,
  NewInstance,
  NewTopic,
  WhyGroupBy,
} from './contract.ts';

/** A message as it is sent. Its event time is UTC and ends in `Z`; its role is `user` where it has none. */
export type Message = IngestBody['messages'][number];

/** What is said of instance, session and end users (by `userId`). `externalId` is your own name for the session. */
export type IngestMetadata = NonNullable<IngestBody['metadata']>;

export interface Ingested extends IngestIds {
  /** Takes `waitFor`; null where the service did not say. */
  readonly position: number | null;
  /** What of the request has no effect; null: nothing. */
  readonly warnings: string | null;
}

export interface PeriodOptions extends ReadOptions {
  readonly dateRange?: DateRange | undefined;
  /** Default `DAY`. */
  readonly timeGranularity?: TrendGranularity | undefined;
  /** As of a query. */
  readonly timeZone?: string | undefined;
}

type OverviewFields = Pick<MetricValues, OverviewMetric>;

export interface Overview extends OverviewAnswer, Waited {
  readonly fields: OverviewFields;
  readonly trend: readonly { readonly date: string; readonly fields: OverviewFields }[];
}

export interface ChangesOptions extends ReadOptions {
  readonly dateRange: { readonly start: Instant; readonly end: Instant };
  /** Default `previous`. */
  readonly compare?: 'previous' | 'year' | undefined;
  /** As of a query. */
  readonly timeZone?: string | undefined;
  readonly limit?: number | undefined;
}

export interface Changes extends ChangesAnswer, Waited {}
export type Change = ChangesAnswer['changes'][number];

/** What is behind the numbers of one entity, besides the entity. */
export interface Reasons extends WhyAnswer, Waited {}

export type Why<G extends WhyGroupBy> = Reasons & {
  readonly [N in Groupings[G]['name']]: WholeEntityOf<G>;
};

export interface CursorOptions extends ReadOptions {
  /** On a page: 1 to 1,000. */
  readonly limit?: number | undefined;
  /** `pagination.next` of the page before. */
  readonly cursor?: string | null | undefined;
}

export interface SaidOptions extends ReadOptions {
  readonly dateRange?: DateRange | undefined;
  /** As of a query. */
  readonly timeZone?: string | undefined;
  /** On a page: 1 to 100. */
  readonly limit?: number | undefined;
  /** `pagination.next` of the page before. */
  readonly cursor?: string | null | undefined;
}

/** Sessions in which something was said, and how far the search has looked: to its end when `pagination.next` is null. */
export interface Said extends SaidAnswer, Waited {}

export interface Transcript extends TranscriptAnswer, Waited {}
export type TranscriptMessage = TranscriptAnswer['messages'][number];

/** Exactly one of them. */
type CurationTarget =
  | { readonly topicId: string; readonly topicClusterId?: undefined; readonly gapId?: undefined }
  | { readonly topicClusterId: string; readonly topicId?: undefined; readonly gapId?: undefined }
  | { readonly gapId: string; readonly topicId?: undefined; readonly topicClusterId?: undefined };
type Destination =
  | { readonly topicClusterId: string; readonly newClusterName?: undefined }
  | { readonly newClusterName: string; readonly topicClusterId?: undefined };

/** A decision about a topic, topic cluster or gap. */
export type Curation =
  | ({ readonly action: 'RENAME'; readonly name: string } & CurationTarget)
  | ({ readonly action: 'PIN' } & CurationTarget)
  | { readonly action: 'MERGE'; readonly topicId: string; readonly intoTopicId: string }
  | ({ readonly action: 'MOVE'; readonly topicId: string } & Destination)
  | { readonly action: 'HIDE'; readonly topicId: string }
  | { readonly action: 'UNDO'; readonly curationId: string };

export interface CurateOptions extends ReadOptions {
  /** Default: a new one for each call, the same in all of its tries. */
  readonly idempotencyKey?: string | undefined;
}

/** `topicClusterId`: of the cluster that `newClusterName` makes. */
export interface CurationAnswer extends CuratedAnswer {
  readonly position: number | null;
}

export interface CreatedTopic extends NewTopicAnswer {
  readonly position: number | null;
}

export interface Curations extends CurationsAnswer, Waited {}
export type ListedCuration = CurationsAnswer['elements'][number];

interface ErasureTargets {
  readonly sessionId: string;
  /** The userId of an end user. */
  readonly externalId: string;
  /** Positions, as transcripts have them. */
  readonly messages: readonly number[];
  readonly everything: true;
}

/** Exactly one of them. */
type ErasureTarget = {
  [Name in keyof ErasureTargets]: Pick<ErasureTargets, Name> & {
    readonly [Other in Exclude<keyof ErasureTargets, Name>]?: undefined;
  };
}[keyof ErasureTargets];

/** What is to go for good. The reason is kept and should name nobody. */
export type NewErasure = ErasureTarget & { readonly reason?: string | undefined };

export interface AcceptedErasure extends Erasure {
  readonly position: number | null;
}

export interface ErasuresOptions extends CallOptions {
  /** On a page: 1 to 1,000. */
  readonly limit?: number | undefined;
  /** `pagination.next` of the page before. */
  readonly cursor?: string | null | undefined;
}

/** What is held of an end user: a thing on each line, which `kind` says. */
export type SubjectLine = Exclude<ExportedLine, { readonly kind: 'END' }>;

export type Instance = Instances['elements'][number];

export interface InstancesOptions extends CallOptions {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Only the default instance of the project, where there is one. */
  readonly default?: true | undefined;
}
