/**
 * Durable maps of text in NATS, which all processes share. Conditional writes compare revisions, so that one of two
 * writers fails.
 *
 * Test: test/web/registry/registry.test.ts, test/stream/kv/leases.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, jetstreamManager, StorageType, type StoredMsg } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { headers, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { SetupError } from '../../errors.ts';
import { isAway, untilAnswered, whileConnected, type StreamConnection } from '../connection.ts';
import { LogReader } from '../log/log-reader.ts';
import { Requests } from './requests.ts';

/** The value exceeds the message size of the server. */
export class ValueTooLargeError extends Error {
  constructor(key: string, bytes: number) {
    super(`the value of ${key} has ${bytes} bytes, more than the server takes`);
    this.name = 'ValueTooLargeError';
  }
}

/** The server does not answer for a bucket now. It is unknown whether a write was done. */
export class BucketUnavailableError extends Error {
  constructor(bucket: string, options: ErrorOptions = {}) {
    super(`the bucket ${bucket} is not available now`, options);
    this.name = 'BucketUnavailableError';
  }
}

/** A stored value. */
export interface KeyValueEntry {
  readonly value: string;
  /** Increases with every write to the bucket; `update` compares it. */
  readonly revision: number;
}

/** A durable map of text. Keys: letters, digits, `-`, `_`, `.`, `=`, `/`. */
export interface KeyValueBucket {
  /** The value of the last acknowledged write; null if there is none. */
  get(key: string): Promise<KeyValueEntry | null>;
  /** Writes a key that does not exist. Returns its revision, or null if it exists. */
  create(key: string, value: string): Promise<number | null>;
  /** Writes a key unconditionally. Returns its revision. */
  put(key: string, value: string): Promise<number>;
  /** Writes a key that still has `revision`. Returns the new revision, or null if it has changed. */
  update(key: string, value: string, revision: number): Promise<number | null>;
  /** Deletes a key that still has `revision`; returns false if it has changed. */
  remove(key: string, revision: number): Promise<boolean>;
  /** Revision of the newest write to keys of a pattern (see `hasKeys`); 0 if there is none. */
  newestRevision(pattern: string): Promise<number>;
  /**
   * Returns true if there are keys of a pattern, in which `*` stands for one part between dots and `>` for all that
   * follow. Deleted ones count.
   */
  hasKeys(pattern: string): Promise<boolean>;
  /** Values of all keys of a pattern (see `hasKeys`), in the order of their writes. */
  list(pattern: string): Promise<string[]>;
  /**
   * Reports every key and then every change, in order, through disconnects. Changes arrive some milliseconds after
   * their acknowledgement. `value` is null for a deleted key.
   */
  watch(onChange: (key: string, value: string | null, revision: number) => void): KeyValueWatch;
}

/** A running watch. The caller closes it. */
export interface KeyValueWatch {
  /** Resolves when all initial keys were reported. Rejects when closed before. */
  readonly loaded: Promise<void>;
  /** Resolves with the reason when the watch ended because the bucket was emptied or replaced. */
  readonly failed: Promise<unknown>;
  close(): Promise<void>;
}

export interface BucketOptions {
  /** Time after the last write at which a key expires. Default: never. */
  readonly ttlMs?: number;
  readonly replicas?: number;
}

/** JetStream error codes of a write whose expected revision is not the last one. */
const WRONG_LAST_SEQUENCE = new Set([10071, 10164]);

/** Reserved below the server's message limit for subject and headers. */
const ENVELOPE_BYTES = 4096;

/** JetStream error code of a request for a message that does not exist. */
const NO_MESSAGE = 10037;

/** Replies of the server to a read, and to a write. */
interface GetReply {
  readonly error?: { readonly err_code: number };
  readonly message?: { readonly seq: number; readonly data?: string; readonly hdrs?: string };
}
interface PublishReply {
  readonly error?: { readonly err_code: number };
  readonly seq: number;
}

/** Makes a write fail if the key exists. */
const ONLY_NEW = headers();
ONLY_NEW.set('Nats-Expected-Last-Subject-Sequence', '0');

/** Allowed keys: no wildcards, no line breaks of the protocol. */
const KEY = /^[-/=.\w]+$/;

/** Time that a read or write waits for a server that is away, milliseconds. */
const RIDE_OUT_MS = 2000;
/** Time in which all servers of a cluster know a bucket that one has created. */
const MADE_WITHIN_MS = 10_000;
const MADE_LOOK_MS = 100;
/** JetStream error code of a stream that is not there. */
const STREAM_NOT_FOUND = 10059;

/** Opens a bucket, and creates it if it is missing. */
export async function openKeyValue(
  connection: StreamConnection,
  name: string,
  options: BucketOptions = {},
): Promise<KeyValueBucket> {
  const kv = await untilAnswered(connection, () =>
    new Kvm(connection.nats).create(name, {
      history: 1,
      storage: StorageType.File,
      replicas: options.replicas ?? 1,
      // Reads go to the leader, as a replica may lag behind a write.
      allow_direct: false,
      ...(options.ttlMs === undefined ? {} : { ttl: options.ttlMs }),
    }),
  );
  if ((options.replicas ?? 1) > 1) await raiseReplicas(connection, name, options.replicas ?? 1);
  const unavailable = (cause: unknown): BucketUnavailableError => new BucketUnavailableError(name, { cause });
  const ask = async <T>(request: () => Promise<T>): Promise<T> => {
    if (!(await connection.whenConnected(RIDE_OUT_MS)))
      throw unavailable(new Error('NATS cannot be reached'));
    try {
      return await whileConnected(connection, request);
    } catch (error) {
      if (error instanceof ValueTooLargeError || isOutrun(error)) throw error;
      throw unavailable(error);
    }
  };
  const fitting = (key: string, value: string): string => {
    const bytes = Buffer.byteLength(value);
    if (bytes > connection.maxPayload - ENVELOPE_BYTES) throw new ValueTooLargeError(key, bytes);
    return value;
  };
  const requests = new Requests(connection);
  const askFast = async (subject: string, payload: string, headers?: MsgHdrs): Promise<Msg> => {
    if (!connection.connected && !(await connection.whenConnected(RIDE_OUT_MS)))
      throw unavailable(new Error('NATS cannot be reached'));
    try {
      return await requests.ask(subject, payload, headers);
    } catch (error) {
      throw unavailable(error);
    }
  };
  const newest = async (pattern: string): Promise<StoredMsg | null> => {
    const manager = await jetstreamManager(connection.nats, { checkAPI: false });
    const query = { last_by_subj: `$KV.${name}.${pattern}` };
    return ask(() => manager.streams.getMessage(`KV_${name}`, query));
  };
  return {
    get: async (key) => {
      checkKey(key);
      const query = JSON.stringify({ last_by_subj: `$KV.${name}.${key}` });
      const reply = (await askFast(`$JS.API.STREAM.MSG.GET.KV_${name}`, query)).json<GetReply>();
      if (reply.error?.err_code === NO_MESSAGE) return null;
      if (reply.message === undefined)
        throw unavailable(new Error(`the bucket cannot be read (${reply.error?.err_code})`));
      const { seq, data = '', hdrs } = reply.message;
      const isDeleted = hdrs !== undefined && Buffer.from(hdrs, 'base64').includes('KV-Operation');
      return isDeleted ? null : { value: Buffer.from(data, 'base64').toString(), revision: seq };
    },
    create: async (key, value) => {
      checkKey(key);
      const reply = (await askFast(`$KV.${name}.${key}`, fitting(key, value), ONLY_NEW)).json<PublishReply>();
      if (reply.error === undefined) return reply.seq;
      if (!WRONG_LAST_SEQUENCE.has(reply.error.err_code))
        throw unavailable(new Error(`the bucket cannot be written (${reply.error.err_code})`));
      // The key exists, or was deleted.
      return nullWhenOutrun(ask(() => kv.create(key, value)));
    },
    put: async (key, value) => ask(() => kv.put(key, fitting(key, value))),
    update: async (key, value, revision) =>
      nullWhenOutrun(ask(() => kv.update(key, fitting(key, value), revision))),
    remove: async (key, revision) => {
      const removed = ask(() => kv.delete(key, { previousSeq: revision })).then(() => revision);
      return (await nullWhenOutrun(removed)) !== null;
    },
    newestRevision: async (pattern) => (await newest(pattern))?.seq ?? 0,
    hasKeys: async (pattern) => (await newest(pattern)) !== null,
    list: (pattern) => ask(() => list(connection, name, pattern)),
    watch: (onChange) => watch(connection, name, onChange),
  };
}

/** Raises the replicas of a bucket. It never lowers them, as a command may have a smaller setting than the service. */
async function raiseReplicas(connection: StreamConnection, name: string, replicas: number): Promise<void> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const { config } = await untilAnswered(connection, () =>
    whenMade(() => manager.streams.info(`KV_${name}`)),
  );
  if (config.num_replicas >= replicas) return;
  try {
    await untilAnswered(connection, () => manager.streams.update(config.name, { num_replicas: replicas }));
  } catch (error) {
    if (isAway(error)) throw error;
    throw new SetupError(
      `NATS cannot keep the bucket ${name} on ${replicas} servers: ${(error as Error).message}. Set ` +
        'STREAM_REPLICAS to what the cluster has.',
      { cause: error },
    );
  }
}

/** Asks again while a cluster does not know a bucket that it has just created. */
async function whenMade<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + MADE_WITHIN_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isNotFound(error) || performance.now() > deadline) throw error;
    }
    await sleep(MADE_LOOK_MS);
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND;
}

/** @throws RangeError */
function checkKey(key: string): void {
  if (!KEY.test(key)) throw new RangeError(`no key of a bucket: ${JSON.stringify(key)}`);
}

async function nullWhenOutrun(write: Promise<number>): Promise<number | null> {
  try {
    return await write;
  } catch (error) {
    if (isOutrun(error)) return null;
    throw error;
  }
}

/** True if the key has another revision than the write expects. */
function isOutrun(error: unknown): boolean {
  return error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.has(error.code);
}

/** Longest wait for the next value of a list, milliseconds. */
const LIST_SILENCE_MS = 5000;

async function list(connection: StreamConnection, bucket: string, pattern: string): Promise<string[]> {
  const reader = new LogReader(connection, {
    stream: `KV_${bucket}`,
    filterSubjects: [`$KV.${bucket}.${pattern}`],
    startSequence: 1,
    readAheadBytes: 1024 * 1024,
  });
  try {
    const values: string[] = [];
    await reader.opened;
    while (!reader.isThrough) {
      const taken = await reader.take({ maxMessages: 1000, maxBytes: Infinity, waitMs: LIST_SILENCE_MS });
      if (taken.length === 0 && !reader.isThrough)
        throw new Error(`NATS fell silent while the bucket ${bucket} was listed`);
      for (const entry of taken)
        if (entry.header('KV-Operation') === '') values.push(Buffer.from(entry.bytes).toString());
    }
    return values;
  } finally {
    await reader.close();
  }
}

function watch(
  connection: StreamConnection,
  bucket: string,
  onChange: (key: string, value: string | null, revision: number) => void,
): KeyValueWatch {
  const prefix = `$KV.${bucket}.`;
  const reader = new LogReader(connection, {
    stream: `KV_${bucket}`,
    filterSubjects: [`${prefix}>`],
    startSequence: 1,
    readAheadBytes: 4 * 1024 * 1024,
  });
  const loaded = Promise.withResolvers<void>();
  loaded.promise.catch(() => undefined);
  let closed = false;
  const follow = async (): Promise<void> => {
    await reader.opened;
    while (!closed) {
      if (reader.isThrough) loaded.resolve();
      for (const entry of await reader.take({ maxMessages: 10_000, maxBytes: Infinity, waitMs: 60_000 })) {
        const deleted = entry.header('KV-Operation') !== '';
        onChange(
          entry.subject.slice(prefix.length),
          deleted ? null : Buffer.from(entry.bytes).toString(),
          entry.sequence,
        );
      }
    }
  };
  const failed = Promise.withResolvers<unknown>();
  const followed = follow().catch((error: unknown) => {
    loaded.reject(error);
    if (!closed) failed.resolve(error);
  });
  return {
    loaded: loaded.promise,
    failed: failed.promise,
    close: async () => {
      closed = true;
      loaded.reject(new Error('the watch was closed'));
      await reader.close();
      await followed;
    },
  };
}
