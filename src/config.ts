import { availableParallelism } from 'node:os';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { loadEnvFile } from 'node:process';
import { z } from 'zod';
import { UUID_PATTERN } from './domain/ids.ts';
import { isKeyScope, type KeyScope } from './domain/key-scopes.ts';
import { SetupError } from './errors.ts';
import { machineMemory, shareOf } from './machine.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;

/** A whole number written in digits only, within inclusive bounds; `fallback` when the variable is absent. */
function integer(fallback: number, min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, 'must be a whole number')
    .default(String(fallback))
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);
}

/** An IP address, or a network of them with the length of its prefix. */
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

/** Every environment variable that the service reads. `.env.example` explains each to an operator. */
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
  SHARDS: integer(1, 1, 8),
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
  QUERY_THREADS: integer(Math.min(2, availableParallelism()), 1, 256),
  SHUTDOWN_MS: integer(10_000, 100, 600_000),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
});

/** A proxy that signs people in. */
export interface PeopleConfig {
  /** Lower case, as the next one. */
  readonly header: string;
  readonly groupsHeader: string | null;
  readonly from: readonly string[];
  /** By group; `*`: everybody. */
  readonly scopes: ReadonlyMap<string, readonly KeyScope[]>;
  /** The instances that a group sees, by id; null: all. The whole table null: everybody sees all. */
  readonly instances: ReadonlyMap<string, ReadonlySet<string> | null> | null;
  /** The name of the project that they see. */
  readonly project: string;
}

/** What the service was told by its surroundings: parsed once, frozen, handed on by `main`. */
export interface Config {
  /** Address that the web process listens on. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Which routes the web process serves. */
  readonly serve: 'all' | 'ingest' | 'query';
  /** Absolute path. */
  readonly dataDir: string;
  /** Loopback port of the nats-server that we start ourselves. */
  readonly natsPort: number;
  /** A NATS server run by somebody else; absent: our own. */
  readonly natsUrl: string | undefined;
  readonly natsToken: string | undefined;
  /** A folder of `models/`, a path, or a hub id. */
  readonly embeddingModel: string;
  /** Where `npm run models -- pull` fetches from, and with what; nothing else uses either. */
  readonly hubUrl: string;
  readonly hubToken: string | undefined;
  /** Requests that one key may send in one window of one second. */
  readonly rateLimitPerSecond: number;
  /** Requests that one address may send to the routes without a key in one second. */
  readonly openRateLimitPerSecond: number;
  /** Addresses and networks of proxies: what they say in X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** A proxy that signs people in; null: there is none. */
  readonly people: PeopleConfig | null;
  /** Messages that one key may send a second in the long run. */
  readonly rateLimitMessagesPerSecond: number;
  /** Connections that web keeps open at a time; more are dropped. */
  readonly maxConnections: number;
  /** Applies to a body after it was inflated. */
  readonly bodyLimitBytes: number;
  /** Bytes of accepted bodies that may wait for the stream at once; beyond it ingest answers 503. */
  readonly inflightLimitBytes: number;
  readonly streamMaxBytes: number;
  /** The most that the stream of traces may hold, bytes: what has not become messages yet. */
  readonly tracesMaxBytes: number;
  /** How long a trace waits for what is above its spans. */
  readonly traceWaitMs: number;
  /** Bytes of spans that wait in memory, of all projects; what is more stays on the stream. */
  readonly traceBufferBytes: number;
  /** Spans of one project that may wait to be assembled; more exports are refused. */
  readonly traceWaitingSpans: number;
  /** Messages that one export may bring, and each trace in it; of more, spans are left out. */
  readonly traceExportMessages: number;
  readonly traceMessages: number;
  /** How long the stream keeps messages; 0: for ever. The views keep what they counted. */
  readonly streamMaxAgeMs: number;
  readonly streamReplicas: number;
  /** How many sets the eight partitions are divided into. A change needs a rebuild. */
  readonly shards: number;
  /** The worker rebuilds views by itself when they need it. */
  readonly autoRebuild: boolean;
  /** Bytes of stream entries, inflated, that one worker batch may grow to under a backlog. */
  readonly workerBatchBytes: number;
  /** What the databases of all shards may take together in a worker, bytes. */
  readonly stateMemoryBytes: number;
  /** The heap of the thread that analyses, bytes; by the machine alone. */
  readonly analysisHeapBytes: number;
  /** What writes names and summaries; null: nobody does. */
  readonly writer: WriterConfig | null;
  /** Folder or name of the model that finds names of persons where texts are masked; null: rules alone find them. */
  readonly maskNamesModel: string | null;
  /** Alerts may be posted to loopback, private and link-local addresses. */
  readonly webhookAllowPrivate: boolean;
  /** How alerts reach people by e-mail; null: they do not. */
  readonly mail: { readonly smtpUrl: string; readonly from: string } | null;
  /** How people reach the dashboard, without a slash at its end; '': nobody said. */
  readonly publicUrl: string;
  /** The longest that a query waits for `X-Wait-For-Position`. */
  readonly queryWaitMs: number;
  /** Queries that may wait for it at once; more get 503. */
  readonly queryWaiters: number;
  /** What the queries that web answers at a time may take together, bytes; one that needs more runs alone. */
  readonly queryMemoryBytes: number;
  /** Threads that one query may use. */
  readonly queryThreads: number;
  /** How long an ordered shutdown may take. */
  readonly shutdownMs: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** An OpenAI-compatible endpoint or a model of our own, and how much it is asked. */
export interface WriterConfig {
  readonly source:
    | {
        readonly url: string;
        readonly apiKey: string | undefined;
        /** Absent: the first model that the endpoint lists. */
        readonly model: string | undefined;
      }
    /** A folder of `models/`, or a path. */
    | { readonly folder: string };
  readonly callsPerHour: number;
  readonly timeoutMs: number;
  /** A session without a turn for so long has ended. */
  readonly sessionIdleMs: number;
}

/** The environment, with what a `.env` in the repository's root adds; what the environment says already stands. */
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
 * Reads the configuration: by default from the environment and a `.env` in the repository's root. An
 * empty variable counts as an absent one.
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
    queryThreads: values.QUERY_THREADS,
    shutdownMs: values.SHUTDOWN_MS,
    logLevel: values.LOG_LEVEL,
  });
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

/** `*=query; admins=query,curate`: what groups may do. Null: it is not written so. */
function scopesOf(text: string): ReadonlyMap<string, readonly KeyScope[]> | null {
  return byGroup(text, (list) => (list.every(isKeyScope) ? list : undefined));
}

/** `admins=*; sales=ID,ID`: what groups see; of a group, null: everything. Null: it is not written so. */
function instancesOf(text: string): ReadonlyMap<string, ReadonlySet<string> | null> | null {
  return byGroup(text, (list) => {
    if (list.length === 1 && list[0] === '*') return null;
    return list.every((id) => UUID_PATTERN.test(id))
      ? new Set(list.map((id) => id.toLowerCase()))
      : undefined;
  });
}

/** Reads `group=item,item; group=item`. Null: it is not written so, or `read` gives undefined for a list. */
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
    timeoutMs: values.WRITER_TIMEOUT_MS,
    sessionIdleMs: values.WRITER_IDLE_MINUTES * 60_000,
  });
}
