/**
 * Types of requests, answers and options of calls. contract.ts derives from the service's declarations; the test
 * compares the options with its parameters.
 *
 * Test: test/doors/client/contract.test.ts.
 */
import type {
  ChangesAnswer,
  CuratedAnswer,
  CurationsAnswer,
  Erasure,
  ExportedLine,
  IngestBody,
  IngestIds,
  FilterValues,
  Instances,
  MetricValues,
  LabelAnswer,
  NewTopicAnswer,
  AttributesAnswer,
  DifferencesAnswer,
  BriefAnswer,
  EffectsAnswer,
  OverviewAnswer,
  OverviewMetric,
  SaidAnswer,
  SessionOutcome,
  TranscriptAnswer,
  WhyAnswer,
  WhyGroupBy,
} from './contract.ts';
import type { Groupings, Instant, TrendGranularity, WholeEntityOf } from './groupings.ts';
import type { CallOptions, DateRange, Segment, ReadOptions, Waited } from './queries.ts';

export type {
  Erasure,
  Erasures,
  FeedbackBody,
  IngestBody,
  Instances,
  Key,
  NewInstance,
  Label,
  NewTopic,
  WhyGroupBy,
} from './contract.ts';

/** A message to send. Its event time is UTC and ends in `Z`; the default role is `user`. */
export type Message = IngestBody['messages'][number];

/** Metadata of the instance, the session and end users (by `userId`). `externalId` is your own name for the session. */
export type IngestMetadata = NonNullable<IngestBody['metadata']>;

export interface Ingested extends IngestIds {
  /** Position for `waitFor`; null if the service sent none. */
  readonly position: number | null;
  /** Parts of the request that have no effect; null if there are none. */
  readonly warnings: string | null;
}

/** Where feedback went. */
export interface Given extends IngestIds {
  /** Position for `waitFor`; null if the service sent none. */
  readonly position: number | null;
}

/** Where each piece of feedback went, in its order. */
export interface GivenList {
  readonly feedback: readonly IngestIds[];
  /** Position for `waitFor`; null if the service sent none. */
  readonly position: number | null;
}

export interface AttributesOptions extends ReadOptions {
  readonly dateRange?: DateRange | undefined;
  /** As in a query. */
  readonly timeZone?: string | undefined;
}

export interface BriefOptions extends AttributesOptions {
  readonly segment?: Segment | undefined;
}

export interface PeriodOptions extends BriefOptions {
  /** Default `DAY`. */
  readonly timeGranularity?: TrendGranularity | undefined;
  /** What `sat`, `dsat` and `netSat` count: default `inferred`. Gaps and repeated requests have none of them. */
  readonly signals?: FilterValues['signals'] | undefined;
}

type OverviewFields = Pick<MetricValues, OverviewMetric>;

export interface Overview extends OverviewAnswer, Waited {
  readonly fields: OverviewFields;
  readonly trend: readonly { readonly date: string; readonly fields: OverviewFields }[];
}

export interface DifferencesOptions extends BriefOptions {
  /** The attribute, such as the version of the application. */
  readonly segmentKey: string;
  readonly value: string;
  readonly against: string;
  readonly limit?: number | undefined;
}

export interface Differences extends DifferencesAnswer, Waited {}
export type Difference = DifferencesAnswer['differences'][number];

export interface EffectsOptions extends Omit<BriefOptions, 'dateRange'> {
  /** Only this topic, gap, repeated request or signal. Left out: all that are fixed. */
  readonly id?: string | undefined;
  /** 1 to 100; default 20. */
  readonly limit?: number | undefined;
}

export interface Brief extends BriefAnswer, Waited {}

export interface Effects extends EffectsAnswer, Waited {}
export type Effect = EffectsAnswer['effects'][number];

export interface Attributes extends AttributesAnswer, Waited {}

export interface ChangesOptions extends BriefOptions {
  readonly dateRange: { readonly start: Instant; readonly end: Instant };
  /** Default `previous`. */
  readonly compare?: 'previous' | 'year' | undefined;
  readonly limit?: number | undefined;
}

export interface Changes extends ChangesAnswer, Waited {}
export type Change = ChangesAnswer['changes'][number];

/** The answer of `why` without its entity. */
export interface Reasons extends WhyAnswer, Waited {}

export type Why<G extends WhyGroupBy> = Reasons & {
  readonly [N in Groupings[G]['name']]: WholeEntityOf<G>;
};

interface Cursor {
  /** Page size: 1 to 1,000. */
  readonly limit?: number | undefined;
  /** `pagination.next` of the previous page. */
  readonly cursor?: string | null | undefined;
}

export interface CursorOptions extends ReadOptions, Cursor {}

export interface SaidOptions extends AttributesOptions, Cursor {
  /** Page size: 1 to 100. */
  readonly limit?: number | undefined;
}

/** Sessions whose messages contain a text. The search is complete when `pagination.next` is null. */
export interface Said extends SaidAnswer, Waited {}

export interface Transcript extends TranscriptAnswer, Waited {}
export type TranscriptMessage = TranscriptAnswer['messages'][number];

/** Exactly one id. */
type CurationTarget =
  | { readonly topicId: string; readonly topicClusterId?: undefined; readonly gapId?: undefined }
  | { readonly topicClusterId: string; readonly topicId?: undefined; readonly gapId?: undefined }
  | { readonly gapId: string; readonly topicId?: undefined; readonly topicClusterId?: undefined };
type Destination =
  | { readonly topicClusterId: string; readonly newClusterName?: undefined }
  | { readonly newClusterName: string; readonly topicClusterId?: undefined };

/** A topic with what a message says, or something else with the position of the message. */
type Correction =
  | ({ readonly topicId: string; readonly text: string } & Without<
      'signalId' | 'gapId' | 'repeatedRequestId' | 'position'
    >)
  | ({ readonly signalId: string; readonly position: number } & Without<
      'topicId' | 'gapId' | 'repeatedRequestId' | 'text'
    >)
  | ({ readonly gapId: string; readonly position: number } & Without<
      'topicId' | 'signalId' | 'repeatedRequestId' | 'text'
    >)
  | ({ readonly repeatedRequestId: string; readonly position: number } & Without<
      'topicId' | 'signalId' | 'gapId' | 'text'
    >);
/** How a session ended. */
type EndedSession = { readonly sessionId: string; readonly outcome: SessionOutcome } & Without<
  'topicId' | 'signalId' | 'gapId' | 'repeatedRequestId' | 'text' | 'position'
>;
/** What a life is of. */
type Tracked =
  | ({ readonly topicId: string } & Without<'signalId' | 'gapId' | 'repeatedRequestId'>)
  | ({ readonly signalId: string } & Without<'topicId' | 'gapId' | 'repeatedRequestId'>)
  | ({ readonly gapId: string } & Without<'topicId' | 'signalId' | 'repeatedRequestId'>)
  | ({ readonly repeatedRequestId: string } & Without<'topicId' | 'signalId' | 'gapId'>);
/** Where something stands. Only what is fixed has a time, or a release in its place. */
type StatedLife = {
  readonly owner?: string | undefined;
  readonly note?: string | undefined;
  readonly link?: string | undefined;
} & (
  | ({ readonly state: 'OPEN' | 'PLANNED' | 'WONT_DO' } & Without<'fixedAt' | 'release'>)
  | ({ readonly state: 'FIXED'; readonly fixedAt?: string | undefined } & Without<'release'>)
  | ({
      readonly state: 'FIXED';
      readonly release: { readonly name: string; readonly value: string };
    } & Without<'fixedAt'>)
);
type Without<Name extends string> = { readonly [Key in Name]?: undefined };

export type Curation =
  | ({ readonly action: 'RENAME'; readonly name: string } & CurationTarget)
  | ({ readonly action: 'PIN' } & CurationTarget)
  | { readonly action: 'MERGE'; readonly topicId: string; readonly intoTopicId: string }
  | ({ readonly action: 'MOVE'; readonly topicId: string } & Destination)
  | { readonly action: 'HIDE'; readonly topicId: string }
  | ({ readonly action: 'ASSIGN' } & (Correction | EndedSession))
  | ({ readonly action: 'EXCLUDE' } & Correction)
  | { readonly action: 'ROUTE'; readonly unclaimed: 'FOUND' | 'OTHER' }
  | ({ readonly action: 'TRACK' } & Tracked & StatedLife)
  | { readonly action: 'UNDO'; readonly curationId: string };

export interface CurateOptions extends ReadOptions {
  /** Default: a new key for each call, the same in all its tries. */
  readonly idempotencyKey?: string | undefined;
}

/** `topicClusterId` is that of the cluster that `newClusterName` creates. */
export interface CurationAnswer extends CuratedAnswer {
  readonly position: number | null;
}

export interface CreatedTopic extends NewTopicAnswer {
  readonly position: number | null;
}

export interface SavedLabel extends LabelAnswer {
  readonly position: number | null;
}

export interface Curations extends CurationsAnswer, Waited {}
export type ListedCuration = CurationsAnswer['elements'][number];

interface ErasureTargets {
  readonly sessionId: string;
  /** The `userId` of an end user. */
  readonly externalId: string;
  /** Positions, as in transcripts. */
  readonly messages: readonly number[];
  readonly everything: true;
}

/** Exactly one member. */
type ErasureTarget = {
  [Name in keyof ErasureTargets]: Pick<ErasureTargets, Name> & {
    readonly [Other in Exclude<keyof ErasureTargets, Name>]?: undefined;
  };
}[keyof ErasureTargets];

/** An erasure request. The reason is stored and should name nobody. */
export type NewErasure = ErasureTarget & { readonly reason?: string | undefined };

export interface AcceptedErasure extends Erasure {
  readonly position: number | null;
}

export interface ErasuresOptions extends CallOptions, Cursor {}

/** One line of an end user's export; `kind` is its type. */
export type SubjectLine = Exclude<ExportedLine, { readonly kind: 'END' }>;

export type Instance = Instances['elements'][number];

export interface InstancesOptions extends CallOptions {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Only the project's default instance, if it exists. */
  readonly default?: true | undefined;
}
