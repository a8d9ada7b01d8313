/**
 * Redacted entries of the conversations. The original is deleted from its stream; the copy is in another stream, under
 * a subject that names the original's sequence, and readers see it in the original's place.
 *
 * Test: test/stream/log/redacted-entries.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { whileConnected, type StreamConnection } from '../connection.ts';
import type { Delivered } from './delivered.ts';
import { CONVERSATIONS_STREAM, redactedSubject, REDACTED_STREAM, REDACTED_SUBJECTS } from '../subjects.ts';

const HEADER = { subject: 'Undertone-Subject', timestamp: 'Undertone-Timestamp' } as const;
/** JetStream error codes: no such stream; no such message (two of them). */
const STREAM_NOT_FOUND = 10059;
const AWAY_MS = 1000;
const RETRY_MS = 100;
const NOT_FOUND: ReadonlySet<number> = new Set([10037, 10043]);

/** The sequences of redacted entries at the last `look`. */
export class RedactedEntries {
  readonly #connection: StreamConnection;
  /** Ascending. */
  #sequences: readonly number[] = [];
  #partitionOf = new Map<number, number>();
  /** Last sequence of the stream of copies at the last `look`. */
  #lastCopy = -1;

  private constructor(connection: StreamConnection) {
    this.#connection = connection;
  }

  /** Rejects when the server cannot be reached. */
  static async open(connection: StreamConnection): Promise<RedactedEntries> {
    const entries = new RedactedEntries(connection);
    await entries.look();
    return entries;
  }

  /** Reads the sequences again: entries may be redacted at any time. */
  async look(): Promise<void> {
    const { subjects, lastSequence } = await subjectsOf(this.#connection, REDACTED_SUBJECTS);
    this.#lastCopy = lastSequence;
    const places = subjects.map((subject) => subject.split('.').slice(1).map(Number) as [number, number]);
    this.#partitionOf = new Map(places.map(([partition, sequence]) => [sequence, partition]));
    this.#sequences = [...this.#partitionOf.keys()].sort((a, b) => a - b);
  }

  /**
   * Reads the sequences again if an entry was redacted since; otherwise costs one short request. Resolves to false
   * after a pause when the server does not answer. Rejects when the connection is closed.
   */
  async refresh(): Promise<boolean> {
    try {
      if ((await lastCopyOf(this.#connection)) !== this.#lastCopy) await this.look();
      return true;
    } catch (error) {
      if (this.#connection.nats.isClosed()) throw error;
      await this.#connection.whenConnected(AWAY_MS);
      await sleep(RETRY_MS);
      return false;
    }
  }

  has(sequence: number): boolean {
    return this.#partitionOf.has(sequence);
  }

  /** Number of redacted entries from `first` to `last`, both included. */
  countIn(first: number, last: number): number {
    return Math.max(0, this.#placeOf(last + 1) - this.#placeOf(first));
  }

  /** The first redacted entry of these partitions after `after` and before `before`; null if there is none. */
  firstBetween(after: number, before: number, partitions: ReadonlySet<number>): number | null {
    for (let at = this.#placeOf(after + 1); at < this.#sequences.length; at++) {
      const sequence = this.#sequences[at]!;
      if (sequence >= before) return null;
      if (partitions.has(this.#partitionOf.get(sequence)!)) return sequence;
    }
    return null;
  }

  /** The first sequence of the stream with redacted entries, given the first one that the server reports. */
  beginning(firstSequence: number): number {
    let first = firstSequence;
    while (this.has(first - 1)) first -= 1;
    return first;
  }

  /** The copy of an entry; null if there is none. Rejects when the server cannot be reached. */
  async read(sequence: number): Promise<Delivered | null> {
    const partition = this.#partitionOf.get(sequence);
    return partition === undefined ? null : readRedacted(this.#connection, partition, sequence);
  }

  /**
   * Erases copies of entries that were stored before an instant (microseconds since 1970-01-01 UTC), and returns their
   * number. Entries are in order of time. Rejects when the server cannot be reached.
   */
  async dropBefore(instant: number): Promise<number> {
    for (const [dropped, sequence] of this.#sequences.entries()) {
      const copy = await this.read(sequence);
      if (copy !== null && copy.timestamp >= instant) return dropped;
      const subject = redactedSubject(this.#partitionOf.get(sequence)!, sequence);
      await eraseCopies(this.#connection, subject, Infinity);
    }
    return this.#sequences.length;
  }

  /** Number of smaller sequences. */
  #placeOf(sequence: number): number {
    let low = 0;
    let high = this.#sequences.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sequences[middle]! < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Finds the copy of an entry by sequence alone; null if it was not redacted. */
export async function findRedacted(
  connection: StreamConnection,
  sequence: number,
): Promise<Delivered | null> {
  const [subject] = (await subjectsOf(connection, `redacted.*.${sequence}`)).subjects;
  return subject === undefined ? null : readRedacted(connection, Number(subject.split('.')[1]), sequence);
}

/**
 * Replaces an entry by its copy. The original and earlier copies are erased once the copy is stored. A crash in between
 * leaves both; the copy is then read, and a repetition completes the work. Rejects when the server cannot be reached.
 */
export async function redactEntry(
  connection: StreamConnection,
  partition: number,
  entry: Delivered,
): Promise<void> {
  const subject = redactedSubject(partition, entry.sequence);
  const hdrs = headers();
  hdrs.set(HEADER.subject, entry.subject);
  hdrs.set(HEADER.timestamp, String(entry.timestamp));
  const { seq } = await whileConnected(connection, () =>
    jetstream(connection.nats).publish(subject, entry.bytes, { headers: hdrs }),
  );
  await eraseMessage(connection, CONVERSATIONS_STREAM, entry.sequence);
  await eraseCopies(connection, subject, seq);
}

/** Erases the copies of one entry before a sequence of their own stream. */
async function eraseCopies(connection: StreamConnection, subject: string, before: number): Promise<void> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const oldest = { seq: 1, next_by_subj: subject };
  for (;;) {
    const found = await whileConnected(connection, () =>
      manager.streams.getMessage(REDACTED_STREAM, oldest).catch(nullWhenMissing),
    );
    if (found === null || found.seq >= before) return;
    await eraseMessage(connection, REDACTED_STREAM, found.seq);
  }
}

/**
 * Deletes a message from a stream, and overwrites its bytes in the stream's file. Returns false if it did not exist.
 */
export async function eraseMessage(
  connection: StreamConnection,
  stream: string,
  sequence: number,
): Promise<boolean> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    return await whileConnected(connection, () => manager.streams.deleteMessage(stream, sequence, true));
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    // The server has one error code for all failures of a deletion.
    const found = await whileConnected(connection, () =>
      manager.streams.getMessage(stream, { seq: sequence }).catch(nullWhenMissing),
    );
    if (found !== null) throw error;
    return false;
  }
}

async function readRedacted(
  connection: StreamConnection,
  partition: number,
  sequence: number,
): Promise<Delivered | null> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  const query = { last_by_subj: redactedSubject(partition, sequence) };
  const found = await whileConnected(connection, () =>
    manager.streams.getMessage(REDACTED_STREAM, query).catch(nullWhenMissing),
  );
  if (found === null) return null;
  return {
    sequence,
    bytes: found.data,
    subject: found.header.get(HEADER.subject),
    timestamp: Number(found.header.get(HEADER.timestamp)),
  };
}

/** The subjects of redacted entries that match a pattern, and the last sequence of their stream. */
async function subjectsOf(
  connection: StreamConnection,
  pattern: string,
): Promise<{ readonly subjects: readonly string[]; readonly lastSequence: number }> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    const { state } = await whileConnected(connection, () =>
      manager.streams.info(REDACTED_STREAM, { subjects_filter: pattern }),
    );
    return { subjects: Object.keys(state.subjects ?? {}), lastSequence: state.last_seq };
  } catch (error) {
    // An earlier version had no redacted entries.
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND)
      return { subjects: [], lastSequence: 0 };
    throw error;
  }
}

async function lastCopyOf(connection: StreamConnection): Promise<number> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    return (await whileConnected(connection, () => manager.streams.info(REDACTED_STREAM))).state.last_seq;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return 0;
    throw error;
  }
}

function nullWhenMissing(error: unknown): null {
  if (error instanceof JetStreamApiError && NOT_FOUND.has(error.code)) return null;
  throw error;
}
