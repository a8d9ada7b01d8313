/**
 * Dead letters, and notes on single messages that count without findings. A letter holds its whole entry; the entry
 * also stays in its stream.
 *
 * Test: test/cli/dead-letters.test.ts, test/stream/log/consumer.test.ts.
 */
import { jetstream, jetstreamManager, JetStreamApiError } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { SetupError } from '../../errors.ts';
import { storedSequence } from '../acknowledgement.ts';
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

/** Headers of a dead letter. Its body is the payload of the entry. */
export const DEAD_LETTER_HEADERS = {
  sequence: 'Undertone-Sequence',
  subject: 'Undertone-Subject',
  reason: 'Undertone-Reason',
  /** For a note on one message: the id of the request, and the index of the message in it. */
  request: 'Undertone-Request',
  message: 'Undertone-Message',
} as const;

const MAX_REASON_LENGTH = 500;
/** JetStream error codes: no such stream; no such message (two of them). */
const STREAM_NOT_FOUND = 10059;
const MESSAGE_NOT_FOUND = new Set([10037, 10043]);
const READ_AHEAD_BYTES = 4 * 1024 * 1024;
const SILENCE_MS = 10_000;

/** A message of a request, by its index from 0. */
export interface MessageName {
  readonly requestId: string;
  readonly index: number;
}

/** An entry that a worker dead-lettered, or a note on one message of an entry that counts. */
export interface DeadLetter {
  /** Sequence among the dead letters, from 1; commands use it as id. */
  readonly id: number;
  /** Sequence of the entry in the stream of conversations. */
  readonly sequence: number;
  readonly subject: string;
  readonly reason: string;
  /** When it was dead-lettered, microseconds since 1970-01-01 UTC. */
  readonly setAsideAt: number;
  /** The message that counts without findings; null: the entry, or a part of it, does not count. */
  readonly message: MessageName | null;
  /** The payload of the entry; for a note, a record of that message alone. */
  readonly bytes: Uint8Array;
}

/**
 * Dead-letters an entry with the reason; resolves once the letter is stored. A repetition for the same entry within two
 * minutes stores nothing. Rejects when the server cannot be reached, or may not have stored it.
 */
export async function deadLetter(
  connection: StreamConnection,
  entry: Delivered,
  reason: string,
): Promise<void> {
  const ack = await jetstream(connection.nats).publish(DEAD_LETTERS_SUBJECT, entry.bytes, {
    headers: headersOf(entry, reason),
    msgID: `${entry.subject}:${entry.sequence}`,
  });
  storedSequence(ack);
}

/**
 * Notes that a message counts without findings, with the reason; resolves once the note is stored. A repetition within
 * two minutes stores nothing. Rejects when the server cannot be reached, or may not have stored it.
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
  const ack = await jetstream(connection.nats).publish(MESSAGE_NOTES_SUBJECT, bytes, {
    headers: hdrs,
    msgID: `note:${requestId}:${index}`,
  });
  storedSequence(ack);
}

function headersOf({ sequence, subject }: Pick<Delivered, 'sequence' | 'subject'>, reason: string): MsgHdrs {
  const hdrs = headers();
  hdrs.set(DEAD_LETTER_HEADERS.sequence, String(sequence));
  hdrs.set(DEAD_LETTER_HEADERS.subject, subject);
  hdrs.set(DEAD_LETTER_HEADERS.reason, oneLine(reason).slice(0, MAX_REASON_LENGTH));
  return hdrs;
}

/** Replaces what a header value must not contain: it is one line of ASCII. */
function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ');
}

/** Yields all dead letters and notes, or only the notes, oldest first. Throws when the server stops answering. */
export async function* readDeadLetters(
  connection: StreamConnection,
  subject?: typeof MESSAGE_NOTES_SUBJECT,
): AsyncGenerator<DeadLetter> {
  const manager = await jetstreamManager(connection.nats, { checkAPI: false });
  try {
    const wanted = subject ?? '>';
    const { state } = await manager.streams.info(DEAD_LETTERS_STREAM, { subjects_filter: wanted });
    // A stream of an earlier version has no notes.
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

/** Finds one dead letter; null if there is none with the id. */
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
 * Publishes the entry of a dead letter as a new entry, and then deletes the letter, so that a crash loses nothing. Its
 * requests keep their ids, so those that were counted are not counted again. If the entry fails again, it becomes a new
 * letter.
 *
 * @returns the sequence of the new entry
 *
 * @throws SetupError when the letter does not name its subject, or is a note on a message that counts
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
  const ack = await whileConnected(connection, () =>
    jetstream(connection.nats).publish(letter.subject, letter.bytes, {
      msgID: `dead-letter:${letter.id}:${letter.setAsideAt}`,
    }),
  );
  const sequence = storedSequence(ack);
  await removeDeadLetter(connection, letter.id);
  return sequence;
}

/**
 * Replaces the payload of a letter, and erases the old one from the file, too; null: only erases it. The new letter has
 * another id.
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
 * Deletes a dead letter, also from its file; the entry stays in its stream. Returns false if there is none with the id.
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
