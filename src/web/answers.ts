/** Covered by test/web/unread-answers.test.ts. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { addressOf } from './address.ts';
import type { DropLog } from './connections.ts';
import { ByteBudget, type HeldBytes } from './held-bytes.ts';

/** How fast an answer has to be read. */
export interface ReadingRate {
  readonly bytesPerSecond: number;
  /** So much longer may any part of it take, milliseconds. */
  readonly graceMs: number;
  /** How often answers are looked at, milliseconds. */
  readonly checkMs: number;
}

export interface AnswerLimits {
  /** Of answers that wait to be read, at once. */
  readonly unreadBytes: number;
  /** A larger answer counts as one of this size, so that it is given to whoever has no other unread. */
  readonly largestCounted: number;
  readonly readingRate: ReadingRate;
}

export const READING_RATE: ReadingRate = { bytesPerSecond: 8 * 1024, graceMs: 30_000, checkMs: 1000 };

/** An answer of this size is always given, so that a refusal can be. */
const ALWAYS_GIVEN = 4 * 1024;

const UNREAD =
  'Too many answers wait to be read. Read those of your other requests, or ask for fewer rows, then try again.';

interface Unread {
  /** Of the answer, that wait for the reader; 0: it waits for us. */
  bytes: number;
  /** When they have to be read, milliseconds of the watch's own clock. */
  deadline: number;
}

/**
 * Bounds what is kept for callers who do not read: each holds answers up to a share, and a connection on which an
 * answer is read too slowly is ended.
 */
export function limitAnswers(app: FastifyInstance, limits: AnswerLimits, drops: DropLog): void {
  const { unreadBytes: all, largestCounted: largest } = limits;
  const budget = new ByteBudget({ largest, all, refusal: UNREAD });
  const watch = createReadingWatch(limits.readingRate, () => drops.dropped('slow-reader'));

  app.addHook('onSend', async (request, reply, payload) => {
    // Its caller has gone; nothing would release what it holds.
    if (reply.raw.closed) return payload;
    if (payload instanceof Readable) watch(reply.raw);
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const bytes = Buffer.byteLength(payload);
    if (bytes <= ALWAYS_GIVEN) return payload;
    const held: HeldBytes = { bytes: 0, caller: request.held.caller || addressOf(request) };
    budget.hold(held, Math.min(bytes, largest));
    reply.raw.once('close', () => budget.release(held));
    watch(reply.raw);
    // Bytes wait outside of the heap.
    return typeof payload === 'string' ? Buffer.from(payload) : payload;
  });
}

/** Gives a function that ends the connection of an answer that is not read in time. One timer serves all. */
function createReadingWatch(
  { bytesPerSecond, graceMs, checkMs }: ReadingRate,
  onSlow: () => void,
): (answer: ServerResponse) => void {
  const watched = new Map<ServerResponse, Unread>();
  // It stands still while this process does, so that nobody pays for our own pauses.
  let now = 0;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    now += checkMs;
    for (const [answer, unread] of watched) {
      const bytes = answer.writableLength;
      if (unread.bytes === 0) unread.deadline = now + graceMs;
      unread.deadline += (Math.max(bytes - unread.bytes, 0) / bytesPerSecond) * 1000;
      unread.bytes = bytes;
      if (bytes === 0 || now <= unread.deadline) continue;
      watched.delete(answer);
      onSlow();
      answer.destroy();
    }
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return (answer) => {
    watched.set(answer, { bytes: 0, deadline: 0 });
    answer.once('close', () => watched.delete(answer));
    timer ??= setInterval(look, checkMs).unref();
  };
}
