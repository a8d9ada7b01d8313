/**
 * Callers that wait until a shard has reached a sequence. One check serves all of them.
 *
 * Test: test/store/published/position-waiters.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Pause between two checks, milliseconds. */
const LOOK_MS = 10;

interface Waiter {
  readonly instanceId: string | undefined;
  readonly sequence: number;
  readonly deadline: number;
  readonly resolve: (reached: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** The waiting callers of one shard. */
export class PositionWaiters {
  readonly #look: () => Promise<(instanceId?: string) => number>;
  readonly #waiting = new Set<Waiter>();
  #looking = false;

  /**
   * `look` returns a function for the sequence up to which the shard is complete, for an instance (UUID) or for all.
   */
  constructor(look: () => Promise<(instanceId?: string) => number>) {
    this.#look = look;
  }

  /** Resolves to true when `sequence` is reached, to false after `timeoutMs`. Rejects when `look` does. */
  waitFor(sequence: number, timeoutMs: number, instanceId?: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + timeoutMs;
      this.#waiting.add({ instanceId, sequence, deadline, resolve, reject });
      if (!this.#looking) void this.#lookForAll();
    });
  }

  async #lookForAll(): Promise<void> {
    this.#looking = true;
    while (this.#waiting.size > 0) {
      try {
        const asking = new Set(this.#waiting);
        const reachedOf = await this.#look();
        const now = performance.now();
        for (const waiter of this.#waiting) {
          // A waiter that came during this check gets at least one full check.
          const reached = reachedOf(waiter.instanceId);
          const isLate = now >= waiter.deadline && asking.has(waiter);
          if (reached < waiter.sequence && !isLate) continue;
          this.#waiting.delete(waiter);
          waiter.resolve(reached >= waiter.sequence);
        }
      } catch (error) {
        for (const waiter of this.#waiting) waiter.reject(error);
        this.#waiting.clear();
      }
      if (this.#waiting.size > 0) await sleep(LOOK_MS);
    }
    this.#looking = false;
  }
}
