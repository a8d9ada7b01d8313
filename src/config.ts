/**
 * The configuration, from the environment and `.env`. Parsed once, frozen, and handed on by `main`; every fault is
 * reported at once.
 *
 * Test: test/config.test.ts.
 */
import { availableParallelism } from 'node:os';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { loadEnvFile } from 'node:process';
import { z } from 'zod';
import { UUID_PATTERN } from './domain/ids.ts';
import { isKeyScope, type KeyScope } from './domain/key-scopes.ts';
import { SetupError } from './errors.ts';
import { machineMemory, shareOf } from './machine.ts';
import { placeIn, type ObjectStoreOptions } from './domain/object-place.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;

/** Schema of a whole number in digits within inclusive bounds; `fallback` applies to an absent variable. */
function integer(fallback: number, min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);
}

/** True for an IP address, or a network with a prefix length. */
function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || rest.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const networks = z
  .string()
  .default('')
  .transform((list) => list.split(',').flatMap((part) => part.trim() || []))
  .refine((list) => list.every(isNetwork), 'must be addresses and networks such as 10.0.0.0/8, with commas');

const headerName = z
  .string()
  .regex(/^[a-z\d-]{1,64}$/i, 'must be the name of a header, such as X-Forwarded-Email');

/** Every environment variable that the service reads. `.env.example` explains each to operators. */
const environment = z.object({
  HOST: z.string().regex(/^\S+$/, 'must be a host name or an address').default('127.0.0.1'),
  PORT: integer(8080, 0, 65_535),
  SERVE: z.enum(['all', 'ingest', 'query'], 'must be all, ingest or query').default('all'),
  DATA_DIR: z.string().default('./data'),
  NATS_PORT: integer(4222, 1, 65_535),
  NATS_URL: z
    .string()
    .regex(/^(?:nats|tls|ws|wss):\/\/\S+$/, 'must look like nats://host:4222')
    .optional(),
  NATS_TOKEN: z.string().optional(),
  NATS_SYNC_INTERVAL: z.string().optional(),
  VIEWS_URL: z.string().refine(isPlaceOfObjects, 'must look like s3://bucket/prefix').optional(),
  AWS_ENDPOINT_URL: z
    .string()
    .regex(/^https?:\/\/[^\s@]+$/, 'must look like https://s3.example.com')
    .optional(),
  AWS_REGION: z.string().default('us-east-1'),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  EMBEDDING_MODEL: z.string().default('undertone-small'),
  HF_ENDPOINT: z
    .string()
    .regex(/^https?:\/\/\S+$/, 'must look like https://huggingface.co')
    .default('https://huggingface.co'),
  HF_TOKEN: z.string().optional(),
  RATE_LIMIT_PER_SECOND: integer(1000, 1, 1_000_000_000),
  OPEN_RATE_LIMIT_PER_SECOND: integer(100, 1, 1_000_000_000),
  TRUSTED_PROXIES: networks,
  AUTH_PROXY_HEADER: headerName.optional(),
  AUTH_PROXY_GROUPS_HEADER: headerName.optional(),
  AUTH_PROXY_FROM: networks,
  AUTH_PROXY_SCOPES: z
    .string()
    .default('*=query')
    .transform((text, context) => {
      const scopes = scopesOf(text);
      if (scopes !== null) return scopes;
      context.addIssue('must look like *=query; admins=query,curate');
      return z.NEVER;
    }),
  AUTH_PROXY_INSTANCES: z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return null;
      const instances = instancesOf(text);
      if (instances !== null) return instances;
      context.addIssue(
        'must look like admins=*; sales=019aa3f1-6f0c-7b32-9d55-3a0f6c2b7e10, with ids of instances',
      );
      return z.NEVER;
    }),
  AUTH_PROXY_PROJECT: z.string().default('default'),
  RATE_LIMIT_MESSAGES_PER_SECOND: integer(20_000, 1, 1_000_000_000),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  BODY_LIMIT_BYTES: integer(32 * MIB, 1024, 128 * MIB),
  INFLIGHT_LIMIT_BYTES: integer(128 * MIB, 1024, 64 * 1024 * MIB),
  STREAM_MAX_BYTES: integer(16 * 1024 * MIB, MIB, 2 ** 53 - 1),
  TRACES_MAX_BYTES: integer(1024 * MIB, MIB, 2 ** 53 - 1),
  TRACE_WAIT_MS: integer(30_000, 0, 3_600_000),
  TRACE_BUFFER_BYTES: integer(64 * MIB, MIB, 64 * 1024 * MIB),
  TRACE_WAITING_SPANS: integer(200_000, 1, 1_000_000_000),
  TRACE_EXPORT_MESSAGES: integer(100_000, 1, 2_000_000),
  TRACE_MESSAGES: integer(10_000, 1, 2_000_000),
  STREAM_MAX_AGE_DAYS: integer(0, 0, 36_500),
  STREAM_REPLICAS: integer(1, 1, 5),
  SHARDS: integer(1, 1, 256),
  AUTO_REBUILD: z.enum(['true', 'false'], 'must be true or false').default('false'),
  WORKER_BATCH_BYTES: integer(16 * MIB, 1024, 1024 * MIB),
  STATE_MEMORY_BYTES: integer(
    shareOf(machineMemory(), 1 / 8, { least: 96 * MIB, most: GIB }),
    64 * MIB,
    2 ** 53 - 1,
  ),
  WRITER_URL: z
    .string()
    .regex(/^https?:\/\/[^\s@]+$/, 'must look like http://localhost:11434')
    .optional(),
  WRITER_API_KEY: z.string().optional(),
  WRITER_MODEL_NAME: z.string().optional(),
  WRITER_CALLS_PER_HOUR: integer(120, 1, 100_000),
  WRITER_CHECKS_PER_HOUR: integer(0, 0, 100_000),
  WRITER_TIMEOUT_MS: integer(30_000, 100, 600_000),
  WRITER_IDLE_MINUTES: integer(10, 0, 10_080),
  WRITER_MODEL: z.string().optional(),
  MASK_NAMES_MODEL: z.string().min(1).optional(),
  WEBHOOK_ALLOW_PRIVATE: z.enum(['true', 'false'], 'must be true or false').default('false'),
  SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/\S+$/, 'must look like smtp://user:password@mail.example.com:587')
    .refine(
      (url) => URL.canParse(url) && new URL(url).hostname !== '',
      'must be a URL: write characters such as # and / in a password as %23 and %2F',
    )
    .optional(),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n@]{1,200}@[^\r\n@\s]{1,200}$/, 'must look like Undertone <undertone@example.com>')
    .optional(),
  PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\/[^\s@?#]+$/, 'must look like https://undertone.example.com')
    .refine((url) => URL.canParse(url), 'must be a URL')
    .optional(),
  QUERY_WAIT_MS: integer(5000, 0, 60_000),
  QUERY_WAITERS: integer(256, 1, 100_000),
  QUERY_MEMORY_BYTES: integer(
    shareOf(machineMemory(), 1 / 32, { least: 64 * MIB, most: GIB / 4 }),
    32 * MIB,
    2 ** 53 - 1,
  ),
  MIRROR_BYTES: integer(20 * GIB, 64 * MIB, 2 ** 53 - 1),
  QUERY_THREADS: integer(Math.min(2, availableParallelism()), 1, 256),
  SHUTDOWN_MS: integer(10_000, 100, 600_000),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
});

/** A proxy that authenticates people. */
export interface PeopleConfig {
  /** Header names, lower case. */
  readonly header: string;
  readonly groupsHeader: string | null;
  readonly from: readonly string[];
  /** By group; `*` means everybody. */
  readonly scopes: ReadonlyMap<string, readonly KeyScope[]>;
  /**
   * By group: visible instance ids; null means all of them. The whole table is null if everybody sees all instances.
   */
  readonly instances: ReadonlyMap<string, ReadonlySet<string> | null> | null;
  /** Name of the project that people see. */
  readonly project: string;
}

/** The parsed configuration. */
export interface Config {
  /** Address that the web process listens on. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Routes that the web process serves. */
  readonly serve: 'all' | 'ingest' | 'query';
  /** Absolute path. */
  readonly dataDir: string;
  /** Loopback port of our own nats-server. */
  readonly natsPort: number;
  /** URL of an external NATS server; undefined: our own. */
  readonly natsUrl: string | undefined;
  readonly natsToken: string | undefined;
  /** The object store through which machines share the views; null: this machine has its own. */
  /** The `sync_interval` of the servers at `natsUrl`, as the operator says. */
  readonly natsSyncInterval: string | undefined;
  readonly viewsStore: ObjectStoreOptions | null;
  /** A folder of `models/`, a path, or a hub id. */
  readonly embeddingModel: string;
  /** Hub URL and token of `npm run models -- pull`; nothing else uses them. */
  readonly hubUrl: string;
  readonly hubToken: string | undefined;
  /** Requests of one key per second. */
  readonly rateLimitPerSecond: number;
  /** Requests of one address per second to routes without a key. */
  readonly openRateLimitPerSecond: number;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** A proxy that authenticates people, or null. */
  readonly people: PeopleConfig | null;
  /** Messages of one key per second in the long run. */
  readonly rateLimitMessagesPerSecond: number;
  /** Maximum open connections of web; further ones are dropped. */
  readonly maxConnections: number;
  /** Limit on a decompressed body. */
  readonly bodyLimitBytes: number;
  /** Bytes of accepted bodies that may wait for the stream; above it ingest answers 503. */
  readonly inflightLimitBytes: number;
  readonly streamMaxBytes: number;
  /** Maximum size of the stream of traces, which holds spans that are not assembled yet. */
  readonly tracesMaxBytes: number;
  /** Time that a trace waits for the parents of its spans. */
  readonly traceWaitMs: number;
  /** Bytes of waiting spans in memory, for all projects; more stay on the stream. */
  readonly traceBufferBytes: number;
  /** Maximum waiting spans of one project; further exports are refused. */
  readonly traceWaitingSpans: number;
  /** Maximum messages of one export, and of each trace in it; further spans are left out. */
  readonly traceExportMessages: number;
  readonly traceMessages: number;
  /** Maximum age of messages in the stream; 0: unlimited. The views keep their counts. */
  readonly streamMaxAgeMs: number;
  readonly streamReplicas: number;
  /** Number of sets that the eight partitions are divided into. A change needs a rebuild. */
  readonly shards: number;
  /** The worker rebuilds views automatically when they need it. */
  readonly autoRebuild: boolean;
  /** Decompressed bytes of stream entries that a worker batch may reach under a backlog. */
  readonly workerBatchBytes: number;
  /** Memory of all shards' databases in a worker, bytes. */
  readonly stateMemoryBytes: number;
  /** Heap of the analysis thread, bytes; it depends on the machine only. */
  readonly analysisHeapBytes: number;
  /** The writer of names and summaries, or null. */
  readonly writer: WriterConfig | null;
  /** Folder or name of the model that finds personal names for masking; null: rules only. */
  readonly maskNamesModel: string | null;
  /** Allows alerts to loopback, private and link-local addresses. */
  readonly webhookAllowPrivate: boolean;
  /** SMTP settings of alerts, or null. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | null;
  /** URL of the dashboard without a trailing slash; '' if not set. */
  readonly publicUrl: string;
  /** Longest wait of a query for `X-Wait-For-Position`. */
  readonly queryWaitMs: number;
  /** Maximum waiting queries; further ones get 503. */
  readonly queryWaiters: number;
  /** Memory of concurrent queries in web, bytes; one that needs more runs alone. */
  readonly queryMemoryBytes: number;
  /** Most bytes of published files on the disk of a machine that shares views. */
  readonly mirrorBytes: number;
  /** Threads of one query. */
  readonly queryThreads: number;
  /** Limit on an orderly shutdown. */
  readonly shutdownMs: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** An OpenAI-compatible endpoint or a local model, with its limits. */
export interface WriterConfig {
  readonly source:
    | {
        readonly url: string;
        readonly apiKey: string | undefined;
        /** Undefined: the first model that the endpoint lists. */
        readonly model: string | undefined;
      }
    /** A folder of `models/`, or a path. */
    | { readonly folder: string };
  readonly callsPerHour: number;
  /** Sessions that it judges as a second reader of checks; 0: none. */
  readonly checksPerHour: number;
  readonly timeoutMs: number;
  /** Idle time after which a session has ended. */
  readonly sessionIdleMs: number;
}

/**
 * Returns the environment with the variables of a `.env` in the repository's root; those of the environment take
 * precedence.
 */
export function readEnvironment(): NodeJS.ProcessEnv {
  try {
    loadEnvFile(join(import.meta.dirname, '../.env'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new SetupError(`.env cannot be read: ${(error as Error).message}.`, { cause: error });
    }
  }
  return process.env;
}

/**
 * Reads the configuration, by default from the environment and `.env`. An empty variable counts as absent.
 *
 * @throws SetupError that lists every fault at once
 */
export function loadConfig(env: NodeJS.ProcessEnv = readEnvironment()): Config {
  const given = Object.fromEntries(
    Object.keys(environment.shape).flatMap((name) => {
      const value = env[name]?.trim();
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new SetupError(`The environment is not usable: ${faults.join('; ')}. See .env.example.`);
  }
  const values = parsed.data;
  if (values.WRITER_URL !== undefined && values.WRITER_MODEL !== undefined)
    throw new SetupError('The environment is not usable: set WRITER_URL or WRITER_MODEL, not both.');
  return Object.freeze({
    host: values.HOST,
    port: values.PORT,
    serve: values.SERVE,
    dataDir: resolve(values.DATA_DIR),
    natsPort: values.NATS_PORT,
    natsUrl: values.NATS_URL,
    natsToken: values.NATS_TOKEN,
    natsSyncInterval: values.NATS_SYNC_INTERVAL,
    viewsStore: viewsStoreOf(values),
    embeddingModel: values.EMBEDDING_MODEL,
    hubUrl: values.HF_ENDPOINT,
    hubToken: values.HF_TOKEN,
    rateLimitPerSecond: values.RATE_LIMIT_PER_SECOND,
    openRateLimitPerSecond: values.OPEN_RATE_LIMIT_PER_SECOND,
    trustedProxies: values.TRUSTED_PROXIES,
    people: peopleOf(values),
    rateLimitMessagesPerSecond: values.RATE_LIMIT_MESSAGES_PER_SECOND,
    maxConnections: values.MAX_CONNECTIONS,
    bodyLimitBytes: values.BODY_LIMIT_BYTES,
    inflightLimitBytes: values.INFLIGHT_LIMIT_BYTES,
    streamMaxBytes: values.STREAM_MAX_BYTES,
    tracesMaxBytes: values.TRACES_MAX_BYTES,
    traceWaitMs: values.TRACE_WAIT_MS,
    traceBufferBytes: values.TRACE_BUFFER_BYTES,
    traceWaitingSpans: values.TRACE_WAITING_SPANS,
    traceExportMessages: values.TRACE_EXPORT_MESSAGES,
    traceMessages: values.TRACE_MESSAGES,
    streamMaxAgeMs: values.STREAM_MAX_AGE_DAYS * 86_400_000,
    streamReplicas: values.STREAM_REPLICAS,
    shards: values.SHARDS,
    autoRebuild: values.AUTO_REBUILD === 'true',
    workerBatchBytes: values.WORKER_BATCH_BYTES,
    stateMemoryBytes: values.STATE_MEMORY_BYTES,
    analysisHeapBytes: shareOf(machineMemory(), 0.4, { least: 640 * MIB, most: 1.5 * GIB }),
    writer: writerOf(values),
    maskNamesModel: values.MASK_NAMES_MODEL ?? null,
    webhookAllowPrivate: values.WEBHOOK_ALLOW_PRIVATE === 'true',
    mail: mailOf(values),
    publicUrl: (values.PUBLIC_URL ?? '').replace(/\/+$/, ''),
    queryWaitMs: values.QUERY_WAIT_MS,
    queryWaiters: values.QUERY_WAITERS,
    queryMemoryBytes: values.QUERY_MEMORY_BYTES,
    mirrorBytes: values.MIRROR_BYTES,
    queryThreads: values.QUERY_THREADS,
    shutdownMs: values.SHUTDOWN_MS,
    logLevel: values.LOG_LEVEL,
  });
}

function viewsStoreOf(values: z.infer<typeof environment>): ObjectStoreOptions | null {
  const { VIEWS_URL: url, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = values;
  if (url === undefined) return null;
  if (accessKeyId === undefined || secretAccessKey === undefined || values.NATS_URL === undefined)
    throw new SetupError(
      'The environment is not usable: VIEWS_URL needs NATS_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. See ' +
        '.env.example.',
    );
  return Object.freeze({
    url,
    endpoint: values.AWS_ENDPOINT_URL ?? `https://s3.${values.AWS_REGION}.amazonaws.com`,
    region: values.AWS_REGION,
    accessKeyId,
    secretAccessKey,
    sessionToken: values.AWS_SESSION_TOKEN,
  });
}

function isPlaceOfObjects(url: string): boolean {
  try {
    placeIn(url);
    return true;
  } catch {
    return false;
  }
}

function peopleOf(values: z.infer<typeof environment>): PeopleConfig | null {
  const { AUTH_PROXY_HEADER: header, AUTH_PROXY_FROM: from } = values;
  if (header === undefined && from.length === 0) return null;
  if (header === undefined || from.length === 0)
    throw new SetupError(
      'The environment is not usable: AUTH_PROXY_HEADER and AUTH_PROXY_FROM need each other, so that nobody else can ' +
        'send the header. See .env.example.',
    );
  return Object.freeze({
    header: header.toLowerCase(),
    groupsHeader: values.AUTH_PROXY_GROUPS_HEADER?.toLowerCase() ?? null,
    from,
    scopes: values.AUTH_PROXY_SCOPES,
    instances: values.AUTH_PROXY_INSTANCES,
    project: values.AUTH_PROXY_PROJECT,
  });
}

/** Parses `*=query; admins=query,curate`: scopes by group. Null if invalid. */
function scopesOf(text: string): ReadonlyMap<string, readonly KeyScope[]> | null {
  return byGroup(text, (list) => (list.every(isKeyScope) ? list : undefined));
}

/** Parses `admins=*; sales=ID,ID`: instances by group, null for all of them. Null if invalid. */
function instancesOf(text: string): ReadonlyMap<string, ReadonlySet<string> | null> | null {
  return byGroup(text, (list) => {
    if (list.length === 1 && list[0] === '*') return null;
    return list.every((id) => UUID_PATTERN.test(id))
      ? new Set(list.map((id) => id.toLowerCase()))
      : undefined;
  });
}

/** Parses `group=item,item; group=item`. Null if invalid or `read` returns undefined for a list. */
function byGroup<Value>(
  text: string,
  read: (list: readonly string[]) => Value | undefined,
): ReadonlyMap<string, Value> | null {
  const found = new Map<string, Value>();
  for (const part of text.split(';').filter((each) => each.trim() !== '')) {
    const [group = '', list = '', ...more] = part.split('=').map((each) => each.trim());
    const value = read(list.split(',').map((item) => item.trim()));
    if (group === '' || found.has(group) || more.length > 0 || value === undefined) return null;
    found.set(group, value);
  }
  return found;
}

function mailOf({ SMTP_URL, MAIL_FROM, PUBLIC_URL }: z.infer<typeof environment>): Config['mail'] {
  if (SMTP_URL === undefined) return null;
  const host = PUBLIC_URL === undefined ? 'localhost' : new URL(PUBLIC_URL).hostname;
  return Object.freeze({ smtpUrl: SMTP_URL, from: MAIL_FROM ?? `Undertone <undertone@${host}>` });
}

function writerOf(values: z.infer<typeof environment>): WriterConfig | null {
  const { WRITER_URL: url, WRITER_API_KEY: apiKey, WRITER_MODEL_NAME: model, WRITER_MODEL: folder } = values;
  const source = url !== undefined ? { url, apiKey, model } : folder !== undefined ? { folder } : null;
  if (source === null) return null;
  return Object.freeze({
    source,
    callsPerHour: values.WRITER_CALLS_PER_HOUR,
    checksPerHour: values.WRITER_CHECKS_PER_HOUR,
    timeoutMs: values.WRITER_TIMEOUT_MS,
    sessionIdleMs: values.WRITER_IDLE_MINUTES * 60_000,
  });
}
