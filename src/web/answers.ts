/**
 * Limits the memory of responses that clients do not read: each caller has a share, and slow readers are disconnected.
 *
 * Test: test/web/unread-answers.test.ts.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { addressOf } from './address.ts';
import type { DropLog } from './connections.ts';
import { ByteBudget, type HeldBytes } from './held-bytes.ts';

/** The minimum rate at which a client must read. */
export interface ReadingRate {
  readonly bytesPerSecond: number;
  /** Extra time for any part of a response, milliseconds. */
  readonly graceMs: number;
  /** Interval of checks, milliseconds. */
  readonly checkMs: number;
}

export interface AnswerLimits {
  /** Limit of unread responses over all callers, bytes. */
  readonly unreadBytes: number;
  /** A larger response counts as this size, so that a caller without unread responses gets it. Bytes. */
  readonly largestCounted: number;
  readonly readingRate: ReadingRate;
}

export const READING_RATE: ReadingRate = { bytesPerSecond: 8 * 1024, graceMs: 30_000, checkMs: 1000 };

/** Smaller responses are always sent, so that a refusal is, too. Bytes. */
const ALWAYS_GIVEN = 4 * 1024;

const UNREAD =
  'Too many answers wait to be read. Read those of your other requests, or ask for fewer rows, then try again.';

interface Unread {
  /** Unread bytes of the response; 0 while it waits for the server. */
  bytes: number;
  /** Deadline for reading them, milliseconds of the watch's own clock. */
  deadline: number;
}

/** Adds the limits to an app. */
export function limitAnswers(app: FastifyInstance, limits: AnswerLimits, drops: DropLog): void {
  const { unreadBytes: all, largestCounted: largest } = limits;
  const budget = new ByteBudget({ largest, all, refusal: UNREAD });
  const watch = createReadingWatch(limits.readingRate, () => drops.dropped('slow-reader'));

  app.addHook('onSend', async (request, reply, payload) => {
    // After the caller has gone, nothing would release its bytes.
    if (reply.raw.closed) return payload;
    if (payload instanceof Readable) watch(reply.raw);
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const bytes = Buffer.byteLength(payload);
    if (bytes <= ALWAYS_GIVEN) return payload;
    const held: HeldBytes = { bytes: 0, caller: request.held.caller || addressOf(request) };
    budget.hold(held, Math.min(bytes, largest));
    reply.raw.once('close', () => budget.release(held));
    watch(reply.raw);
    // A buffer is outside of the heap while it waits.
    return typeof payload === 'string' ? Buffer.from(payload) : payload;
  });
}

/**
 * Returns a function that watches a response and disconnects its client if it reads too slowly. One timer serves all.
 */
function createReadingWatch(
  { bytesPerSecond, graceMs, checkMs }: ReadingRate,
  onSlow: () => void,
): (answer: ServerResponse) => void {
  const watched = new Map<ServerResponse, Unread>();
  // This clock stops while the process is paused, so that clients are not charged for the pause.
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
