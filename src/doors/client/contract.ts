/** Types that follow from what the service declares, written by `npm run generate`. */
export type Metadata = Readonly<Record<string, unknown>>;
/** Codes of the service (docs/errors.md). */
export type ServiceErrorCode =
  | 'VALIDATION_ERROR'
  | 'BAD_REQUEST'
  | 'UNAUTHORIZED'
  | 'MISSING_API_KEY'
  | 'INVALID_API_KEY'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'PAYLOAD_TOO_LARGE'
  | 'RATE_LIMIT_EXCEEDED'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE';
/** A topic, gap or other thing with a name. */
export interface Named {
  readonly id: string;
  readonly name: string;
}
/** How a session ended. */
export type SessionOutcome = 'solved' | 'thanked' | 'handed_over' | 'gave_up' | 'not_possible' | 'open';
type LifeState = 'OPEN' | 'PLANNED' | 'FIXED' | 'WONT_DO';
interface Life {
  readonly state: LifeState;
  readonly fixedAt: string | null;
  readonly release: { readonly name: string; readonly value: string } | null;
  readonly owner: string | null;
  readonly note: string | null;
  readonly link: string | null;
  readonly at: string;
  readonly curationId: string;
}
type GapType = 'TOOL' | 'KNOWLEDGE';
type SignalType = 'SAT' | 'DSAT';
interface EffectSide {
  readonly start: string;
  readonly end: string;
  readonly sessions: number;
  readonly of: number;
  readonly share: number;
}
interface Wording {
  readonly sessionId: string;
  readonly position: number;
  readonly createdAt: string;
  readonly text: string;
}
interface VerdictCounts {
  readonly sessions: number;
  readonly yes: number;
  readonly no: number;
  readonly unsure: number;
  readonly share: { readonly share: number; readonly low: number; readonly high: number } | null;
}
interface NextPage {
  readonly limit: number;
  readonly next: string | null;
}
export type Granularity = 'ALL' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';
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
  readonly waitSecondsP95: number | null;
  readonly handedOver: number;
  readonly droppedOff: number;
  readonly resolvedAtLeast: number;
  readonly resolvedAtMost: number;
  readonly cameBack: number;
  readonly dissatisfied: number;
  readonly excessDissatisfied: number;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}
export type BoundedMetric = 'sessions' | 'messages' | 'sat' | 'dsat' | 'repeatedRequests';
export type OverviewMetric =
  | 'sessions'
  | 'users'
  | 'messages'
  | 'avgMessagesPerSession'
  | 'sat'
  | 'dsat'
  | 'netSat'
  | 'repeatedRequests';
type EntityMetric =
  | 'sessions'
  | 'users'
  | 'messages'
  | 'waitSeconds'
  | 'waitSecondsP95'
  | 'handedOver'
  | 'droppedOff'
  | 'resolvedAtLeast'
  | 'resolvedAtMost'
  | 'cameBack'
  | 'dissatisfied'
  | 'excessDissatisfied'
  | 'inputTokens'
  | 'outputTokens'
  | 'costUsd';
/** The values of filters. */
export interface FilterValues {
  readonly topicIds: readonly string[];
  readonly clusterIds: readonly string[];
  readonly signalIds: readonly string[];
  readonly repeatedRequestIds: readonly string[];
  readonly gapIds: readonly string[];
  readonly labelIds: readonly string[];
  readonly endUserIds: readonly string[];
  readonly gapType: GapType;
  readonly signalSource: 'INFERRED' | 'GIVEN' | 'OBSERVED';
  readonly lifeStates: readonly LifeState[];
  readonly signals: 'inferred' | 'given' | 'all';
  readonly language: string;
  readonly outcome: readonly SessionOutcome[];
  readonly externalId: string;
  readonly titleContains: string;
  readonly textContains: string;
  readonly segmentKey: string;
}
/** By grouping: the member of `dimensions`, what it always holds, and what only `dimensionFields` brings. */
export interface Groupings {
  TOPIC: {
    name: 'topic';
    metric: EntityMetric | 'avgMessagesPerSession' | 'sat' | 'dsat' | 'netSat';
    sort: never;
    filter: 'signals' | 'lifeStates';
    always: { readonly id: string; readonly name: string; readonly clusterId: string | null };
    onRequest: {
      readonly description: string | null;
      readonly isOwn: boolean;
      readonly isNamed: boolean;
      readonly isHidden: boolean;
      readonly checkedSessions: number;
      readonly precisionLow: number | null;
      readonly precisionHigh: number | null;
      readonly life: Life | null;
    };
  };
  TOPIC_CLUSTER: {
    name: 'cluster';
    metric: EntityMetric | 'avgMessagesPerSession' | 'sat' | 'dsat' | 'netSat';
    sort: never;
    filter: 'signals';
    always: { readonly id: string; readonly name: string };
    onRequest: { readonly isNamed: boolean };
  };
  REPEATED_REQUEST: {
    name: 'repeatedRequest';
    metric: EntityMetric;
    sort: never;
    filter: 'lifeStates';
    always: { readonly id: string; readonly name: string; readonly description: string };
    onRequest: {
      readonly checkedSessions: number;
      readonly precisionLow: number | null;
      readonly precisionHigh: number | null;
      readonly life: Life | null;
    };
  };
  CSAT_DSAT: {
    name: 'csatDsatSignal';
    metric: EntityMetric;
    sort: never;
    filter: 'signalSource' | 'lifeStates';
    always: {
      readonly id: string;
      readonly name: string;
      readonly signalType: SignalType;
      readonly description: string;
    };
    onRequest: {
      readonly source: 'INFERRED' | 'GIVEN' | 'OBSERVED';
      readonly checkedSessions: number;
      readonly precisionLow: number | null;
      readonly precisionHigh: number | null;
      readonly life: Life | null;
    };
  };
  GAP: {
    name: 'gap';
    metric: EntityMetric;
    sort: never;
    filter: 'gapType' | 'lifeStates';
    always: {
      readonly id: string;
      readonly name: string;
      readonly description: string;
      readonly gapType: GapType;
      readonly topics?: readonly Named[] | undefined;
    };
    onRequest: {
      readonly isNamed: boolean;
      readonly checkedSessions: number;
      readonly precisionLow: number | null;
      readonly precisionHigh: number | null;
      readonly life: Life | null;
    };
  };
  LABEL: {
    name: 'label';
    metric: EntityMetric | 'avgMessagesPerSession' | 'sat' | 'dsat' | 'netSat';
    sort: never;
    filter: 'signals';
    always: { readonly id: string; readonly name: string; readonly description: string };
    onRequest: {
      readonly checkedSessions: number;
      readonly precisionLow: number | null;
      readonly precisionHigh: number | null;
    };
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
      | 'waitSeconds'
      | 'waitSecondsP95'
      | 'inputTokens'
      | 'outputTokens'
      | 'costUsd';
    sort: 'createdAt' | 'lastActiveAt';
    filter:
      | 'topicIds'
      | 'clusterIds'
      | 'signalIds'
      | 'repeatedRequestIds'
      | 'gapIds'
      | 'labelIds'
      | 'endUserIds'
      | 'signals'
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
    metric:
      | 'sessions'
      | 'messages'
      | 'sat'
      | 'dsat'
      | 'netSat'
      | 'repeatedRequests'
      | 'waitSeconds'
      | 'waitSecondsP95'
      | 'handedOver'
      | 'droppedOff'
      | 'resolvedAtLeast'
      | 'resolvedAtMost'
      | 'cameBack'
      | 'dissatisfied'
      | 'excessDissatisfied'
      | 'inputTokens'
      | 'outputTokens'
      | 'costUsd';
    sort: 'createdAt' | 'lastActiveAt';
    filter: 'topicIds' | 'clusterIds' | 'signals' | 'externalId';
    always: { readonly id: string };
    onRequest: {
      readonly externalId: string;
      readonly topTopics: readonly Named[];
      readonly createdAt: string;
      readonly lastActiveAt: string | null;
    };
  };
  SEGMENT: {
    name: 'segment';
    metric: EntityMetric | 'avgMessagesPerSession' | 'sat' | 'dsat' | 'netSat';
    sort: never;
    filter: 'signals' | 'segmentKey';
    always: { readonly id: string; readonly attribute: string; readonly value: string };
    onRequest: Readonly<Record<never, never>>;
  };
}
type AnyEntity<G extends keyof Groupings> = Groupings[G]['always'] & Partial<Groupings[G]['onRequest']>;
type Fields = Partial<MetricValues>;
export interface Pagination {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}
/** The body of an ingest request. */
export interface IngestBody {
  readonly messages: readonly {
    readonly content: string;
    readonly role?: string | undefined;
    readonly userId?: string | undefined;
    readonly createdAt?: string | null | undefined;
    readonly metadata?: (Metadata & { readonly createdAt?: string | null | undefined }) | undefined;
  }[];
  readonly projectId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly metadata?:
    | {
        readonly instance?: (Metadata & { readonly name?: unknown | undefined }) | undefined;
        readonly session?: (Metadata & { readonly externalId?: string | null | undefined }) | undefined;
        readonly users?: Metadata | undefined;
      }
    | undefined;
}
export interface FeedbackBody {
  readonly sessionId: string;
  readonly instanceId?: string | undefined;
  readonly at?: string | undefined;
  readonly position?: number | undefined;
  readonly value: 1 | -1 | 0;
  readonly rating?: number | undefined;
  readonly comment?: string | undefined;
  readonly userId?: string | undefined;
}
export interface IngestIds {
  readonly instanceId: string;
  readonly sessionId: string;
}
export interface DifferencesAnswer {
  readonly segmentKey: string;
  readonly value: { readonly value: string; readonly sessions: number };
  readonly against: { readonly value: string; readonly sessions: number };
  readonly range: { readonly start: string; readonly end: string } | null;
  readonly differences: readonly {
    readonly topic?: AnyEntity<'TOPIC'> | undefined;
    readonly gap?: AnyEntity<'GAP'> | undefined;
    readonly csatDsatSignal?: AnyEntity<'CSAT_DSAT'> | undefined;
    readonly difference: 'only' | 'more' | 'less' | 'never';
    readonly sessions: number;
    readonly sessionsAgainst: number;
    readonly share: number;
    readonly shareAgainst: number;
    readonly chance: number;
  }[];
  readonly lastProcessedAt: string | null;
}
export interface EffectsAnswer {
  readonly effects: readonly {
    readonly topic?: AnyEntity<'TOPIC'> | undefined;
    readonly gap?: AnyEntity<'GAP'> | undefined;
    readonly repeatedRequest?: AnyEntity<'REPEATED_REQUEST'> | undefined;
    readonly csatDsatSignal?: AnyEntity<'CSAT_DSAT'> | undefined;
    readonly life: Life | null;
    readonly verdict:
      | 'CAME_BACK'
      | 'WORSE'
      | 'HELPED'
      | 'AS_USUAL'
      | 'NO_DIFFERENCE'
      | 'TOO_EARLY'
      | 'NOTHING_BEFORE';
    readonly before: EffectSide | null;
    readonly after: EffectSide | null;
    readonly again: EffectSide | null;
    readonly latest: EffectSide | null;
    readonly soFar: EffectSide | null;
    readonly difference: { readonly share: number; readonly low: number; readonly high: number } | null;
    readonly chance: number | null;
  }[];
  readonly total: number;
  readonly lastProcessedAt: string | null;
}
export interface BriefAnswer {
  readonly gap: {
    readonly id: string;
    readonly name: string;
    readonly gapType: GapType;
    readonly description: string;
  };
  readonly fields: Fields;
  readonly groups: readonly {
    readonly topic: Named | null;
    readonly sessions: number;
    readonly questions: readonly Wording[];
  }[];
  readonly others: number;
  readonly read: number;
  readonly arguments: readonly {
    readonly kind:
      | 'EMAIL'
      | 'PHONE'
      | 'CARD'
      | 'IBAN'
      | 'ID'
      | 'IP'
      | 'LINK'
      | 'HANDLE'
      | 'NAME'
      | 'ADDRESS'
      | 'BIRTHDATE'
      | 'SECRET';
    readonly requests: number;
  }[];
  readonly answers: readonly Wording[];
  readonly lastProcessedAt: string;
}
export interface AttributesAnswer {
  readonly attributes: readonly {
    readonly name: string;
    readonly values: readonly {
      readonly value: string;
      readonly sessions: number;
      readonly firstAt: string | null;
    }[];
  }[];
  readonly lastProcessedAt: string | null;
}
export interface OverviewAnswer {
  readonly languages: readonly {
    readonly language: string | null;
    readonly sessions: number;
    readonly withTopic: number;
  }[];
  readonly outcomes: readonly {
    readonly outcome: SessionOutcome | null;
    readonly sessions: number;
    readonly costUsd: number | null;
  }[];
  readonly agreement: {
    readonly both: number;
    readonly agreed: number;
    readonly kappa: number | null;
  } | null;
  readonly lastProcessedAt: string | null;
}
export interface ChangesAnswer {
  readonly period: { readonly start: string; readonly end: string; readonly sessions: number };
  readonly before: { readonly start: string; readonly end: string; readonly sessions: number };
  readonly changes: readonly {
    readonly topic?: AnyEntity<'TOPIC'> | undefined;
    readonly gap?: AnyEntity<'GAP'> | undefined;
    readonly csatDsatSignal?: AnyEntity<'CSAT_DSAT'> | undefined;
    readonly change: 'new' | 'rising' | 'falling' | 'gone';
    readonly sessions: number;
    readonly sessionsBefore: number;
    readonly share: number;
    readonly shareBefore: number;
    readonly chance: number;
  }[];
  readonly lastProcessedAt: string | null;
}
export type WhyGroupBy = 'TOPIC' | 'TOPIC_CLUSTER' | 'GAP' | 'REPEATED_REQUEST' | 'LABEL' | 'END_USER';
export interface WhyAnswer {
  readonly heir: Named | null;
  readonly fields: Fields;
  readonly trend: readonly { readonly date: string; readonly fields: Fields }[];
  readonly signals: readonly {
    readonly id: string;
    readonly name: string;
    readonly signalType: SignalType;
    readonly sessions: number;
    readonly messages: number;
    readonly share: number;
    readonly instanceShare: number;
    readonly lift: number | null;
  }[];
  readonly topics: readonly {
    readonly id: string;
    readonly name: string;
    readonly sessions: number;
    readonly messages: number;
  }[];
  readonly gaps: readonly {
    readonly id: string;
    readonly name: string;
    readonly gapType: GapType;
    readonly sessions: number;
    readonly messages: number;
  }[];
  readonly repeatedRequests: readonly {
    readonly id: string;
    readonly name: string;
    readonly sessions: number;
    readonly messages: number;
  }[];
  readonly languages: readonly { readonly language: string | null; readonly sessions: number }[];
  readonly endUsers: readonly {
    readonly id: string;
    readonly externalId: string;
    readonly sessions: number;
    readonly messages: number;
  }[];
  readonly checked: {
    readonly foundShare: number | null;
    readonly share: { readonly share: number; readonly low: number; readonly high: number } | null;
    readonly found: VerdictCounts;
    readonly notFound: VerdictCounts;
    readonly recall: number | null;
  } | null;
  readonly life: Life | null;
  readonly wordings: { readonly typical: readonly Wording[]; readonly newest: readonly Wording[] };
  readonly lastProcessedAt: string;
}
export interface SaidAnswer {
  readonly elements: readonly {
    readonly dimensions: {
      readonly topic?: AnyEntity<'TOPIC'> | undefined;
      readonly cluster?: AnyEntity<'TOPIC_CLUSTER'> | undefined;
      readonly session?: AnyEntity<'SESSION'> | undefined;
      readonly csatDsatSignal?: AnyEntity<'CSAT_DSAT'> | undefined;
      readonly repeatedRequest?: AnyEntity<'REPEATED_REQUEST'> | undefined;
      readonly gap?: AnyEntity<'GAP'> | undefined;
      readonly label?: AnyEntity<'LABEL'> | undefined;
      readonly endUser?: AnyEntity<'END_USER'> | undefined;
      readonly segment?: AnyEntity<'SEGMENT'> | undefined;
      readonly date?: string | undefined;
    };
    readonly fields: Fields;
    readonly said: {
      readonly position: number;
      readonly role: string;
      readonly createdAt: string;
      readonly excerpt: string;
    };
  }[];
  readonly searched: { readonly messages: number; readonly gone: number; readonly left: number };
  readonly pagination: NextPage;
  readonly lastProcessedAt: string | null;
}
export interface TranscriptAnswer {
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
  readonly messages: readonly {
    readonly position: number;
    readonly role: string | null;
    readonly content: string | null;
    readonly gone: 'EXPIRED' | 'DELETED' | 'ERASED' | 'UNREADABLE' | null;
    readonly externalId: string | null;
    readonly createdAt: string;
    readonly metadata: Metadata | null;
    readonly topic: Named | null;
    readonly labels: readonly Named[];
    readonly signals: readonly {
      readonly id: string;
      readonly name: string;
      readonly signalType: SignalType;
    }[];
    readonly feedback: { readonly up: number; readonly down: number };
    readonly gap: { readonly id: string; readonly name: string; readonly gapType: GapType } | null;
    readonly repeatedRequest: Named | null;
  }[];
  readonly pagination: NextPage;
  readonly lastProcessedAt: string;
}
export interface NewTopic {
  readonly name: string;
  readonly description?: string | undefined;
  readonly examples: readonly string[];
  readonly fromBeginning?: boolean | undefined;
  readonly fromTopicId?: string | undefined;
}
export interface NewTopicAnswer {
  readonly topicId: string;
  readonly curationId: string;
}
export interface Label {
  readonly labelId?: string | undefined;
  readonly name: string;
  readonly description?: string | undefined;
  readonly examples: readonly string[];
  readonly counterexamples?: readonly string[] | undefined;
}
export interface LabelAnswer {
  readonly labelId: string;
  readonly curationId: string;
}
export interface CuratedAnswer {
  readonly curationId: string;
  readonly topicClusterId?: string | undefined;
}
export interface CurationsAnswer {
  readonly elements: readonly {
    readonly curationId: string;
    readonly createdAt: string;
    readonly position: number;
    readonly keyId: string;
    readonly action:
      | 'RENAME'
      | 'PIN'
      | 'MERGE'
      | 'MOVE'
      | 'HIDE'
      | 'CREATE'
      | 'LABEL'
      | 'ASSIGN'
      | 'EXCLUDE'
      | 'ROUTE'
      | 'TRACK'
      | 'UNDO';
    readonly target: {
      readonly type:
        | 'TOPIC'
        | 'TOPIC_CLUSTER'
        | 'SIGNAL'
        | 'GAP'
        | 'REPEATED_REQUEST'
        | 'LABEL'
        | 'SESSION'
        | 'CURATION';
      readonly id: string;
      readonly name: string | null;
    };
    readonly details: {
      readonly name?: string | undefined;
      readonly intoTopic?: { readonly id: string; readonly name: string | null } | undefined;
      readonly topicCluster?: { readonly id: string; readonly name: string | null } | undefined;
      readonly newClusterName?: string | undefined;
      readonly description?: string | undefined;
      readonly examples?: readonly string[] | undefined;
      readonly counterexamples?: readonly string[] | undefined;
      readonly fromBeginning?: boolean | undefined;
      readonly position?: number | undefined;
      readonly outcome?: SessionOutcome | undefined;
      readonly unclaimed?: 'FOUND' | 'OTHER' | undefined;
      readonly state?: LifeState | undefined;
      readonly fixedAt?: string | undefined;
      readonly release?: { readonly name: string; readonly value: string } | undefined;
      readonly owner?: string | undefined;
      readonly note?: string | undefined;
      readonly link?: string | undefined;
      readonly fromTopic?: { readonly id: string; readonly name: string | null } | undefined;
    };
    readonly status: 'APPLIED' | 'REFUSED' | 'UNDONE';
    readonly reason: {
      readonly code: 'UNKNOWN' | 'CIRCULAR' | 'NOT_UNDOABLE' | 'NO_REQUEST' | 'IS_OTHER' | 'TOO_MANY';
      readonly message: string;
    } | null;
    readonly undoneBy: string | null;
  }[];
  readonly pagination: NextPage;
  readonly lastProcessedAt: string | null;
}
export interface Erasure {
  readonly id: string;
  readonly instanceId: string;
  readonly kind: 'SESSION' | 'END_USER' | 'MESSAGES' | 'INSTANCE';
  readonly state: 'ACCEPTED' | 'ERASING' | 'RECOUNTING' | 'REBUILDING' | 'DONE' | 'FAILED';
  readonly reason: string | null;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly doneAt: string | null;
  readonly receipt: {
    readonly messages: number;
    readonly sessions: number;
    readonly entries: number;
    readonly bytes: number;
    readonly deadLetters: number;
    readonly unreadableDeadLetters: number;
    readonly madeFrom: 'STREAM' | 'FACTS' | null;
  } | null;
  readonly fault: string | null;
  readonly backups: readonly {
    readonly id: string;
    readonly takenAt: string;
    readonly expiresAt: string | null;
  }[];
}
export interface Erasures {
  readonly elements: readonly Erasure[];
  readonly pagination: NextPage;
}
/** A line of what is held of an end user. */
export type ExportedLine =
  | {
      readonly kind: 'END_USER';
      readonly id: string;
      readonly externalId: string;
      readonly createdAt: string | null;
      readonly lastActiveAt: string | null;
      readonly sessions: number;
      readonly messages: number;
      readonly metadata: Metadata;
    }
  | {
      readonly kind: 'FEEDBACK';
      readonly sessionId: string;
      readonly position: number | null;
      readonly value: -1 | 0 | 1;
      readonly rating: number | null;
      readonly comment: string | null;
      readonly createdAt: string;
    }
  | {
      readonly kind: 'SESSION';
      readonly id: string;
      readonly externalId: string | null;
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
      readonly isTheirs: boolean;
    }
  | {
      readonly kind: 'MESSAGE';
      readonly sessionId: string;
      readonly position: number;
      readonly role: string | null;
      readonly content: string | null;
      readonly gone: 'EXPIRED' | 'DELETED' | 'ERASED' | 'UNREADABLE' | null;
      readonly createdAt: string;
      readonly metadata: Metadata | null;
      readonly topic: {
        readonly id: string;
        readonly name: string;
        readonly isOwn: boolean;
        readonly isNamed: boolean;
      } | null;
      readonly labels: readonly Named[];
      readonly signals: readonly {
        readonly id: string;
        readonly name: string;
        readonly signalType: SignalType;
      }[];
      readonly feedback: { readonly up: number; readonly down: number };
      readonly gap: {
        readonly id: string;
        readonly name: string;
        readonly gapType: GapType;
        readonly isNamed: boolean;
      } | null;
      readonly repeatedRequest: Named | null;
      readonly isTheirs: boolean;
    }
  | { readonly kind: 'END'; readonly lines: number };
export interface NewInstance {
  readonly name?: string | undefined;
  readonly default?: boolean | undefined;
}
export interface Instances {
  readonly elements: readonly {
    readonly id: string;
    readonly name: string | null;
    readonly timeZone: string;
    readonly leaveOut: Metadata;
    readonly createdAt: string;
  }[];
  readonly pagination: Pagination;
}
export interface Key {
  readonly keyId: string;
  readonly projectId: string;
  readonly scopes: readonly ('ingest' | 'query' | 'curate' | 'erase')[];
  readonly drafts: boolean;
}
