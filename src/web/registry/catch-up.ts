/**
 * Waits until the memory of this process has caught up with a bucket. All callers that wait share one request to the
 * server, so their number does not affect its load.
 *
 * Test: test/web/registry/catch-up.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../errors.ts';

export interface CatchUpOptions {
  /** Reads the revision of the newest write from the server; 0 without one. */
  readonly newest: () => Promise<number>;
  /** Minimum pause between two requests. Default 50 ms. */
  readonly pauseMs?: number;
  /** Limit of the watch's lag. Default 1 s. */
  readonly timeoutMs?: number;
}

const PAUSE_MS = 50;
const TIMEOUT_MS = 1000;

/** Waits for all writes that precede the call. */
export class CatchUp {
  readonly #options: CatchUpOptions;
  #delivered = 0;
  readonly #lagging = new Set<() => void>();
  /** The round that has not sent its request yet; new callers share it. */
  #next: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** Call when the watch has delivered a write; writes are delivered in order. */
  delivered(revision: number): void {
    this.#delivered = Math.max(this.#delivered, revision);
    for (const wake of this.#lagging) wake();
  }

  /** Call when the watch restarts. */
  reset(): void {
    this.#delivered = 0;
  }

  /** Throws AppError SERVICE_UNAVAILABLE when the server is unreachable or the watch lags too far behind. */
  done(): Promise<void> {
    this.#next ??= this.#round();
    return this.#next;
  }

  /** Returns what memory knows; undefined: not even after it has caught up. Throws as `done`. */
  async find<T>(known: () => T | undefined): Promise<T | undefined> {
    const found = known();
    if (found !== undefined) return found;
    await this.done();
    return known();
  }

  async #round(): Promise<void> {
    const pause = this.#askedAt + (this.#options.pauseMs ?? PAUSE_MS) - performance.now();
    // Always yields, so that `#next` is this round first.
    await (pause > 0 ? sleep(pause) : Promise.resolve());
    this.#askedAt = performance.now();
    this.#next = null;
    const newest = await this.#options.newest();
    const deadline = performance.now() + (this.#options.timeoutMs ?? TIMEOUT_MS);
    while (this.#delivered < newest) {
      const left = deadline - performance.now();
      if (left <= 0) throw unavailable('The registry lags behind. Try again.');
      await this.#wait(left);
    }
  }

  async #wait(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    this.#lagging.add(resolve);
    await promise;
    this.#lagging.delete(resolve);
    clearTimeout(timer);
  }
}
