import type { FastifyInstance } from 'fastify';
import type { LeftOut } from '../../src/domain/attributes.ts';
import { madeBy } from '../../src/domain/asked-curations.ts';
import type { ErasedKind } from '../../src/domain/erasures.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { KEY_SCOPES, type KeyScope } from '../../src/domain/key-scopes.ts';
import { createApp } from '../../src/web/app.ts';
import type { FoundKey, HttpDependencies, QueryRunner } from '../../src/web/dependencies.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Logger } from '../../src/logger.ts';
import type { Acceptor } from '../../src/web/ingest/acceptor.ts';
import { createIngestor } from '../../src/web/ingest/ingestor.ts';
import { createClaimTurns } from '../../src/web/ingest/claim-turns.ts';
import { createEraser } from '../../src/web/ingest/eraser.ts';
import type { CurateRequest } from '../../src/web/ingest/curator.ts';
import type { PreparedRequest } from '../../src/web/ingest/prepared-request.ts';
import { createPreparer } from '../../src/web/ingest/preparer.ts';
import { digestOf } from '../../src/web/registry/api-keys.ts';
import { BackupLedger } from '../../src/stream/ledgers/backup-ledger.ts';
import { Retentions } from '../../src/stream/ledgers/retentions.ts';
import { ErasureLedger } from '../../src/stream/ledgers/erasure-ledger.ts';
import { Links } from '../../src/web/registry/links.ts';
import { AuditLog } from '../../src/web/registry/audit-log.ts';
import type { TraceIntake } from '../../src/doors/traces/trace-intake.ts';
import type { DigestParameters } from '../../src/contract/alerts.ts';
import type { QueryParameters } from '../../src/query/parameters.ts';
import { AppError } from '../../src/errors.ts';
import { MemoryBucket } from '../support/memory-bucket.ts';
import { memoryIdempotency } from '../support/memory-idempotency.ts';
import { noSubject } from '../../src/query/subject-schema.ts';
import { noSuch } from '../../src/query/no-such.ts';
import type { SessionParameters } from '../../src/query/session-schema.ts';

export const PROJECT = '0192f0a0-0000-7000-8000-000000000001';
export const OTHER_PROJECT = '0192f0a0-0000-7000-8000-000000000002';
export const INSTANCE = '0192f0a0-0000-7000-8000-00000000000a';
export const FOREIGN_INSTANCE = '0192f0a0-0000-7000-8000-00000000000b';
export const SESSION = '0192f0a0-0000-8000-8000-00000000000c';
export const KEY = `ut_test_${'a'.repeat(32)}`;
/** Of the same project as `KEY`. */
export const SECOND_KEY = `ut_test_${'c'.repeat(32)}`;
export const OTHER_KEY = `ut_live_${'b'.repeat(32)}`;
/** 2025-03-01T12:00:00.250Z, milliseconds. */
export const NOON = Date.UTC(2025, 2, 1, 12, 0, 0, 250);

export interface Call {
  readonly projectId: string;
  /** What the messages say. */
  readonly contents: readonly string[];
  readonly idempotencyKey: string | undefined;
}

export interface Harness {
  readonly app: FastifyInstance;
  /** What reached the ingestor. */
  readonly accepted: Call[];
  /** What reached the query side: runs and waits in order. */
  readonly asked: (
    | QueryParameters
    | DigestParameters
    | { instanceId: string; position: number; timeoutMs: number }
  )[];
  /** The sessions that were asked for. There is one, SESSION. */
  readonly read: (SessionParameters & { readonly sessionId: string })[];
  /** What reached the curator. */
  readonly curated: CurateRequest[];
  /** The requests by which erasures are on the stream. */
  readonly erased: RecordedRequest[];
  readonly ledger: ErasureLedger;
  readonly backups: BackupLedger;
  readonly retentions: Retentions;
  /** By token. */
  readonly signedIn: Map<string, FoundKey>;
  /** Where links are stored. */
  readonly linkBucket: MemoryBucket;
  /** Keys that are so no more. */
  readonly revoked: Set<string>;
  readonly links: HttpDependencies['links'];
  /** What was logged at any level. */
  readonly logged: unknown[];
  /** What was logged at level error. */
  readonly errors: unknown[];
  /** The clock, milliseconds. */
  time: number;
  loaded: boolean;
  /** Of INSTANCE. */
  timeZone: string | undefined;
  leaveOut: LeftOut | undefined;
  /** How often the registry was asked for a key that memory does not know. */
  keysAsked: number;
}

const BODY_BYTES = 32 * 2 ** 20;

function contentsOf({ draft }: PreparedRequest): string[] {
  const { messages } = JSON.parse(`{"draft":1${Buffer.from(draft.bytes).toString()}`) as {
    readonly messages: readonly { readonly content: string }[];
  };
  return messages.map(({ content }) => content);
}

/** Takes every export, and keeps nothing of it. */
const NO_SPANS: TraceIntake = {
  receive: async () => ({
    spans: 0,
    observations: 0,
    rejected: 0,
    lacksContent: 0,
    missesContent: false,
    message: '',
  }),
  close: async () => undefined,
};

/** Keeps what is logged. */
function keepingLogger(logged: unknown[]): Logger {
  const keep = (...line: unknown[]): void => void logged.push(line);
  const names = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
  return { ...silentLogger(), ...Object.fromEntries(names.map((name) => [name, keep])) };
}

/** What links ask of keys. */
function linkKeysOf(findKey: (key: string) => FoundKey | null): ConstructorParameters<typeof Links>[1] {
  const known = [KEY, SECOND_KEY, OTHER_KEY];
  return {
    digestOf: (keyId) => known.filter((key) => keyId === `id of ${key}`).map(digestOf)[0],
    grantOf: (digest) => {
      const key = known.find((each) => digestOf(each) === digest);
      const found = key === undefined ? null : findKey(key);
      return found && { ...found, env: 'test' };
    },
  };
}

/** The digest of an erasure, which names what it is of: only tests may see that. */
export function readableDigest(kind: ErasedKind, instanceId: string, name: string): string {
  return `digest of ${kind} ${instanceId} ${name}`;
}

/** The app with fakes behind it: they do what the real ones promise, and remember what they were given. */
export function createHarness(
  changes: Partial<Omit<HttpDependencies, 'limits' | 'keys' | 'log' | 'now'>> & {
    readonly limits?: Partial<HttpDependencies['limits']>;
    readonly accept?: Acceptor['accept'];
    readonly run?: QueryRunner['run'];
    readonly targets?: NonNullable<HttpDependencies['query']>['targets'];
    readonly waitFor?: QueryRunner['waitFor'];
    /** Whom the views know besides SESSION and `ana`. */
    readonly knows?: (kind: ErasedKind, name: string) => boolean;
    readonly why?: NonNullable<HttpDependencies['query']>['why'];
    readonly subjects?: NonNullable<HttpDependencies['query']>['subjects'];
    readonly drafter?: NonNullable<HttpDependencies['query']>['drafter'];
    readonly serve?: 'all' | 'ingest' | 'query';
    /** Larger bodies are read on a thread. */
    readonly inlineBytes?: number;
    /** Default: PROJECT has INSTANCE, OTHER_PROJECT has FOREIGN_INSTANCE. */
    readonly projectOf?: (instanceId: string) => Promise<string | null>;
    /** Those of every key. Default: all. */
    readonly scopes?: readonly KeyScope[];
  } = {},
): Harness {
  const {
    limits,
    accept,
    run,
    waitFor,
    targets,
    serve = 'all',
    inlineBytes,
    projectOf,
    why,
    subjects,
    drafter = { draft: async () => ({ text: '# Cancel orders\n\n[to be filled in]', model: 'scribe' }) },
    knows = () => false,
    scopes = KEY_SCOPES,
    ...rest
  } = changes;
  const preparer = createPreparer({
    bodyBytes: limits?.bodyBytes ?? BODY_BYTES,
    now: () => NOON * 1000,
    ...(inlineBytes === undefined ? {} : { inlineBytes }),
  });
  const errors: unknown[] = [];
  const logged: unknown[] = [];
  const log: Logger = {
    ...keepingLogger(logged),
    error: (fields: unknown) => {
      logged.push(fields);
      errors.push(fields);
    },
    child: () => log,
  };
  const findKey = (key: string): FoundKey | null => {
    if (harness.revoked.has(key)) return null;
    const projectId = { [KEY]: PROJECT, [SECOND_KEY]: PROJECT, [OTHER_KEY]: OTHER_PROJECT }[key];
    return projectId === undefined ? null : { projectId, keyId: `id of ${key}`, scopes };
  };
  const ingest = createIngestor(preparer, {
    async accept(call) {
      if (accept !== undefined) return accept(call);
      const { body, ...rest } = call;
      harness.accepted.push({ ...rest, contents: contentsOf(body) });
      return { instanceId: INSTANCE, sessionId: SESSION, position: 42 };
    },
  });
  const ledger = new ErasureLedger(new MemoryBucket());
  const backups = new BackupLedger(new MemoryBucket());
  const retentions = new Retentions(new MemoryBucket(), async () => undefined);
  const eraser = createEraser({
    publisher: { check: async () => undefined },
    async publish(request) {
      harness.erased.push(request);
      return 50 + harness.erased.length;
    },
    ledger,
    digest: readableDigest,
    idempotency: memoryIdempotency(),
    turns: createClaimTurns(),
    clock: () => harness.time * 1000,
  });
  const query: HttpDependencies['query'] = {
    runner: {
      async run(parameters, caller) {
        harness.asked.push(parameters);
        if (run !== undefined) return run(parameters, caller);
        const { limit, offset } = parameters;
        return { elements: [], pagination: { total: 0, limit, offset }, lastProcessedAt: null };
      },
      async *stream(parameters) {
        harness.asked.push(parameters);
        yield [];
      },
      async waitFor(instanceId, position, timeoutMs, caller) {
        harness.asked.push({ instanceId, position, timeoutMs });
        return waitFor?.(instanceId, position, timeoutMs, caller) ?? true;
      },
    },
    sessions: {
      async read(sessionId, parameters) {
        harness.read.push({ sessionId, ...parameters });
        if (sessionId !== SESSION) throw noSuch('session', sessionId);
        const at = new Date(NOON).toISOString();
        const names = { externalId: null, title: null, summary: null, language: null, outcome: null };
        const counts = { messages: 0, sat: 0, dsat: 0, repeatedRequests: 0 };
        return {
          session: {
            id: sessionId,
            ...names,
            endUser: null,
            createdAt: at,
            lastActiveAt: at,
            ...counts,
            metadata: {},
          },
          messages: [],
          pagination: { limit: parameters.limit, next: null },
          lastProcessedAt: at,
        };
      },
    },
    textSearch: {
      async read({ limit }) {
        const searched = { messages: 0, gone: 0, left: 0 };
        return { elements: [], searched, pagination: { limit, next: null }, lastProcessedAt: null };
      },
    },
    why: why ?? {
      async read() {
        return {
          heir: null,
          fields: {},
          trend: [],
          signals: [],
          topics: [],
          gaps: [],
          repeatedRequests: [],
          languages: [],
          endUsers: [],
          checked: null,
          life: null,
          wordings: { typical: [], newest: [] },
          lastProcessedAt: new Date(NOON).toISOString(),
        };
      },
    },
    overview: {
      async read() {
        return {
          fields: {},
          trend: [],
          languages: [],
          outcomes: [],
          agreement: null,
          lastProcessedAt: null,
        };
      },
    },
    differences: {
      async read({ segmentKey, value, against }) {
        const [one, other] = [value, against].map((name) => ({ value: name, sessions: 0 }));
        return {
          segmentKey,
          value: one!,
          against: other!,
          range: null,
          differences: [],
          lastProcessedAt: null,
        };
      },
    },
    briefs: {
      async read(id) {
        return {
          gap: { id, name: 'Cancel orders', gapType: 'TOOL', description: 'Cannot cancel orders' },
          fields: { sessions: 0 },
          groups: [],
          others: 0,
          read: 0,
          arguments: [],
          answers: [],
          lastProcessedAt: new Date(NOON).toISOString(),
        };
      },
    },
    drafter,
    effects: {
      async read() {
        return { effects: [], total: 0, lastProcessedAt: null };
      },
    },
    attributes: {
      async read() {
        return { attributes: [], lastProcessedAt: null };
      },
    },
    checks: {
      async read(parameters) {
        const stratum = { sessions: 0, yes: 0, no: 0, unsure: 0, share: null };
        return {
          checked: { of: parameters.of, id: parameters.id, name: 'Refunds' },
          foundShare: null,
          share: null,
          found: stratum,
          notFound: stratum,
          recall: null,
          uncounted: 0,
          secondReader: null,
          sample: [],
          lastProcessedAt: null,
        };
      },
    },
    curations: {
      async read({ limit }) {
        return { elements: [], pagination: { limit, next: null }, lastProcessedAt: null };
      },
    },
    alerts: {
      reach: { allowPrivate: false, hasMail: false },
      async create({ instanceId, name, condition, delivery, timeZone = 'UTC' }) {
        const { secret: _, ...publicDelivery } = delivery;
        const made = { id: SESSION, instanceId, name, condition, delivery: publicDelivery, timeZone };
        const state = {
          createdAt: new Date(NOON).toISOString(),
          state: 'active',
          disabledReason: null,
        } as const;
        return { alert: { ...made, ...state }, secret: 'whsec_' };
      },
      async list() {
        return [];
      },
      async read(instanceId, id) {
        const created = {
          createdAt: new Date(NOON).toISOString(),
          state: 'active',
          disabledReason: null,
        } as const;
        const delivery = { url: 'https://example.com/…', format: 'slack', quotes: false } as const;
        const alert = {
          id,
          instanceId,
          name: 'An alert',
          condition: { kind: 'digest' },
          delivery,
          timeZone: 'UTC',
          ...created,
        } as const;
        return { alert, deliveries: [] };
      },
      async remove() {},
      async test() {
        return { deliveryId: SESSION };
      },
    },
    erasures: {
      eraser,
      ledger,
      backups,
      retentions,
      targets: {
        async check(_, kind, name) {
          const isKnown =
            kind === 'INSTANCE' ||
            kind === 'MESSAGES' ||
            name === SESSION ||
            name === 'ana' ||
            knows(kind, name);
          if (!isKnown) throw new AppError('NOT_FOUND', 'Nothing of it is known.');
        },
      },
    },
    subjects: subjects ?? {
      async *read(_, externalId) {
        if (externalId !== 'ana' && externalId !== SESSION && !knows('END_USER', externalId))
          throw noSubject();
        const none = {
          createdAt: null,
          lastActiveAt: null,
          sessions: 0,
          messages: 0,
          metadata: {},
        };
        yield [{ kind: 'END_USER', id: SESSION, externalId, ...none }];
        yield [{ kind: 'END', lines: 1 }];
      },
      digest: (instanceId, externalId) => digestOf(`${instanceId} ${externalId}`),
    },
    targets: targets ?? { check: async (_, asked) => asked, messagesOf: async () => 300 },
    curator: {
      async curate(request) {
        harness.curated.push({ ...request, asked: await request.check(request.asked) });
        const what = madeBy(request.asked);
        return { curationId: SESSION, made: what === null ? null : { what, id: INSTANCE }, position: 43 };
      },
    },
    changes: {
      async read() {
        const at = new Date(NOON).toISOString();
        const period = { start: at, end: at, sessions: 0 };
        return { period, before: period, changes: [], lastProcessedAt: null };
      },
    },
    digests: {
      async read(parameters) {
        harness.asked.push(parameters);
        const at = new Date(NOON).toISOString();
        const none = { now: 0, before: 0 };
        const lists = {
          topics: [],
          newTopics: [],
          rising: [],
          falling: [],
          gaps: [],
          dissatisfaction: [],
          fixed: [],
        };
        const counts = { sessions: none, users: none, dissatisfied: none, repeatedRequests: [] };
        return {
          json: { text: '', window: { start: at, end: at, timeZone: 'UTC' }, ...counts, ...lists },
          html: (origin) => `<a href="${origin}/">`,
        };
      },
    },
    instances: {
      async projectOf(instanceId) {
        if (projectOf !== undefined) return projectOf(instanceId);
        if (instanceId === INSTANCE) return PROJECT;
        return instanceId === FOREIGN_INSTANCE ? OTHER_PROJECT : null;
      },
      async defaultsOf(instanceId) {
        const { timeZone, leaveOut } = harness;
        return instanceId === INSTANCE ? { timeZone, leaveOut } : {};
      },
    },
  };
  const feedback: NonNullable<HttpDependencies['feedback']> = {
    async take({ body }) {
      return {
        pieces: body.pieces.map(({ sessionId }) => ({ instanceId: INSTANCE, sessionId })),
        position: 44,
      };
    },
  };
  const linkBucket = new MemoryBucket();
  const links = new Links(linkBucket, linkKeysOf(findKey), () => new Date(harness.time));
  linkBucket.watch((key, value, revision) => links.watched(key.slice('link.'.length), value, revision));
  const app = createApp({
    log,
    now: () => harness.time,
    audit: new AuditLog(new MemoryBucket(), () => new Date(harness.time)),
    keys: {
      get loaded() {
        return harness.loaded;
      },
      known: (key) => findKey(key) ?? undefined,
      async find(key) {
        harness.keysAsked += 1;
        return findKey(key);
      },
    },
    signIns: {
      known: (token) => harness.signedIn.get(token) ?? undefined,
      find: async (token) => harness.signedIn.get(token) ?? null,
      async open(key) {
        const found = findKey(key);
        if (found === null) return null;
        const token = `token-${harness.signedIn.size}`;
        harness.signedIn.set(token, found);
        return { token, endsAt: NOON + 3_600_000 };
      },
      async close(token) {
        harness.signedIn.delete(token);
      },
    },
    links,
    ...(serve === 'query' ? {} : { ingest, feedback, traces: { intake: NO_SPANS, figures: () => null } }),
    ...(serve === 'ingest' ? {} : { query }),
    instances: {
      findInstance: async () => null,
      instancesOf: async () => ({ instances: [], total: 0 }),
      findDefaultInstance: async () => null,
      createInstance: () => Promise.reject(new Error('not faked')),
      defaultInstance: () => Promise.reject(new Error('not faked')),
      changeInstance: async () => null,
      issueSessionIds: async () => null,
    },
    readiness: [],
    limits: {
      requestsPerSecond: 1000,
      openRequestsPerSecond: 1000,
      messagesPerSecond: 1_000_000,
      maxConnections: 10_000,
      bodyBytes: BODY_BYTES,
      inflightBytes: 64 * 2 ** 20,
      queryWaitMs: 5000,
      ...limits,
    },
    ...rest,
  });
  app.addHook('onClose', () => preparer.close());
  const harness: Harness = {
    app,
    accepted: [],
    asked: [],
    errors,
    logged,
    links: rest.links ?? links,
    time: NOON,
    timeZone: undefined,
    leaveOut: undefined,
    loaded: true,
    keysAsked: 0,
    read: [],
    curated: [],
    erased: [],
    ledger,
    backups,
    retentions,
    signedIn: new Map(),
    linkBucket,
    revoked: new Set(),
  };
  return harness;
}
