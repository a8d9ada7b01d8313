/**
 * Queries that wait for a stream position. Each caller has a bounded share of the places, so no caller blocks the
 * others.
 *
 * Test: test/query/position-waits.test.ts.
 */
import { Turns } from '../domain/turns.ts';
import { unavailable, type AppError } from '../errors.ts';

export interface PositionWaitsOptions {
  /** Limit of concurrent waits over all callers. */
  readonly most: number;
  /** Returns true if the stream has issued a position; rejects when that is unknown. */
  readonly isIssued: (position: number) => Promise<boolean>;
}

/** A caller may have 1/SHARE of the places, and as many more in the queue. */
const SHARE = 4;

/** A position counts as issued if the stream does not answer within this time, milliseconds. */
const ISSUED_WITHIN_MS = 2000;

export class PositionWaits {
  readonly #options: PositionWaitsOptions;
  readonly #turns: Turns;

  constructor(options: PositionWaitsOptions) {
    const share = Math.max(1, Math.floor(options.most / SHARE));
    this.#options = options;
    this.#turns = new Turns({
      most: options.most,
      mostPerCaller: share,
      waitingPerCaller: { most: share, refusal: () => tooManyWaits(2 * share) },
    });
  }

  /**
   * Waits for a position at most `timeoutMs`; returns true once it is reached. `reaches(ms)` waits that long; 0 only
   * checks. Returns false early for a position that the stream has not issued. Throws AppError SERVICE_UNAVAILABLE
   * when the caller has too many waits already.
   */
  async wait(
    caller: string,
    position: number,
    timeoutMs: number,
    reaches: (ms: number) => Promise<boolean>,
  ): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    const left = (): number => Math.max(deadline - performance.now(), 0);
    if (await reaches(0)) return true;
    if (!(await this.#mayCome(position, Math.min(left(), ISSUED_WITHIN_MS)))) return false;
    // A wait that is still queued at its deadline checks once more.
    const inTime = after(left(), () => reaches(0));
    try {
      return await Promise.race([this.#turns.run(caller, () => reaches(left())), inTime.result]);
    } finally {
      inTime.cancel();
    }
  }

  /** Returns false only if the stream is known to be shorter. */
  async #mayCome(position: number, ms: number): Promise<boolean> {
    const inTime = after(ms, async () => true);
    try {
      return await Promise.race([this.#options.isIssued(position), inTime.result]);
    } catch {
      return true;
    } finally {
      inTime.cancel();
    }
  }
}

/** Runs work after a delay, unless it is cancelled. */
function after<T>(ms: number, work: () => Promise<T>): { readonly result: Promise<T>; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(work()), ms);
  return { result: promise, cancel: () => clearTimeout(timer) };
}

function tooManyWaits(most: number): AppError {
  return unavailable(
    `${most} queries of this project wait for a position already. Try again in a moment, or leave ` +
      'X-Wait-For-Position out.',
  );
}
