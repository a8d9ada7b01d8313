/** It has types only, and no test of its own. */
import type {
  Alert,
  AlertDetail,
  DigestAnswer,
  DigestParameters,
  NewAlert,
  NewRule,
  Reach,
  RepeatKey,
} from '../contract/alerts.ts';
import type { Audit } from '../domain/audit.ts';
import type { KeyScope } from '../domain/key-scopes.ts';
import type { AskedCuration } from '../domain/asked-curations.ts';
import type { Backup } from '../domain/backups.ts';
import type { Erasure, ErasedKind } from '../domain/erasures.ts';
import type { Retention, RetentionRun } from '../domain/retention.ts';
import type { Curator } from './ingest/curator.ts';
import type { Eraser } from './ingest/eraser.ts';
import type { Ingestor } from './ingest/ingestor.ts';
import type { InstanceRequest } from './ingest/instance-creator.ts';
import type { ChangesParameters, ChangesResponse } from '../query/changes/changes-schema.ts';
import type { CurationsParameters, CurationsResponse } from '../query/curations/curations-schema.ts';
import type { OverviewParameters, OverviewResponse } from '../query/overview/overview-schema.ts';
import type { QueryParameters } from '../query/parameters.ts';
import type { QueryResponse } from '../query/response-schema.ts';
import type { SaidParameters, SaidResponse } from '../query/said/said-schema.ts';
import type { SessionParameters, SessionResponse } from '../query/session-schema.ts';
import type { SubjectLine } from '../query/subject-schema.ts';
import type { WhyGroupBy, WhyParameters, WhyResponse } from '../query/why/why-schema.ts';
import type { Instance, Link, LinkMaker, Registry, SignIn } from './registry/registry.ts';
import type { Logger } from '../logger.ts';
import type { ReadingRate } from './answers.ts';
import type { BodyRate } from './body-rate.ts';
import type { ConnectionTimes } from './connections.ts';
import type { People } from './people.ts';
import type { AssemblyFigures } from './trace-metrics.ts';
import type { TraceIntake } from './routes/trace-routes.ts';
import type { ServiceHealth } from '../domain/service-health.ts';

/** A key's project, a name of the key that may be kept in memory, and what it may do. */
export interface FoundKey {
  readonly projectId: string;
  readonly keyId: string;
  /** In the order of KEY_SCOPES. */
  readonly scopes: readonly KeyScope[];
  /** Ids of the instances that it sees, lower case. Absent: all of the project. */
  readonly instances?: ReadonlySet<string>;
  /** Of a person: the groups that the proxy lists. */
  readonly groups?: readonly string[];
  /** The request shows this link in place of a key. */
  readonly link?: Link;
}

/** Finds the project of a key. */
export interface KeyFinder {
  /** False until the registry has been read once: before that nobody can be told that a key is wrong. */
  readonly loaded: boolean;
  /** What is known of a key without asking anybody; undefined: `find` has to be asked. */
  known(key: string): FoundKey | null | undefined;
  /** Null: unknown or revoked. */
  find(key: string): Promise<FoundKey | null>;
}

/** Who is signed in to the page. A sign-in may do what its key may. */
export interface SignIns extends Pick<KeyFinder, 'known' | 'find'> {
  /** Null: no such key. */
  open(key: string): Promise<SignIn | null>;
  close(token: string): Promise<void>;
}

/** Links to one view; what each shows, and who made it. */
export interface Links {
  /** As those of KeyFinder. */
  known(token: string): Link | null | undefined;
  find(token: string): Promise<Link | null>;
  /** Before one is made. Throws AppError CONFLICT when the maker has too many, or SERVICE_UNAVAILABLE. */
  check(maker: LinkMaker): Promise<void> | void;
  /** Throws as `check` does. */
  open(wanted: Parameters<Registry['openLink']>[0]): ReturnType<Registry['openLink']>;
  /** Those of a project, the newest first. */
  list(projectId: string): Promise<readonly Link[]>;
  revoke(projectId: string, id: string): Promise<void>;
}

/** Says whom an instance belongs to. */
export interface InstanceFinder {
  /** The project of an instance (lower-case id); null when there is no such instance. */
  projectOf(instanceId: string): Promise<string | null>;
  /** Whose days its questions mean where they do not say; undefined: those of UTC. */
  timeZoneOf(instanceId: string): Promise<string | undefined>;
}

/** The instances of projects: listed, made and renamed. */
export interface InstanceRegistry extends Pick<
  Registry,
  | 'findInstance'
  | 'instancesOf'
  | 'defaultInstance'
  | 'findDefaultInstance'
  | 'changeInstance'
  | 'issueSessionIds'
> {
  createInstance(request: InstanceRequest): Promise<Instance>;
}

/** Answers queries about instances that exist. */
export interface QueryRunner {
  /** `caller`: whose turn it is, when many ask at once. */
  run(parameters: QueryParameters, caller: string): Promise<QueryResponse>;
  /** The elements of the page as they are found, some thousands at a time. */
  stream(parameters: QueryParameters, caller: string): AsyncGenerator<QueryResponse['elements']>;
  /**
   * Waits until the instance's view has reached a stream position, at most `timeoutMs`; true when it has. Throws
   * AppError SERVICE_UNAVAILABLE when too many of the caller's wait.
   */
  waitFor(instanceId: string, position: number, timeoutMs: number, caller: string): Promise<boolean>;
}

/** Reads sessions of instances that exist. */
export interface SessionReader {
  /** Throws AppError NOT_FOUND when the instance has no such session (lower-case id). */
  read(sessionId: string, parameters: SessionParameters, caller: string): Promise<SessionResponse>;
}

/** Finds the sessions of an instance that exists in which something was said. */
export interface SaidReader {
  /** Throws AppError VALIDATION_ERROR. */
  read(parameters: SaidParameters, caller: string): Promise<SaidResponse>;
}

/** Says what is behind the numbers of an entity of an instance that exists. */
export interface WhyReader {
  /** Throws AppError NOT_FOUND when the instance has no such entity (lower-case id). */
  read(groupBy: WhyGroupBy, id: string, parameters: WhyParameters, caller: string): Promise<WhyResponse>;
}

/** Tells what has changed in an instance that exists. */
export interface ChangesReader {
  read(parameters: ChangesParameters, caller: string): Promise<ChangesResponse>;
}

/** Measures an instance that exists as a whole. */
export interface OverviewReader {
  read(parameters: OverviewParameters, caller: string): Promise<OverviewResponse>;
}

/** Tells what a week of an instance that exists was like. */
export interface DigestReader {
  read(parameters: DigestParameters, caller: string): Promise<DigestAnswer>;
}

/** Lists what people decided in an instance that exists. */
export interface CurationsReader {
  read(parameters: CurationsParameters, caller: string): Promise<CurationsResponse>;
}

/** Looks up what a curation of an instance that exists names. */
export interface CurationTargets {
  /** What is asked for, with heirs in the place of what merged away. Throws AppError NOT_FOUND, CONFLICT. */
  check(instanceId: string, asked: AskedCuration, caller: string): Promise<AskedCuration>;
  /** As how many messages it counts. Rejects with AppError SERVICE_UNAVAILABLE. */
  messagesOf(instanceId: string, asked: AskedCuration, caller?: string): Promise<number>;
}

/** Erasures of instances that exist. */
export interface Erasures {
  readonly eraser: Eraser;
  readonly targets: {
    /** `name`: as of ErasureRequest. Throws AppError NOT_FOUND where nothing of it is known. */
    check(instanceId: string, kind: ErasedKind, name: string, caller: string): Promise<void>;
  };
  readonly ledger: {
    /** Null: the project has none of the id (lower case). */
    find(projectId: string, id: string): Promise<Erasure | null>;
    /** Those of a project, the newest first. */
    list(projectId: string): Promise<readonly Erasure[]>;
  };
  readonly backups: {
    /** Every backup that was begun. */
    list(): Promise<readonly Backup[]>;
  };
  readonly retentions: {
    retentionOf(instanceId: string): Promise<Retention>;
    setRetention(instanceId: string, retention: Retention): Promise<void>;
    /** The newest run; null: there was none. */
    find(instanceId: string): Promise<RetentionRun | null>;
  };
}

/** Tells what is held of end users of instances that exist. */
export interface Subjects {
  /** Its lines, some at a time. Throws AppError NOT_FOUND with the first of them where nothing of them is known. */
  read(
    instanceId: string,
    externalId: string,
    caller: string,
  ): AsyncGenerator<readonly SubjectLine[], void, undefined>;
  /** Names an end user in the audit: keyed, so that nobody can guess who it is. */
  digest(instanceId: string, externalId: string): string;
}

/** The alerts of instances that exist. */
export interface Alerts {
  /** Where messages may go. */
  readonly reach: Reach;
  /** `key`: the same makes the same alert, once. Throws AppError CONFLICT. */
  create(wanted: NewRule, key?: RepeatKey): Promise<NewAlert>;
  list(instanceId: string): Promise<readonly Alert[]>;
  /** Throws AppError NOT_FOUND, as do the following. */
  read(instanceId: string, id: string): Promise<AlertDetail>;
  remove(instanceId: string, id: string): Promise<void>;
  /** Throws AppError CONFLICT while a test is under way, RATE_LIMIT_EXCEEDED while too many of the project are. */
  test(projectId: string, instanceId: string, id: string): Promise<{ readonly deliveryId: string }>;
}

/** One thing that must be true for the process to take traffic. */
export interface ReadinessCheck {
  readonly name: string;
  /** Null when ready; else what is missing, in words for an operator. */
  check(): Promise<string | null>;
}

/** What the HTTP side needs from the rest of the service. */
export interface HttpDependencies {
  readonly log: Logger;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  readonly keys: KeyFinder;
  readonly signIns: SignIns;
  readonly links: Links;
  /** Absent: no proxy signs people in. */
  readonly people?: People;
  /** Absent: POST /v1/ingest/ is not served by this process. */
  readonly ingest?: Ingestor;
  /** Absent: POST /v1/traces and /v1/logs are not served by this process. `figures`: null while another assembles. */
  readonly traces?: { readonly intake: TraceIntake; readonly figures: () => AssemblyFigures | null };
  /** Absent: what reads the views, and what is checked against them, is not served by this process. */
  readonly query?: {
    readonly runner: QueryRunner;
    readonly sessions: SessionReader;
    readonly said: SaidReader;
    readonly why: WhyReader;
    readonly changes: ChangesReader;
    readonly overview: OverviewReader;
    readonly digests: DigestReader;
    readonly curations: CurationsReader;
    readonly targets: CurationTargets;
    readonly curator: Curator;
    readonly alerts: Alerts;
    readonly erasures: Erasures;
    readonly subjects: Subjects;
    readonly instances: InstanceFinder;
  };
  readonly instances: InstanceRegistry;
  /** Absent: nothing is kept of who does what. */
  readonly audit?: Audit;
  readonly readiness: readonly ReadinessCheck[];
  /** Absent: nothing is said of the other processes. */
  readonly health?: ServiceHealth;
  readonly limits: {
    readonly requestsPerSecond: number;
    /** Of one address, to the routes that need no key. */
    readonly openRequestsPerSecond: number;
    /** Addresses and networks (CIDR) whose X-Forwarded-For says who asks. Default: none. */
    readonly trustedProxies?: readonly string[];
    readonly messagesPerSecond: number;
    /** Applied to the body after inflating it. */
    readonly bodyBytes: number;
    /** Bytes of bodies that may be held at once over all requests; of answers that are not read, as many again. */
    readonly inflightBytes: number;
    readonly queryWaitMs: number;
    /** More connections at a time are dropped. */
    readonly maxConnections: number;
    /** Default: CONNECTION_TIMES. */
    readonly connectionTimes?: ConnectionTimes;
    /** How fast a body has to arrive. Default: 1 KiB a second, over ten seconds. */
    readonly bodyRate?: BodyRate;
    /** How fast an answer has to be read. Default: READING_RATE. */
    readonly readingRate?: ReadingRate;
  };
}
