/**
 * Limits bytes in memory, over all requests and for each caller.
 *
 * Test: test/web/sockets.test.ts.
 */
import { Shares } from '../domain/shares.ts';
import { unavailable } from '../errors.ts';

/** Bytes that one request holds. */
export interface HeldBytes {
  bytes: number;
  /** The project, or the address of a request without a valid key. */
  caller: string;
}

export interface HeldLimits {
  /** Limit of one request. */
  readonly largest: number;
  /** Limit of all requests together. */
  readonly all: number;
  /** Error message at the limit. */
  readonly refusal: string;
}

export class ByteBudget {
  readonly #shares: Shares;
  readonly #refusal: string;

  constructor({ largest, all, refusal }: HeldLimits) {
    // The largest item of one caller must fit beside that of another, or it could never be accepted.
    this.#shares = new Shares(Math.max(all, 2 * largest));
    this.#refusal = refusal;
  }

  /** Holds `bytes` more, or fewer if negative. Throws AppError SERVICE_UNAVAILABLE at the limit. */
  hold(held: HeldBytes, bytes: number): void {
    if (bytes > 0 && !this.#shares.fits(held.caller, bytes, held.bytes)) throw unavailable(this.#refusal);
    held.bytes += bytes;
    this.#shares.take(held.caller, bytes);
  }

  release(held: HeldBytes): void {
    this.hold(held, -held.bytes);
  }
}
