/**
 * Creates and updates the streams. Several processes may do so at once.
 *
 * Test: test/worker/workers.test.ts, test/cli/backup.test.ts.
 */
import {
  DiscardPolicy,
  jetstreamManager,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { SetupError } from '../errors.ts';
import { isAway, untilAnswered, type StreamConnection } from './connection.ts';
import {
  CONVERSATIONS_STREAM,
  CONVERSATIONS_SUBJECTS,
  DEAD_LETTERS_STREAM,
  DEAD_LETTERS_SUBJECT,
  MESSAGE_NOTES_SUBJECT,
  REDACTED_STREAM,
  REDACTED_SUBJECTS,
  TRACES_STREAM,
  TRACES_SUBJECT,
} from './subjects.ts';

const DEFAULT_MAX_BYTES = 16 * 1024 ** 3;
/** Time in which the server recognises a repeated message id: its own default. */
const DUPLICATE_WINDOW_MS = 120_000;
const TRACES_MAX_BYTES = 1024 ** 3;
const DEAD_LETTERS_MAX_BYTES = 256 * 1024 ** 2;
/** JetStream error codes: no such stream; name in use; no space for the reserved bytes. */
const STREAM_NOT_FOUND = 10059;
const STREAM_NAME_IN_USE = 10058;
const NO_ROOM = new Set([10023, 10047]);

export interface StreamOptions {
  /**
   * Size limit of the stream of conversations, bytes. When the server cannot reserve so much, the limit is halved until
   * it can. Default 16 GiB.
   */
  readonly maxBytes?: number;
  /** Size limit of the stream of traces, which holds spans until they become messages. Default 1 GiB. */
  readonly tracesMaxBytes?: number;
  /** Time to keep an entry of the conversations, milliseconds; 0: for ever. Default 0. */
  readonly maxAgeMs?: number;
  /** Servers of a cluster that keep a copy, 1 to 5. Default 1. */
  readonly replicas?: number;
}

/**
 * Creates the streams of conversations, redacted entries, traces and dead letters, or updates existing ones. Throws
 * SetupError when a stream of that name has another kind, or the server has no space.
 */
export function setUpStreams(connection: StreamConnection, options: StreamOptions = {}): Promise<void> {
  // A cluster has no leader, or too few servers, while it forms.
  return untilAnswered(connection, () => setUpAll(connection, options));
}

async function setUpAll(connection: StreamConnection, options: StreamOptions): Promise<void> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const maxAgeMs = options.maxAgeMs ?? 0;
  const common = {
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    compression: StoreCompression.None,
    num_replicas: options.replicas ?? 1,
  };
  await setUp(manager, {
    ...common,
    name: CONVERSATIONS_STREAM,
    subjects: [CONVERSATIONS_SUBJECTS],
    discard: DiscardPolicy.New,
    max_bytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    max_age: nanos(maxAgeMs),
    // The server requires that it does not exceed the age.
    duplicate_window: nanos(maxAgeMs > 0 ? Math.min(maxAgeMs, DUPLICATE_WINDOW_MS) : DUPLICATE_WINDOW_MS),
  });
  await setUp(manager, {
    ...common,
    name: TRACES_STREAM,
    subjects: [TRACES_SUBJECT],
    discard: DiscardPolicy.New,
    max_bytes: options.tracesMaxBytes ?? TRACES_MAX_BYTES,
    max_age: 0,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
  await setUp(manager, {
    ...common,
    name: REDACTED_STREAM,
    subjects: [REDACTED_SUBJECTS],
    discard: DiscardPolicy.New,
    // Copies are smaller than the entries that they replace, so they need no limit of their own.
    max_bytes: -1,
    max_age: nanos(maxAgeMs),
    duplicate_window: nanos(maxAgeMs > 0 ? Math.min(maxAgeMs, DUPLICATE_WINDOW_MS) : DUPLICATE_WINDOW_MS),
  });
  await setUp(manager, {
    ...common,
    name: DEAD_LETTERS_STREAM,
    subjects: [DEAD_LETTERS_SUBJECT, MESSAGE_NOTES_SUBJECT],
    discard: DiscardPolicy.Old,
    max_bytes: DEAD_LETTERS_MAX_BYTES,
    max_age: 0,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  });
}

type Wanted = Pick<
  StreamConfig,
  | 'name'
  | 'subjects'
  | 'retention'
  | 'storage'
  | 'compression'
  | 'num_replicas'
  | 'discard'
  | 'max_bytes'
  | 'duplicate_window'
  | 'max_age'
>;

async function setUp(manager: JetStreamManager, wanted: Wanted): Promise<void> {
  const existing = await configOf(manager, wanted.name);
  if (existing !== null) return bringTo(manager, existing, wanted);
  for (let maxBytes = wanted.max_bytes; ; maxBytes = Math.floor(maxBytes / 2)) {
    try {
      await manager.streams.add({ ...wanted, max_bytes: maxBytes });
      return;
    } catch (error) {
      const code = error instanceof JetStreamApiError ? error.code : 0;
      if (code === STREAM_NAME_IN_USE) {
        const winner = await configOf(manager, wanted.name);
        if (winner !== null) return bringTo(manager, winner, wanted);
      }
      if (NO_ROOM.has(code) && maxBytes > 1024 * 1024) continue;
      if (isAway(error)) throw error;
      throw new SetupError(
        `NATS cannot make the stream ${wanted.name}: ${(error as Error).message}. ` +
          'Free disk space, lower STREAM_MAX_BYTES and TRACES_MAX_BYTES, or ask who runs the server.',
        { cause: error },
      );
    }
  }
}

async function configOf(manager: JetStreamManager, name: string): Promise<StreamConfig | null> {
  try {
    return (await manager.streams.info(name)).config;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return null;
    throw error;
  }
}

async function bringTo(manager: JetStreamManager, existing: StreamConfig, wanted: Wanted): Promise<void> {
  for (const name of ['retention', 'storage', 'discard'] as const) {
    if (existing[name] !== wanted[name]) {
      throw new SetupError(
        `NATS already has a stream ${wanted.name} with ${name} "${existing[name]}" where "${wanted[name]}" is ` +
          'needed. ' +
          'Use another NATS account, or remove that stream if it is not in use.',
      );
    }
  }
  const same =
    existing.max_bytes === wanted.max_bytes &&
    existing.max_age === wanted.max_age &&
    existing.num_replicas === wanted.num_replicas &&
    existing.compression === wanted.compression &&
    existing.subjects.join() === wanted.subjects.join();
  if (same) return;
  try {
    await manager.streams.update(wanted.name, wanted);
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    // The server cannot reserve more space: the stream keeps its limits.
    if (NO_ROOM.has(error.code)) return;
    if (isAway(error)) throw error;
    throw new SetupError(`NATS cannot change the stream ${wanted.name}: ${error.message}.`, { cause: error });
  }
}
