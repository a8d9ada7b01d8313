/** Covered by test/query/position-waits.test.ts. */
import { Turns } from '../domain/turns.ts';
import { AppError } from '../errors.ts';

export interface PositionWaitsOptions {
  /** Waits at once, over all callers. */
  readonly most: number;
  /** Whether the stream has come to a position; rejects when nobody can say. */
  readonly isIssued: (position: number) => Promise<boolean>;
}

/** What part of all waits one caller may have; as many more wait in line. */
const SHARE = 4;

/** Whether a position is that of an entry has to be known in this time, else it is taken for one; milliseconds. */
const ISSUED_WITHIN_MS = 2000;

/** Queries that wait for a position of the stream. Each caller has a share of the places. */
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
   * Waits until a position is reached, at most `timeoutMs`; true when it is. `reaches` waits so many milliseconds for
   * it; 0: it only looks. Nobody waits for a position that the stream does not have. Throws AppError
   * SERVICE_UNAVAILABLE when too many of the caller's wait already.
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
    // Who stands in line to the end looks once more.
    const inTime = after(left(), () => reaches(0));
    try {
      return await Promise.race([this.#turns.run(caller, () => reaches(left())), inTime.result]);
    } finally {
      inTime.cancel();
    }
  }

  /** False only when the stream is known to be shorter. */
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

/** What work gives that is begun after so many milliseconds, unless it is cancelled. */
function after<T>(ms: number, work: () => Promise<T>): { readonly result: Promise<T>; cancel(): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(work()), ms);
  return { result: promise, cancel: () => clearTimeout(timer) };
}

function tooManyWaits(most: number): AppError {
  return new AppError(
    'SERVICE_UNAVAILABLE',
    `${most} queries of this project wait for a position already. Try again in a moment, or leave ` +
      'X-Wait-For-Position out.',
    { retryAfter: 1 },
  );
}
