/** Covered by test/web/sockets.test.ts. */
import { Shares } from '../domain/shares.ts';
import { AppError } from '../errors.ts';

/** Bytes of one request that count against the limits. */
export interface HeldBytes {
  bytes: number;
  /** Whose they are: the project, or the address of a request without a valid key. */
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

/** Counts the bytes that are held, over all requests and for each caller. */
export class ByteBudget {
  readonly #shares: Shares;
  readonly #refusal: string;

  constructor({ largest, all, refusal }: HeldLimits) {
    // One of a caller must always fit beside one of another, or it could never be accepted.
    this.#shares = new Shares(Math.max(all, 2 * largest));
    this.#refusal = refusal;
  }

  /** Holds so many more bytes, or fewer. Throws AppError SERVICE_UNAVAILABLE when there is no room. */
  hold(held: HeldBytes, bytes: number): void {
    if (bytes > 0 && !this.#shares.fits(held.caller, bytes, held.bytes)) {
      throw new AppError('SERVICE_UNAVAILABLE', this.#refusal, { retryAfter: 1 });
    }
    held.bytes += bytes;
    this.#shares.take(held.caller, bytes);
  }

  release(held: HeldBytes): void {
    this.hold(held, -held.bytes);
  }
}
