/** Covered by test/cli/dead-letters.test.ts and test/stream/log/consumer.test.ts. */
import { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { SetupError } from '../../errors.ts';
import { whileConnected, type StreamConnection } from '../connection.ts';
import type { Delivered } from '../log/consumer.ts';
import { LogReader } from '../log/log-reader.ts';
import { eraseMessage } from '../log/redacted-entries.ts';
import {
  conversationsSubject,
  DEAD_LETTERS_STREAM,
  DEAD_LETTERS_SUBJECT,
  MESSAGE_NOTES_SUBJECT,
  PARTITIONS,
} from '../subjects.ts';

/** Headers of a dead letter; its body is the entry's payload as it was. */
export const DEAD_LETTER_HEADERS = {
  sequence: 'Undertone-Sequence',
  subject: 'Undertone-Subject',
  reason: 'Undertone-Reason',
  /** Of a note on one message: the request's id, and the message's place in it, from 0. */
  request: 'Undertone-Request',
  message: 'Undertone-Message',
} as const;

const MAX_REASON_LENGTH = 500;
/** JetStream error codes: no such stream; no such message (two of them). */
const STREAM_NOT_FOUND = 10059;
const MESSAGE_NOT_FOUND = new Set([10037, 10043]);
const READ_AHEAD_BYTES = 4 * 1024 * 1024;
const SILENCE_MS = 10_000;

/** A message of a request: its place in it, from 0. */
export interface MessageName {
  readonly requestId: string;
  readonly index: number;
}

/** An entry that a worker dead-lettered, or a note on one message of an entry that it counted. */
export interface DeadLetter {
  /** Names it in commands: its own place among the dead letters, from 1. */
  readonly id: number;
  /** Where the entry stands in the stream of conversations. */
  readonly sequence: number;
  readonly subject: string;
  readonly reason: string;
  /** When it was dead-lettered, microseconds since 1970-01-01 UTC. */
  readonly setAsideAt: number;
  /** The message that counts without findings; null: the entry, or a part of it, is not counted. */
  readonly message: MessageName | null;
  /** The entry's payload as it was; of a note, a record of that message alone. */
  readonly bytes: Uint8Array;
}

/**
 * Dead-letters an entry that cannot be processed, with the reason. The entry stays in its stream, too. Doing so
 * again for the same entry within two minutes stores nothing twice. Rejects when the server cannot be reached.
 */
export async function deadLetter(
  connection: StreamConnection,
  entry: Delivered,
  reason: string,
): Promise<void> {
  await jetstream(connection.nats).publish(DEAD_LETTERS_SUBJECT, entry.bytes, {
    headers: headersOf(entry, reason),
    msgID: `${entry.subject}:${entry.sequence}`,
  });
}

/**
 * Notes that a message counts without findings, with the reason; resolves once the note is stored. Noting the same
 * message again within two minutes stores nothing twice. Rejects when the server cannot be reached.
 */
export async function noteMessage(
  connection: StreamConnection,
  entry: Pick<Delivered, 'sequence' | 'subject'>,
  { requestId, index }: MessageName,
  reason: string,
  bytes: Uint8Array,
): Promise<void> {
  const hdrs = headersOf(entry, reason);
  hdrs.set(DEAD_LETTER_HEADERS.request, oneLine(requestId));
  hdrs.set(DEAD_LETTER_HEADERS.message, String(index));
  await jetstream(connection.nats).publish(MESSAGE_NOTES_SUBJECT, bytes, {
    headers: hdrs,
    msgID: `note:${requestId}:${index}`,
  });
}

function headersOf({ sequence, subject }: Pick<Delivered, 'sequence' | 'subject'>, reason: string): MsgHdrs {
  const hdrs = headers();
  hdrs.set(DEAD_LETTER_HEADERS.sequence, String(sequence));
  hdrs.set(DEAD_LETTER_HEADERS.subject, subject);
  hdrs.set(DEAD_LETTER_HEADERS.reason, oneLine(reason).slice(0, MAX_REASON_LENGTH));
  return hdrs;
}

/** Header values are one line of ASCII. */
function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ');
}

/** Every dead letter, or every note on a message, oldest first. Throws when the server falls silent in between. */
export async function* readDeadLetters(
  connection: StreamConnection,
  subject?: typeof MESSAGE_NOTES_SUBJECT,
): AsyncGenerator<DeadLetter> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    const wanted = subject ?? '>';
    const { state } = await manager.streams.info(DEAD_LETTERS_STREAM, { subjects_filter: wanted });
    // What an earlier version made has no notes.
    if (Object.keys(state.subjects ?? {}).length === 0) return;
  } catch (error) {
    if (codeOf(error) === STREAM_NOT_FOUND) return;
    throw error;
  }
  const reader = new LogReader(connection, {
    stream: DEAD_LETTERS_STREAM,
    filterSubjects: [subject ?? '>'],
    startSequence: 1,
    readAheadBytes: READ_AHEAD_BYTES,
  });
  try {
    await reader.opened;
    while (!reader.isThrough) {
      const entries = await reader.take({ maxMessages: 100, maxBytes: READ_AHEAD_BYTES, waitMs: SILENCE_MS });
      if (entries.length === 0 && !reader.isThrough)
        throw new Error('NATS fell silent while the dead letters were read');
      for (const entry of entries) {
        yield {
          id: entry.sequence,
          sequence: Number(entry.header(DEAD_LETTER_HEADERS.sequence)),
          subject: entry.header(DEAD_LETTER_HEADERS.subject),
          reason: entry.header(DEAD_LETTER_HEADERS.reason),
          setAsideAt: entry.timestamp,
          message: messageOf((name) => entry.header(name)),
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
      message: messageOf((name) => stored.header.get(name)),
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
 * it is not counted again: the requests in it keep their ids. When it fails again, a worker
 * dead-letters it again, as a new letter. A crash in between loses nothing: the letter is deleted last.
 *
 * @returns the sequence of the new entry
 * @throws SetupError when the letter does not say where it came from, or is a note on a message that was counted
 */
export async function replayDeadLetter(connection: StreamConnection, letter: DeadLetter): Promise<number> {
  if (letter.message !== null) {
    throw new SetupError(
      `Dead letter ${letter.id} is a note on a message that is counted already: there is nothing to replay.`,
    );
  }
  const subjects = Array.from({ length: PARTITIONS }, (_, partition) => conversationsSubject(partition));
  if (!subjects.includes(letter.subject)) {
    throw new SetupError(
      `Dead letter ${letter.id} does not name the subject that it came from ("${letter.subject}"): it cannot ` +
        'be replayed.',
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

/**
 * Puts a letter with another payload in the place of one, which goes out of its file as well; null: only that. The new
 * one has an id of its own.
 */
export async function replaceDeadLetter(
  connection: StreamConnection,
  letter: DeadLetter,
  bytes: Uint8Array | null,
): Promise<void> {
  if (bytes !== null) {
    const hdrs = headersOf(letter, letter.reason);
    await whileConnected(connection, () =>
      jetstream(connection.nats).publish(DEAD_LETTERS_SUBJECT, bytes, { headers: hdrs }),
    );
  }
  await removeDeadLetter(connection, letter.id);
}

/**
 * Deletes a dead letter, also from its file; the entry itself stays in its stream. False when there is none with the
 * id.
 */
export async function removeDeadLetter(connection: StreamConnection, id: number): Promise<boolean> {
  try {
    return await eraseMessage(connection, DEAD_LETTERS_STREAM, id);
  } catch (error) {
    if (codeOf(error) === STREAM_NOT_FOUND) return false;
    throw error;
  }
}

function messageOf(header: (name: string) => string): MessageName | null {
  const [requestId, index] = [header(DEAD_LETTER_HEADERS.request), header(DEAD_LETTER_HEADERS.message)];
  return requestId === '' || !/^\d{1,9}$/.test(index) ? null : { requestId, index: Number(index) };
}

function codeOf(error: unknown): number {
  return error instanceof JetStreamApiError ? error.code : 0;
}
