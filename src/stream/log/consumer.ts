import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { whileConnected, type StreamConnection } from '../connection.ts';
import { LogReader, type TakeOptions } from './log-reader.ts';
import { conversationsSubject, CONVERSATIONS_STREAM, PARTITIONS } from '../subjects.ts';

export { StreamRewoundError, type TakeOptions } from './log-reader.ts';

/** A stream entry as delivered. */
export interface Delivered {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly subject: string;
  /** When the server stored it, microseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
}

export interface ConsumerOptions {
  /** First sequence wanted: the position stored with the views, plus one; 1 for everything. */
  readonly startSequence: number;
  /** Digest of what the entry before it holds. Default: not known. */
  readonly lastEntry?: string | null;
  /** Partitions wanted, 0 to 7. Default all. */
  readonly partitions?: readonly number[];
  /** Hears of sequences that the stream should hold and does not give, where all partitions are wanted. */
  readonly onSkipped?: (first: number, last: number) => void;
  /** Default the stream of conversations. */
  readonly stream?: string;
  /** Read ahead at most about this many bytes. Default 32 MiB. */
  readonly readAheadBytes?: number;
}

/** The sequences that a stream holds; both 0 before the first entry. */
export interface StreamExtent {
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** Reads entries in stream order, each once, through disconnects and server restarts. */
export interface StreamConsumer {
  /**
   * What is there, or after at most `waitMs` an empty list. One call at a time; an empty list also after
   * `close`. Throws StreamRewoundError when the stream no longer holds what was read already.
   */
  next(options: TakeOptions): Promise<Delivered[]>;
  /** Sequence of the newest entry of the stream, whatever its partition; 0 when it is empty. */
  lastSequence(): Promise<number>;
  extent(): Promise<StreamExtent>;
  close(): Promise<void>;
}

/**
 * Opens an ordered consumer from a position of the caller's own; nothing is acknowledged to the server.
 * Resolves once reading has begun. Throws StreamRewoundError when the stream ends before `startSequence` − 1,
 * or holds another entry there than `lastEntry`.
 */
export async function openConsumer(
  connection: StreamConnection,
  options: ConsumerOptions,
): Promise<StreamConsumer> {
  const stream = options.stream ?? CONVERSATIONS_STREAM;
  const partitions = options.partitions ?? Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const reader = new LogReader(connection, {
    stream,
    filterSubjects: partitions.map(conversationsSubject),
    startSequence: options.startSequence,
    lastEntry: options.lastEntry ?? null,
    onSkipped: partitions.length === PARTITIONS ? options.onSkipped : undefined,
    readAheadBytes: options.readAheadBytes ?? 32 * 1024 * 1024,
  });
  try {
    await reader.opened;
  } catch (error) {
    await reader.close();
    throw error;
  }
  const extent = (): Promise<StreamExtent> => readExtent(connection, stream);
  return {
    next: (take) => reader.take(take),
    lastSequence: async () => (await extent()).lastSequence,
    extent,
    close: () => reader.close(),
  };
}

/** JetStream error codes that say that there is no such entry. */
const NOT_FOUND: ReadonlySet<number> = new Set([10037, 10043]);
const RETRY_MS = 100;

/**
 * An entry of the conversations by its sequence; null: the stream does not hold it. Asks again while the server is
 * away, until `signal` aborts.
 */
export async function readStored(
  connection: StreamConnection,
  sequence: number,
  signal: AbortSignal,
): Promise<Delivered | null> {
  for (;;) {
    try {
      return await whileConnected(connection, () => stored(connection, sequence));
    } catch (error) {
      if (error instanceof JetStreamApiError && NOT_FOUND.has(error.code)) return null;
      if (signal.aborted || connection.nats.isClosed()) throw error;
    }
    await connection.whenConnected(1000);
    await sleep(RETRY_MS);
  }
}

async function stored(connection: StreamConnection, sequence: number): Promise<Delivered | null> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const entry = await manager.streams.getMessage(CONVERSATIONS_STREAM, { seq: sequence });
  if (entry === null) return null;
  return { sequence, bytes: entry.data, subject: entry.subject, timestamp: entry.time.getTime() * 1000 };
}

/** Sequence of the newest entry of these partitions of the conversations; 0 when they have none. */
export async function lastSequenceOf(
  connection: StreamConnection,
  partitions: readonly number[],
): Promise<number> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const newest = await Promise.all(
    partitions.map((partition) =>
      manager.streams.getMessage(CONVERSATIONS_STREAM, { last_by_subj: conversationsSubject(partition) }),
    ),
  );
  return Math.max(0, ...newest.map((entry) => entry?.seq ?? 0));
}

/** What a stream holds now. */
export async function readExtent(
  connection: StreamConnection,
  stream = CONVERSATIONS_STREAM,
): Promise<StreamExtent> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const { state } = await manager.streams.info(stream);
  return { firstSequence: state.first_seq, lastSequence: state.last_seq };
}

/** How large a stream is now. */
export async function readBytes(
  connection: StreamConnection,
  stream = CONVERSATIONS_STREAM,
): Promise<number> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  return (await manager.streams.info(stream)).state.bytes;
}
