import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../stream/ledgers/guarded-bucket.ts';

export interface CatchUpOptions {
  /** The revision of the newest write, as the server has it; 0 when there is none. */
  readonly newest: () => Promise<number>;
  /** From one question for the newest write to the next, at least. Default 50 ms. */
  readonly pauseMs?: number;
  /** How long the watch may lag. Default 1 s. */
  readonly timeoutMs?: number;
}

const PAUSE_MS = 50;
const TIMEOUT_MS = 1000;

/**
 * Lets callers wait until memory holds what had been written when they asked. One question to the server serves
 * all who wait for it, so their number does not decide how often it is asked.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;
  #told = 0;
  readonly #lagging = new Set<() => void>();
  /** The round that has not asked yet: whoever comes now may share it. */
  #next: Promise<void> | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** The watch has told a write, and all before it. */
  told(revision: number): void {
    this.#told = Math.max(this.#told, revision);
    for (const wake of this.#lagging) wake();
  }

  /** The watch starts over. */
  reset(): void {
    this.#told = 0;
  }

  /** Throws AppError SERVICE_UNAVAILABLE when the server cannot be asked or the watch lags too far behind. */
  done(): Promise<void> {
    this.#next ??= this.#round();
    return this.#next;
  }

  async #round(): Promise<void> {
    const pause = this.#askedAt + (this.#options.pauseMs ?? PAUSE_MS) - performance.now();
    // Never at once: `#next` has to be this round first.
    await (pause > 0 ? sleep(pause) : Promise.resolve());
    this.#askedAt = performance.now();
    this.#next = null;
    const newest = await this.#options.newest();
    const deadline = performance.now() + (this.#options.timeoutMs ?? TIMEOUT_MS);
    while (this.#told < newest) {
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
