/**
 * Entries of the conversations that were written anew without what was erased. The stream itself holds nothing at
 * their places: their copies are in a stream of their own, under a subject that names the place. Whoever reads the
 * conversations in order reads them where they stood. Covered by test/stream/log/redacted-entries.test.ts.
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

/** The places that redacted entries have, as they were when somebody looked last. */
export class RedactedEntries {
  readonly #connection: StreamConnection;
  /** Ascending. */
  #sequences: readonly number[] = [];
  #partitionOf = new Map<number, number>();
  /** The last sequence of their own stream when somebody looked last. */
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

  /** Looks again: entries are redacted while others are read. */
  async look(): Promise<void> {
    const { subjects, lastSequence } = await subjectsOf(this.#connection, REDACTED_SUBJECTS);
    this.#lastCopy = lastSequence;
    const places = subjects.map((subject) => subject.split('.').slice(1).map(Number) as [number, number]);
    this.#partitionOf = new Map(places.map(([partition, sequence]) => [sequence, partition]));
    this.#sequences = [...this.#partitionOf.keys()].sort((a, b) => a - b);
  }

  /**
   * Looks again where something was redacted since: one short question where nothing was. False, after a while: the
   * server does not answer now. Rejects when the connection is closed.
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

  /** How many there are from one sequence to another, both included. */
  countIn(first: number, last: number): number {
    return Math.max(0, this.#placeOf(last + 1) - this.#placeOf(first));
  }

  /** The first of these partitions behind `after` and before `before`; null without. */
  firstBetween(after: number, before: number, partitions: ReadonlySet<number>): number | null {
    for (let at = this.#placeOf(after + 1); at < this.#sequences.length; at++) {
      const sequence = this.#sequences[at]!;
      if (sequence >= before) return null;
      if (partitions.has(this.#partitionOf.get(sequence)!)) return sequence;
    }
    return null;
  }

  /** Where the stream begins for whoever reads redacted entries as well, when the server says that it begins here. */
  beginning(firstSequence: number): number {
    let first = firstSequence;
    while (this.has(first - 1)) first -= 1;
    return first;
  }

  /** The copy of an entry; null: there is none. Rejects when the server cannot be reached. */
  async read(sequence: number): Promise<Delivered | null> {
    const partition = this.#partitionOf.get(sequence);
    return partition === undefined ? null : readRedacted(this.#connection, partition, sequence);
  }

  /**
   * Drops copies of entries that were stored before an instant (microseconds since 1970-01-01 UTC), and their bytes;
   * how many. Entries stand in the order of time. Rejects when the server cannot be reached.
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

  /** How many sequences are smaller. */
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

/** The copy of an entry of which only the place is known; null: it was not redacted. */
export async function findRedacted(
  connection: StreamConnection,
  sequence: number,
): Promise<Delivered | null> {
  const [subject] = (await subjectsOf(connection, `redacted.*.${sequence}`)).subjects;
  return subject === undefined ? null : readRedacted(connection, Number(subject.split('.')[1]), sequence);
}

/**
 * Puts an entry's copy in its place. Its original goes for good once the copy is stored, and so does an earlier copy: a
 * crash in between leaves both, of which the copy is read, and doing it again ends it. Rejects when the server cannot be
 * reached.
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

/** Erases the copies of one place that stand before a sequence of their own stream. */
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

/** Takes a message out of a stream and its bytes out of the stream's file. False: it was not there. */
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
    // One code stands for whatever prevents a deletion.
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

/** The subjects of redacted entries that a pattern matches. */
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
    // What an earlier version made has none.
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
