/**
 * Reads messages and comments of feedback back from the stream, the only place that stores their text.
 *
 * Test: test/stream/log/message-texts.test.ts.
 */
import { jetstreamManager, JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream';
import type { FeedbackPlace } from '../../domain/feedback.ts';
import { POSITIONS_PER_ENTRY, type RecordedMessage, type RecordedRequest } from '../../domain/records.ts';
import { unavailable } from '../../errors.ts';
import { whileConnected, type StreamConnection } from '../connection.ts';
import { CONVERSATIONS_STREAM } from '../subjects.ts';
import { DecodeError, decodeRecord } from './codec.ts';
import { findRedacted } from './redacted-entries.ts';

/**
 * The reason why a message cannot be read. `EXPIRED`: its text was older than the retention. `DELETED`: its entry alone
 * was deleted. `ERASED`: by request. `UNREADABLE`: its entry cannot be decoded.
 */
export type GoneReason = 'EXPIRED' | 'DELETED' | 'ERASED' | 'UNREADABLE';

/** A message as it was accepted, or the reason why it is gone. */
export type ReadMessage = { readonly message: RecordedMessage } | { readonly gone: GoneReason };

/** JetStream error codes for a missing message; there are two. */
const MESSAGE_NOT_FOUND: ReadonlySet<number> = new Set([10037, 10043]);
/** Entries that one caller reads at a time: each may be as large as a message of the server. */
const AT_ONCE = 8;
/** Entries at a time while none is larger than SMALL, bytes. */
const SMALL_AT_ONCE = 48;
const SMALL = 64 * 1024;
const RIDE_OUT_MS = 2000;
const ANSWER_MS = 5000;

/** Reads messages by position, and comments of feedback. */
export class MessageTexts {
  readonly #connection: () => StreamConnection;

  /** @param connection throws while there is none */
  constructor(connection: () => StreamConnection) {
    this.#connection = connection;
  }

  /** The messages at these positions. Throws AppError SERVICE_UNAVAILABLE while the stream cannot be read. */
  async read(positions: readonly number[]): Promise<ReadonlyMap<number, ReadMessage>> {
    const found = new Map<number, ReadMessage>();
    await this.each(positions, (position, read) => found.set(position, read));
    return found;
  }

  /** Like `read`, but reports each message as soon as its entry is read, and keeps nothing of an entry afterwards. */
  async each(
    positions: readonly number[],
    hear: (position: number, read: ReadMessage) => void,
  ): Promise<void> {
    await this.#each(
      positions,
      (position) => position,
      (position, { messageAt }) => hear(position, messageAt(position % POSITIONS_PER_ENTRY)),
    );
  }

  /**
   * The comments of these pieces of feedback, in their order; null: none, or the stream holds it no longer. Throws as
   * `read`.
   */
  async comments(feedback: readonly FeedbackPlace[]): Promise<readonly (string | null)[]> {
    const found = new Map<FeedbackPlace, string | null>();
    await this.#each(
      feedback,
      ({ position }) => position,
      (piece, { commentAt }) => found.set(piece, commentAt(piece.place)),
    );
    return feedback.map((piece) => found.get(piece) ?? null);
  }

  /** Reads the entry of each wanted thing, which `positionIn` places, and calls `hear` while it holds the entry. */
  async #each<Wanted>(
    all: readonly Wanted[],
    positionIn: (wanted: Wanted) => number,
    hear: (wanted: Wanted, entry: ReadEntry) => void,
  ): Promise<void> {
    const bySequence = Map.groupBy(all, (one) => Math.floor(positionIn(one) / POSITIONS_PER_ENTRY));
    if (bySequence.size === 0) return;
    const connection = this.#connection();
    try {
      if (!(await connection.whenConnected(RIDE_OUT_MS))) throw new Error('NATS cannot be reached');
      const manager = await jetstreamManager(connection.nats, { checkAPI: false, timeout: ANSWER_MS });
      // Asked at most once, and only when an entry is missing.
      const firstSequence = once(async () =>
        whileConnected(
          connection,
          async () => (await manager.streams.info(CONVERSATIONS_STREAM)).state.first_seq,
        ),
      );
      const waiting = [...bySequence].values();
      let workers = AT_ONCE;
      const work = async (): Promise<void> => {
        const others: Promise<void>[] = [];
        for (const [sequence, wanted] of waiting) {
          const entry = await readEntry(connection, manager, sequence, firstSequence);
          const { bytes } = entry;
          for (const one of wanted) hear(one, entry);
          if (bytes > SMALL && workers > AT_ONCE) {
            workers -= 1;
            break;
          }
          if (bytes > SMALL || workers >= SMALL_AT_ONCE) continue;
          workers += 1;
          const other = work();
          other.catch(() => undefined);
          others.push(other);
        }
        await Promise.all(others);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } catch (cause) {
      throw unavailable('The stream, which holds the texts, cannot be read now.', { cause });
    }
  }
}

interface ReadEntry {
  /** Size of the stored payload. */
  readonly bytes: number;
  /** Returns the message at an index. */
  readonly messageAt: (index: number) => ReadMessage;
  /** Returns the comment of the feedback that the request at a place holds; null: none. */
  readonly commentAt: (place: number) => string | null;
}

async function readEntry(
  connection: StreamConnection,
  manager: JetStreamManager,
  sequence: number,
  firstSequence: () => Promise<number>,
): Promise<ReadEntry> {
  const bytes =
    (await whileConnected(connection, () => payloadOf(manager, sequence))) ??
    (await findRedacted(connection, sequence))?.bytes ??
    null;
  if (bytes === null) {
    const gone = sequence < (await firstSequence()) ? 'EXPIRED' : 'DELETED';
    return { bytes: 0, messageAt: () => ({ gone }), commentAt: () => null };
  }
  const requests = requestsIn(bytes);
  const messages = requests.flatMap((request) => request.messages);
  const messageAt = (index: number): ReadMessage => {
    const message = messages[index];
    if (message === undefined) return { gone: 'UNREADABLE' };
    if (message.erased === true) return { gone: 'ERASED' };
    return message.expired === true ? { gone: 'EXPIRED' } : { message };
  };
  const commentAt = (place: number): string | null => requests[place]?.feedback?.comment ?? null;
  return { bytes: bytes.length, messageAt, commentAt };
}

/** Calls `ask` at the first call, and returns the same result later. */
function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let asked: Promise<Value> | null = null;
  return () => (asked ??= ask());
}

/** Null if the stream does not hold the entry. */
async function payloadOf(manager: JetStreamManager, sequence: number): Promise<Uint8Array | null> {
  try {
    return (await manager.streams.getMessage(CONVERSATIONS_STREAM, { seq: sequence }))?.data ?? null;
  } catch (error) {
    if (error instanceof JetStreamApiError && MESSAGE_NOT_FOUND.has(error.code)) return null;
    throw error;
  }
}

/** The requests of an entry in order; empty if it cannot be decoded. */
function requestsIn(payload: Uint8Array): readonly RecordedRequest[] {
  try {
    return decodeRecord(payload).requests;
  } catch (error) {
    if (error instanceof DecodeError) return [];
    throw error;
  }
}
