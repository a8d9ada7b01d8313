/**
 * Bodies of requests and answers, as types. test/client/contract.test.ts holds them to the schemas that check them on
 * the side of the service.
 */
import type {
  GroupBy,
  Groupings,
  Instant,
  MetricValues,
  Named,
  SessionOutcome,
  TrendGranularity,
  WholeEntityOf,
} from './groupings.ts';
import type { CallOptions, DateRange, ReadOptions, Waited } from './queries.ts';

type Metadata = Readonly<Record<string, unknown>>;

/** A message as it is sent. */
export interface Message {
  readonly content: string;
  /** Default `user`. */
  readonly role?: string | undefined;
  readonly userId?: string | undefined;
  /** Event time: UTC, ends in `Z`. */
  readonly createdAt?: string | null | undefined;
  readonly metadata?: (Metadata & { readonly createdAt?: string | null | undefined }) | undefined;
}

/** What is said of instance, session and end users. */
export interface IngestMetadata {
  readonly instance?: (Metadata & { readonly name?: unknown }) | undefined;
  /** `externalId` is your own name for the session. */
  readonly session?: (Metadata & { readonly externalId?: string | null | undefined }) | undefined;
  /** By `userId`. */
  readonly users?: Metadata | undefined;
}

/** The body of an ingest request. */
export interface IngestBody {
  readonly messages: readonly Message[];
  readonly projectId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly metadata?: IngestMetadata | undefined;
}

export interface Ingested {
  readonly instanceId: string;
  readonly sessionId: string;
  /** Takes `waitFor`; null where the service did not say. */
  readonly position: number | null;
  /** What of the request has no effect; null: nothing. */
  readonly warnings: string | null;
}

/** Occurrences of something. */
interface Occurrences {
  readonly sessions: number;
  readonly messages: number;
}

type Fields = Partial<MetricValues>;
type Trend = readonly { readonly date: string; readonly fields: Fields }[];
type OverviewMetric =
  | 'sessions'
  | 'users'
  | 'messages'
  | 'avgMessagesPerSession'
  | 'sat'
  | 'dsat'
  | 'netSat'
  | 'repeatedRequests';
type OverviewFields = Pick<MetricValues, OverviewMetric>;

export interface PeriodOptions extends ReadOptions {
  readonly dateRange?: DateRange | undefined;
  /** Default `DAY`. */
  readonly timeGranularity?: TrendGranularity | undefined;
  /** As of a query. */
  readonly timeZone?: string | undefined;
}

export interface Overview extends Waited {
  readonly fields: OverviewFields;
  readonly trend: readonly { readonly date: string; readonly fields: OverviewFields }[];
  readonly languages: readonly {
    readonly language: string | null;
    readonly sessions: number;
    readonly withTopic: number;
  }[];
  readonly outcomes: readonly { readonly outcome: SessionOutcome | null; readonly sessions: number }[];
  readonly lastProcessedAt: string | null;
}

export interface ChangesOptions extends ReadOptions {
  readonly dateRange: { readonly start: Instant; readonly end: Instant };
  /** Default `previous`. */
  readonly compare?: 'previous' | 'year' | undefined;
  /** As of a query. */
  readonly timeZone?: string | undefined;
  readonly limit?: number | undefined;
}

interface Period {
  readonly start: string;
  readonly end: string;
  readonly sessions: number;
}

type ChangeGroup = 'TOPIC' | 'GAP' | 'CSAT_DSAT';
/** One of `topic`, `gap` and `csatDsatSignal`. */
type Changed = {
  readonly [G in ChangeGroup as Groupings[G]['name']]?:
    (Groupings[G]['always'] & Partial<Groupings[G]['onRequest']>) | undefined;
};

export interface Change extends Changed {
  readonly change: 'new' | 'rising' | 'falling' | 'gone';
  readonly sessions: number;
  readonly sessionsBefore: number;
  readonly share: number;
  readonly shareBefore: number;
  readonly chance: number;
}

export interface Changes extends Waited {
  readonly period: Period;
  readonly before: Period;
  readonly changes: readonly Change[];
  readonly lastProcessedAt: string | null;
}

/** What can be asked why. */
export type WhyGroupBy = Exclude<GroupBy, 'SESSION' | 'CSAT_DSAT'>;

interface Wording {
  readonly sessionId: string;
  readonly position: number;
  readonly createdAt: string;
  readonly text: string;
}

/** What is behind the numbers of one entity, besides the entity. */
export interface Reasons extends Waited {
  /** What it merged into; null: it lives. */
  readonly heir: Named | null;
  readonly fields: Fields;
  readonly trend: Trend;
  readonly signals: readonly (Named &
    Occurrences & {
      readonly signalType: 'SAT' | 'DSAT';
      readonly share: number;
      readonly instanceShare: number;
      readonly lift: number | null;
    })[];
  readonly topics: readonly (Named & Occurrences)[];
  readonly gaps: readonly (Named & Occurrences & { readonly gapType: 'TOOL' | 'KNOWLEDGE' })[];
  readonly repeatedRequests: readonly (Named & Occurrences)[];
  readonly languages: readonly { readonly language: string | null; readonly sessions: number }[];
  readonly endUsers: readonly (Occurrences & { readonly id: string; readonly externalId: string })[];
  readonly wordings: { readonly typical: readonly Wording[]; readonly newest: readonly Wording[] };
  readonly lastProcessedAt: string;
}

export type Why<G extends WhyGroupBy> = Reasons & {
  readonly [N in Groupings[G]['name']]: WholeEntityOf<G>;
};

export interface CursorOptions extends ReadOptions {
  /** On a page: 1 to 1,000. */
  readonly limit?: number | undefined;
  /** `pagination.next` of the page before. */
  readonly cursor?: string | null | undefined;
}

interface Cursor {
  readonly limit: number;
  readonly next: string | null;
}

export interface TranscriptMessage {
  readonly position: number;
  readonly role: string | null;
  readonly content: string | null;
  readonly gone: 'EXPIRED' | 'DELETED' | 'UNREADABLE' | null;
  readonly externalId: string | null;
  readonly createdAt: string;
  readonly metadata: Metadata | null;
  readonly topic: Named | null;
  readonly signals: readonly (Named & { readonly signalType: 'SAT' | 'DSAT' })[];
  readonly gap: (Named & { readonly gapType: 'TOOL' | 'KNOWLEDGE' }) | null;
  readonly repeatedRequest: Named | null;
}

export interface Transcript extends Waited {
  readonly session: {
    readonly id: string;
    readonly externalId: string | null;
    readonly endUser: { readonly id: string; readonly externalId: string } | null;
    readonly title: string | null;
    readonly summary: string | null;
    readonly language: string | null;
    readonly outcome: SessionOutcome | null;
    readonly createdAt: string;
    readonly lastActiveAt: string;
    readonly messages: number;
    readonly sat: number;
    readonly dsat: number;
    readonly repeatedRequests: number;
    readonly metadata: Metadata;
  };
  readonly messages: readonly TranscriptMessage[];
  readonly pagination: Cursor;
  readonly lastProcessedAt: string;
}

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

export interface CurationAnswer {
  readonly curationId: string;
  /** Of the cluster that `newClusterName` makes. */
  readonly topicClusterId?: string | undefined;
  readonly position: number | null;
}

export interface NewTopic {
  readonly name: string;
  readonly description?: string | undefined;
  readonly examples: readonly string[];
  readonly fromBeginning?: boolean | undefined;
}

export interface CreatedTopic {
  readonly topicId: string;
  readonly curationId: string;
  readonly position: number | null;
}

interface MaybeNamed {
  readonly id: string;
  readonly name: string | null;
}

export interface ListedCuration {
  readonly curationId: string;
  readonly createdAt: string;
  readonly position: number;
  readonly keyId: string;
  readonly action: 'RENAME' | 'PIN' | 'MERGE' | 'MOVE' | 'HIDE' | 'CREATE' | 'UNDO';
  readonly target: MaybeNamed & { readonly type: 'TOPIC' | 'TOPIC_CLUSTER' | 'GAP' | 'CURATION' };
  readonly details: {
    readonly name?: string | undefined;
    readonly intoTopic?: MaybeNamed | undefined;
    readonly topicCluster?: MaybeNamed | undefined;
    readonly newClusterName?: string | undefined;
    readonly description?: string | undefined;
    readonly examples?: readonly string[] | undefined;
    readonly fromBeginning?: boolean | undefined;
  };
  readonly status: 'APPLIED' | 'REFUSED' | 'UNDONE';
  readonly reason: {
    readonly code: 'UNKNOWN' | 'CIRCULAR' | 'NOT_UNDOABLE' | 'TOO_MANY';
    readonly message: string;
  } | null;
  readonly undoneBy: string | null;
}

export interface Curations extends Waited {
  readonly elements: readonly ListedCuration[];
  readonly pagination: Cursor;
  readonly lastProcessedAt: string | null;
}

export interface Instance {
  readonly id: string;
  readonly name: string | null;
  readonly timeZone: string;
  readonly createdAt: string;
}

export interface Instances {
  readonly elements: readonly Instance[];
  readonly pagination: { readonly total: number; readonly limit: number; readonly offset: number };
}

export interface InstancesOptions extends CallOptions {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Only the default instance of the project, where there is one. */
  readonly default?: true | undefined;
}

export interface NewInstance {
  readonly name?: string | undefined;
  /** The project's default instance: made when there is none. */
  readonly default?: boolean | undefined;
}

export interface Key {
  readonly keyId: string;
  readonly projectId: string;
  readonly scopes: readonly ('ingest' | 'query' | 'curate' | 'erase')[];
}
