import { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { SetupError } from '../errors.ts';
import { whileConnected, type StreamConnection } from './connection.ts';
import type { Delivered } from './consumer.ts';
import { LogReader } from './log-reader.ts';
import { conversationsSubject, DEAD_LETTERS_STREAM, DEAD_LETTERS_SUBJECT, PARTITIONS } from './subjects.ts';

/** Headers of a dead letter; its body is the entry's payload as it was. */
export const DEAD_LETTER_HEADERS = {
  sequence: 'Undertone-Sequence',
  subject: 'Undertone-Subject',
  reason: 'Undertone-Reason',
} as const;

const MAX_REASON_LENGTH = 500;
/** JetStream error codes: no such stream; no such message (two of them). */
const STREAM_NOT_FOUND = 10059;
const MESSAGE_NOT_FOUND = new Set([10037, 10043]);
const READ_AHEAD_BYTES = 4 * 1024 * 1024;
const SILENCE_MS = 10_000;

/** An entry that a worker set aside. */
export interface DeadLetter {
  /** Names it in commands: its own place among the dead letters, from 1. */
  readonly id: number;
  /** Where the entry stands in the stream of conversations. */
  readonly sequence: number;
  readonly subject: string;
  readonly reason: string;
  /** When it was set aside, microseconds since 1970-01-01 UTC. */
  readonly setAsideAt: number;
  /** The entry's payload as it was. */
  readonly bytes: Uint8Array;
}

/**
 * Sets an entry that cannot be processed aside, with the reason. The entry stays in its stream too.
 * Setting the same entry aside again within two minutes stores nothing twice. Rejects when the server
 * cannot be reached.
 */
export async function setAside(
  connection: StreamConnection,
  entry: Delivered,
  reason: string,
): Promise<void> {
  const hdrs = headers();
  hdrs.set(DEAD_LETTER_HEADERS.sequence, String(entry.sequence));
  hdrs.set(DEAD_LETTER_HEADERS.subject, entry.subject);
  // Header values are one line of ASCII.
  hdrs.set(DEAD_LETTER_HEADERS.reason, reason.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_REASON_LENGTH));
  await jetstream(connection.nats).publish(DEAD_LETTERS_SUBJECT, entry.bytes, {
    headers: hdrs,
    msgID: `${entry.subject}:${entry.sequence}`,
  });
}

/** Every dead letter, oldest first. Throws when the server falls silent in between. */
export async function* readDeadLetters(connection: StreamConnection): AsyncGenerator<DeadLetter> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    if ((await manager.streams.info(DEAD_LETTERS_STREAM)).state.messages === 0) return;
  } catch (error) {
    if (codeOf(error) === STREAM_NOT_FOUND) return;
    throw error;
  }
  const reader = new LogReader(connection, {
    stream: DEAD_LETTERS_STREAM,
    filterSubjects: [DEAD_LETTERS_SUBJECT],
    startSequence: 1,
    readAheadBytes: READ_AHEAD_BYTES,
  });
  try {
    let pending = await reader.opened;
    while (pending > 0) {
      const entries = await reader.take({ maxMessages: 100, maxBytes: READ_AHEAD_BYTES, waitMs: SILENCE_MS });
      if (entries.length === 0) throw new Error('NATS fell silent while the dead letters were read');
      for (const entry of entries) {
        pending = entry.pending;
        yield {
          id: entry.sequence,
          sequence: Number(entry.header(DEAD_LETTER_HEADERS.sequence)),
          subject: entry.header(DEAD_LETTER_HEADERS.subject),
          reason: entry.header(DEAD_LETTER_HEADERS.reason),
          setAsideAt: entry.timestamp,
          bytes: entry.bytes,
        };
      }
    }
  } finally {
    await reader.close();
  }
}

/** One dead letter; null when there is none with the id. */
export async function findDeadLetter(connection: StreamConnection, id: number): Promise<DeadLetter | null> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    const stored = await manager.streams.getMessage(DEAD_LETTERS_STREAM, { seq: id });
    if (stored === null) return null;
    return {
      id: stored.seq,
      sequence: Number(stored.header.get(DEAD_LETTER_HEADERS.sequence)),
      subject: stored.header.get(DEAD_LETTER_HEADERS.subject),
      reason: stored.header.get(DEAD_LETTER_HEADERS.reason),
      setAsideAt: stored.time.getTime() * 1000,
      bytes: stored.data,
    };
  } catch (error) {
    const code = codeOf(error);
    if (code === STREAM_NOT_FOUND || MESSAGE_NOT_FOUND.has(code)) return null;
    throw error;
  }
}

/**
 * Puts a dead letter's entry on the stream again, as a new one, and deletes the letter. What was counted of
 * it is not counted again: the requests in it keep their ids. When it fails again, a worker sets it aside
 * again, as a new letter. A crash in between loses nothing: the letter is deleted last.
 *
 * @returns the sequence of the new entry
 * @throws SetupError when the letter does not say where it came from
 */
export async function replayDeadLetter(connection: StreamConnection, letter: DeadLetter): Promise<number> {
  const subjects = Array.from({ length: PARTITIONS }, (_, partition) => conversationsSubject(partition));
  if (!subjects.includes(letter.subject)) {
    throw new SetupError(
      `Dead letter ${letter.id} does not name the subject that it came from ("${letter.subject}"): it cannot be replayed.`,
    );
  }
  const { seq } = await whileConnected(connection, () =>
    jetstream(connection.nats).publish(letter.subject, letter.bytes, {
      msgID: `dead-letter:${letter.id}:${letter.setAsideAt}`,
    }),
  );
  await removeDeadLetter(connection, letter.id);
  return seq;
}

/** Deletes a dead letter; the entry itself stays in its stream. False when there is none with the id. */
export async function removeDeadLetter(connection: StreamConnection, id: number): Promise<boolean> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    return await manager.streams.deleteMessage(DEAD_LETTERS_STREAM, id, false);
  } catch (error) {
    const code = codeOf(error);
    if (code === STREAM_NOT_FOUND || MESSAGE_NOT_FOUND.has(code)) return false;
    throw error;
  }
}

function codeOf(error: unknown): number {
  return error instanceof JetStreamApiError ? error.code : 0;
}
