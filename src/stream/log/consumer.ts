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
  /** First sequence wanted: the position stored with the views, plus one; 1 for everything. */
  readonly startSequence: number;
  /** Digest of what the entry before it holds. Default: not known. */
  readonly lastEntry?: string | null;
  /** Partitions wanted, 0 to 7. Default all. */
  readonly partitions?: readonly number[];
  /** Hears of sequences that the stream should hold and does not give, where all partitions are wanted. */
  readonly onSkipped?: (first: number, last: number) => void;
  /** Redacted entries behind this sequence are wanted. Default: from `startSequence` on. */
  readonly redactedAfter?: number;
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

/** Reads entries in stream order, redacted ones in their places, each once, through disconnects and restarts. */
export interface StreamConsumer {
  /**
   * What is there, or after at most `waitMs` an empty list. One call at a time; an empty list also after
   * `close`. Throws StreamRewoundError when the stream no longer holds what was read already.
   */
  next(options: TakeOptions): Promise<Delivered[]>;
  /** Sequence of the newest entry of the stream, whatever its partition; 0 when it is empty. */
  lastSequence(): Promise<number>;
  extent(): Promise<StreamExtent>;
  /**
   * Whether everything was given that was there when reading began, but for redacted entries behind the last that can be
   * read. What the server cannot read is left out.
   */
  readonly isThrough: boolean;
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
  const redacted = stream === CONVERSATIONS_STREAM ? await RedactedEntries.open(connection) : null;
  const { onSkipped, startSequence } = options;
  /** Ranges that the server left out, of which some may be redacted. */
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

/** JetStream error codes that say that there is no such entry. */
const NOT_FOUND: ReadonlySet<number> = new Set([10037, 10043]);
const RETRY_MS = 100;

/**
 * An entry of the conversations by its sequence, its copy where it was redacted; null: the stream does not hold it.
 * Asks again while the server is away, until `signal` aborts.
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

/** What a stream holds now, redacted entries included. */
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

/** How large a stream is now. */
export async function readBytes(
  connection: StreamConnection,
  stream = CONVERSATIONS_STREAM,
): Promise<number> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  return (await manager.streams.info(stream)).state.bytes;
}
