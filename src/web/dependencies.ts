/**
 * The interfaces that the HTTP server needs from the rest of the service. Readers expect instances that exist.
 *
 * Test: test/web/app.test.ts.
 */
import type { AlertService, DigestAnswer, DigestParameters, Reach } from '../contract/alerts.ts';
import type { Audit } from '../domain/audit.ts';
import type { KeyScope } from '../domain/key-scopes.ts';
import type { AskedCuration } from '../domain/asked-curations.ts';
import type { Backup } from '../domain/backups.ts';
import type { Erasure, ErasedKind } from '../domain/erasures.ts';
import type { ProjectRetention, Retained, Retention, RetentionRun } from '../domain/retention.ts';
import type { Curator } from './ingest/curator.ts';
import type { Eraser } from './ingest/eraser.ts';
import type { FeedbackTaker } from './ingest/feedback-taker.ts';
import type { Ingestor } from './ingest/ingestor.ts';
import type { InstanceRequest } from './ingest/instance-creator.ts';
import type { ChangesParameters, ChangesResponse } from '../query/changes/changes-schema.ts';
import type { ChecksParameters, ChecksResponse } from '../query/checks/checks-schema.ts';
import type { CurationsParameters, CurationsResponse } from '../query/curations/curations-schema.ts';
import type { AttributesParameters, AttributesResponse } from '../query/attributes-schema.ts';
import type { BriefParameters, BriefResponse } from '../query/briefs/brief-schema.ts';
import type { EffectsParameters, EffectsResponse } from '../query/effects/effects-schema.ts';
import type { DifferencesParameters, DifferencesResponse } from '../query/changes/differences-schema.ts';
import type { OverviewParameters, OverviewResponse } from '../query/overview/overview-schema.ts';
import type { QueryParameters } from '../query/parameters.ts';
import type { QueryResponse } from '../query/response-schema.ts';
import type { TextSearchParameters, TextSearchResponse } from '../query/text-search/text-search-schema.ts';
import type { SessionParameters, SessionResponse } from '../query/session-schema.ts';
import type { SubjectLine } from '../query/subject-schema.ts';
import type { WhyGroupBy, WhyParameters, WhyResponse } from '../query/why/why-schema.ts';
import type { Instance, Link, Registry, SignIn } from './registry/registry.ts';
import type { Logger } from '../logger.ts';
import type { ReadingRate } from './answers.ts';
import type { BodyRate } from './body-rate.ts';
import type { ConnectionTimes } from './connections.ts';
import type { People } from './people.ts';
import type { AssemblyFigures } from './trace-metrics.ts';
import type { TraceIntake } from './routes/trace-routes.ts';
import type { ServiceHealth } from '../domain/service-health.ts';

/** The rights of a key. */
export interface FoundKey {
  readonly projectId: string;
  readonly keyId: string;
  /** In the order of KEY_SCOPES. */
  readonly scopes: readonly KeyScope[];
  /** Ids of the visible instances, lower case. Absent: all of the project. */
  readonly instances?: ReadonlySet<string>;
  /** Groups of a person, as the proxy lists them. */
  readonly groups?: readonly string[];
  /** The link that the request has in place of a key. */
  readonly link?: Link;
}

/** Finds keys. */
export interface KeyFinder {
  /** False until the registry is loaded; until then no key can be called invalid. */
  readonly loaded: boolean;
  /** Looks a key up in memory; undefined: call `find`. */
  known(key: string): FoundKey | null | undefined;
  /** Null for an unknown or revoked key. */
  find(key: string): Promise<FoundKey | null>;
}

/** Sign-ins to the dashboard. A sign-in has the rights of its key. */
export interface SignIns extends Pick<KeyFinder, 'known' | 'find'> {
  /** Null for an unknown key. */
  open(key: string): Promise<SignIn | null>;
  close(token: string): Promise<void>;
}

/** Links to views. */
export type Links = Registry['links'];

/** Finds the project of instances, and what they mean where a query does not say. */
export interface InstanceFinder {
  /** Returns the project of an instance (lower-case id); null for an unknown instance. */
  projectOf(instanceId: string): Promise<string | null>;
  /** `timeZone` undefined: UTC. `leaveOut` undefined: nothing. */
  defaultsOf(instanceId: string): Promise<Pick<Instance, 'timeZone' | 'leaveOut'>>;
}

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

export interface QueryRunner {
  /** `caller`: callers take turns when many query at once. */
  run(parameters: QueryParameters, caller: string): Promise<QueryResponse>;
  /** Yields the elements of the page, thousands at a time. */
  stream(parameters: QueryParameters, caller: string): AsyncGenerator<QueryResponse['elements']>;
  /**
   * Waits at most `timeoutMs` until the instance's view contains a stream position; returns true once it does. Throws
   * AppError SERVICE_UNAVAILABLE when the caller has too many waits already.
   */
  waitFor(instanceId: string, position: number, timeoutMs: number, caller: string): Promise<boolean>;
}

/** Reads transcripts. */
export interface SessionReader {
  /** Throws AppError NOT_FOUND for an unknown session (lower-case id). */
  read(sessionId: string, parameters: SessionParameters, caller: string): Promise<SessionResponse>;
}

/** Reads the answer of a route. Throws AppError VALIDATION_ERROR. */
export interface Reader<Parameters, Response> {
  read(parameters: Parameters, caller: string): Promise<Response>;
}

/** Reads the numbers behind an entity. */
export interface WhyReader {
  /** Throws AppError NOT_FOUND for an unknown entity (lower-case id). */
  read(groupBy: WhyGroupBy, id: string, parameters: WhyParameters, caller: string): Promise<WhyResponse>;
}

/** Checks curations against the processed data. */
export interface CurationTargets {
  /** Returns the curation with merged entities replaced by their heirs. Throws AppError NOT_FOUND, CONFLICT. */
  check(instanceId: string, asked: AskedCuration, caller: string): Promise<AskedCuration>;
  /** Returns the work of a curation in messages. Throws AppError SERVICE_UNAVAILABLE. */
  messagesOf(instanceId: string, asked: AskedCuration, caller?: string): Promise<number>;
}

/** Erasures, backups and retention. */
export interface Erasures {
  readonly eraser: Eraser;
  readonly targets: {
    /** `name`: as in ErasureRequest. Throws AppError NOT_FOUND for an unknown subject. */
    check(instanceId: string, kind: ErasedKind, name: string, caller: string): Promise<void>;
  };
  readonly ledger: {
    /** `id`: lower case. Null if the project lacks the erasure. */
    find(projectId: string, id: string): Promise<Erasure | null>;
    /** Returns a project's erasures, newest first. */
    list(projectId: string): Promise<readonly Erasure[]>;
  };
  readonly backups: {
    /** Returns all backups, unfinished ones included. */
    list(): Promise<readonly Backup[]>;
  };
  readonly retentions: {
    /** Returns an instance's own retention, or null. */
    retentionOf(instanceId: string): Promise<Retention | null>;
    /** Null: the instance has none of its own from now on. */
    setRetention(instanceId: string, retention: Retention | null): Promise<void>;
    /** Returns a project's retention, or null. */
    ofProject(projectId: string): Promise<Retention | null>;
    setOfProject(setting: ProjectRetention): Promise<void>;
    /** Returns the instances of all projects that have a retention of their own. */
    retained(): Promise<readonly Retained[]>;
    /** Returns the latest run, or null. */
    find(instanceId: string): Promise<RetentionRun | null>;
  };
}

/** Exports the data of end users. */
export interface Subjects {
  /** Yields lines in groups. Throws AppError NOT_FOUND before the first one for an unknown end user. */
  read(
    instanceId: string,
    externalId: string,
    caller: string,
  ): AsyncGenerator<readonly SubjectLine[], void, undefined>;
  /** Returns a keyed digest that stands for an end user in the audit log, so that nobody can guess who it is. */
  digest(instanceId: string, externalId: string): string;
}

export interface Alerts extends Pick<AlertService, 'create' | 'list' | 'read' | 'remove' | 'test'> {
  /** Allowed targets of messages. */
  readonly reach: Reach;
}

/** A condition for the process to take traffic. */
export interface ReadinessCheck {
  readonly name: string;
  /** Returns null when ready, else the fault in an operator's words. */
  check(): Promise<string | null>;
}

/** All dependencies of the HTTP server. An absent part is not served by this process. */
export interface HttpDependencies {
  readonly log: Logger;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  readonly keys: KeyFinder;
  readonly signIns: SignIns;
  readonly links: Links;
  /** Absent: no proxy signs people in. */
  readonly people?: People;
  /** Serves POST /v1/ingest/. */
  readonly ingest?: Ingestor;
  /** Serves POST /v1/feedback/, beside `ingest`. */
  readonly feedback?: FeedbackTaker;
  /** Serves POST /v1/traces and /v1/logs. `figures`: null while another process assembles. */
  readonly traces?: { readonly intake: TraceIntake; readonly figures: () => AssemblyFigures | null };
  /** Serves the routes that read the views or check against them. */
  readonly query?: {
    readonly runner: QueryRunner;
    readonly sessions: SessionReader;
    /** Searches the texts of sessions. */
    readonly textSearch: Reader<TextSearchParameters, TextSearchResponse>;
    readonly why: WhyReader;
    /** Compares two periods. */
    readonly changes: Reader<ChangesParameters, ChangesResponse>;
    /** Reads the metrics of the whole instance. */
    readonly overview: Reader<OverviewParameters, OverviewResponse>;
    readonly differences: Reader<DifferencesParameters, DifferencesResponse>;
    readonly effects: Reader<EffectsParameters, EffectsResponse>;
    readonly attributes: Reader<AttributesParameters, AttributesResponse>;
    /** Tells what closing a gap takes. */
    readonly briefs: {
      read(id: string, parameters: BriefParameters, caller: string): Promise<BriefResponse>;
    };
    /** Absent: the service has no writer. */
    readonly drafter?: {
      /** Resolves with Markdown and the model that wrote it. Throws AppError if the model gives none. */
      draft(
        brief: BriefResponse,
        signal: AbortSignal,
      ): Promise<{ readonly text: string; readonly model: string }>;
    };
    /** Summarizes a week. */
    readonly digests: Reader<DigestParameters, DigestAnswer>;
    readonly curations: Reader<CurationsParameters, CurationsResponse>;
    /** Draws sessions to check, and estimates from verdicts. */
    readonly checks: Reader<ChecksParameters, ChecksResponse>;
    readonly targets: CurationTargets;
    readonly curator: Curator;
    readonly alerts: Alerts;
    readonly erasures: Erasures;
    readonly subjects: Subjects;
    readonly instances: InstanceFinder;
  };
  readonly instances: InstanceRegistry;
  /** Absent: no audit log. */
  readonly audit?: Audit;
  readonly readiness: readonly ReadinessCheck[];
  /** Absent: the health of other processes is unknown. */
  readonly health?: ServiceHealth;
  readonly limits: {
    readonly requestsPerSecond: number;
    /** Limit of one address on routes without a key. */
    readonly openRequestsPerSecond: number;
    /** Addresses and networks (CIDR) whose X-Forwarded-For is trusted. Default: none. */
    readonly trustedProxies?: readonly string[];
    readonly messagesPerSecond: number;
    /** Limit of an inflated body. */
    readonly bodyBytes: number;
    /** Limit of all bodies in memory, and, again, of all unread responses. */
    readonly inflightBytes: number;
    readonly queryWaitMs: number;
    /** Further connections are dropped. */
    readonly maxConnections: number;
    /** Default: CONNECTION_TIMES. */
    readonly connectionTimes?: ConnectionTimes;
    /** Minimum rate of a body. Default: 1 KiB a second, over ten seconds. */
    readonly bodyRate?: BodyRate;
    /** Minimum rate at which a response is read. Default: READING_RATE. */
    readonly readingRate?: ReadingRate;
  };
}

/** The parts that read views, and the time limits of their routes, milliseconds. */
export type Reading = NonNullable<HttpDependencies['query']> & {
  /** For a wait for a stream position. */
  readonly waitMs: number;
  /** For an answer. */
  readonly answerMs: number;
};
