/**
 * Reads the conversations in stream order, redacted entries included. Each entry comes once, through disconnects and
 * restarts.
 *
 * Test: test/stream/log/consumer.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { whileConnected, type StreamConnection } from '../connection.ts';
import type { Delivered } from './delivered.ts';
import { LogReader, type TakeOptions } from './log-reader.ts';
import { findRedacted, RedactedEntries } from './redacted-entries.ts';
import { WithRedacted } from './with-redacted.ts';
import { conversationsSubject, CONVERSATIONS_STREAM, PARTITIONS } from '../subjects.ts';

export type { Delivered } from './delivered.ts';
export { StreamRewoundError, type TakeOptions } from './log-reader.ts';

export interface ConsumerOptions {
  /** First sequence to read: the position stored with the views, plus one; 1 for all. */
  readonly startSequence: number;
  /** Digest of the entry before it. Default: unknown. */
  readonly lastEntry?: string | null;
  /** Partitions to read, 0 to 7. Default: all. */
  readonly partitions?: readonly number[];
  /**
   * Receives ranges of sequences that the stream should hold but does not deliver; only when all partitions are read.
   */
  readonly onSkipped?: (first: number, last: number) => void;
  /** Redacted entries after this sequence are read. Default: from `startSequence` on. */
  readonly redactedAfter?: number;
  /** Default: the stream of conversations. */
  readonly stream?: string;
  /** Limit for reading ahead, bytes. Default 32 MiB. */
  readonly readAheadBytes?: number;
}

/** The sequences of a stream; both 0 before the first entry. */
export interface StreamExtent {
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** An ordered consumer of entries. */
export interface StreamConsumer {
  /**
   * Returns available entries, or an empty list after `waitMs` or after `close`. One call at a time. Throws
   * StreamRewoundError when the stream no longer holds what was read.
   */
  next(options: TakeOptions): Promise<Delivered[]>;
  /** Sequence of the newest entry of the stream, in any partition; 0 if it is empty. */
  lastSequence(): Promise<number>;
  extent(): Promise<StreamExtent>;
  /**
   * True once all entries were returned that existed at the start, except redacted ones after the last readable entry.
   * Entries that the server cannot read are omitted.
   */
  readonly isThrough: boolean;
  close(): Promise<void>;
}

/**
 * Opens an ordered consumer at a position that the caller keeps; the server gets no acknowledgements. Resolves once
 * reading has begun. Throws StreamRewoundError when the stream ends before `startSequence` − 1, or holds another entry
 * there than `lastEntry`.
 */
export async function openConsumer(
  connection: StreamConnection,
  options: ConsumerOptions,
): Promise<StreamConsumer> {
  const stream = options.stream ?? CONVERSATIONS_STREAM;
  const partitions = options.partitions ?? Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const redacted = stream === CONVERSATIONS_STREAM ? await RedactedEntries.open(connection) : null;
  const { onSkipped, startSequence } = options;
  /** Ranges that the server omitted; some of their entries may be redacted. */
  let skipped: (readonly [first: number, last: number])[] = [];
  const reader = new LogReader(connection, {
    stream,
    filterSubjects: partitions.map(conversationsSubject),
    startSequence,
    lastEntry: options.lastEntry ?? null,
    onSkipped:
      partitions.length < PARTITIONS || onSkipped === undefined
        ? undefined
        : (first, last) => void skipped.push([first, last]),
    readAheadBytes: options.readAheadBytes ?? 32 * 1024 * 1024,
  });
  try {
    await reader.opened;
  } catch (error) {
    await reader.close();
    throw error;
  }
  const extent = (): Promise<StreamExtent> => readExtent(connection, stream);
  const merged =
    redacted === null
      ? reader
      : new WithRedacted(reader, redacted, { partitions, after: options.redactedAfter ?? startSequence - 1 });
  const tellSkipped = async (): Promise<void> => {
    if (skipped.length === 0 || onSkipped === undefined) return;
    if (redacted !== null && !(await redacted.refresh())) return;
    const ranges = skipped;
    skipped = [];
    for (const [first, last] of ranges)
      if ((redacted?.countIn(first, last) ?? 0) <= last - first) onSkipped(first, last);
  };
  return {
    next: async (take) => {
      const given = await merged.take(take);
      await tellSkipped();
      return given;
    },
    get isThrough() {
      return reader.isThrough && (!(merged instanceof WithRedacted) || merged.isEmpty);
    },
    lastSequence: async () => (await extent()).lastSequence,
    extent,
    close: () => reader.close(),
  };
}

/** JetStream error codes for a missing entry. */
const NOT_FOUND: ReadonlySet<number> = new Set([10037, 10043]);
const RETRY_MS = 100;

/**
 * Reads an entry of the conversations by sequence, or its redacted copy; null if the stream holds neither. Retries
 * while the server is away, until `signal` aborts.
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
      if (signal.aborted || connection.nats.isClosed()) throw error;
    }
    await connection.whenConnected(1000);
    await sleep(RETRY_MS);
  }
}

async function stored(connection: StreamConnection, sequence: number): Promise<Delivered | null> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const entry = await manager.streams
    .getMessage(CONVERSATIONS_STREAM, { seq: sequence })
    .catch(noneWhenMissing);
  if (entry === null) return findRedacted(connection, sequence);
  return { sequence, bytes: entry.data, subject: entry.subject, timestamp: entry.time.getTime() * 1000 };
}

function noneWhenMissing(error: unknown): null {
  if (error instanceof JetStreamApiError && NOT_FOUND.has(error.code)) return null;
  throw error;
}

/** Sequence of the newest entry in some partitions of the conversations; 0 if they are empty. */
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

/** The present sequences of a stream, redacted entries included. */
export async function readExtent(
  connection: StreamConnection,
  stream = CONVERSATIONS_STREAM,
): Promise<StreamExtent> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const { state } = await manager.streams.info(stream);
  const { first_seq: first, last_seq: lastSequence } = state;
  if (stream !== CONVERSATIONS_STREAM || first <= 1) return { firstSequence: first, lastSequence };
  return { firstSequence: (await RedactedEntries.open(connection)).beginning(first), lastSequence };
}

/** The present size of a stream, bytes. */
export async function readBytes(
  connection: StreamConnection,
  stream = CONVERSATIONS_STREAM,
): Promise<number> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  return (await manager.streams.info(stream)).state.bytes;
}
