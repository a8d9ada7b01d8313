/** Covered by test/http/sockets.test.ts. */
import { AppError } from '../errors.ts';

/** Bytes of one request that count against the limits. */
export interface HeldBytes {
  bytes: number;
  /** Whose they are: the key, or the address of a request without a valid one. */
  caller: string;
}

export interface HeldLimits {
  /** Of one of them. */
  readonly largest: number;
  /** Of all that are held at once. */
  readonly all: number;
  /** What the answer says when there is no room. */
  readonly refusal: string;
}

/** What a caller may hold of what all may hold, if that is more than one of the largest. */
const CALLERS_SHARE = 0.5;

/** Counts the bytes that are held, over all requests and for each caller. */
export class ByteBudget {
  readonly #allBytes: number;
  readonly #callerBytes: number;
  readonly #refusal: string;
  readonly #byCaller = new Map<string, number>();
  #held = 0;

  constructor({ largest, all, refusal }: HeldLimits) {
    // One of a caller must always fit beside one of another, or it could never be accepted.
    this.#allBytes = Math.max(all, 2 * largest);
    this.#callerBytes = Math.max(this.#allBytes * CALLERS_SHARE, largest);
    this.#refusal = refusal;
  }

  /** Holds so many more bytes, or fewer. Throws AppError SERVICE_UNAVAILABLE when there is no room. */
  hold(held: HeldBytes, bytes: number): void {
    const ofCaller = this.#byCaller.get(held.caller) ?? 0;
    if (bytes > 0 && (this.#held + bytes > this.#allBytes || ofCaller + bytes > this.#callerBytes)) {
      throw new AppError('SERVICE_UNAVAILABLE', this.#refusal, { retryAfter: 1 });
    }
    held.bytes += bytes;
    this.#held += bytes;
    if (ofCaller + bytes === 0) this.#byCaller.delete(held.caller);
    else this.#byCaller.set(held.caller, ofCaller + bytes);
  }

  release(held: HeldBytes): void {
    this.hold(held, -held.bytes);
  }
}
