/** Covered by test/ingest/turns.test.ts. */

/**
 * Lets a bounded number of things be done at a time; callers take turns, so that one with much does not hold up
 * another.
 */
export class Turns {
  readonly #waiting = new Map<string, (() => void)[]>();
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  /** Does the work when it is the caller's turn. */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    await this.#begin(caller);
    try {
      return await work();
    } finally {
      this.#end();
    }
  }

  async #begin(caller: string): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const others = this.#waiting.get(caller);
    if (others === undefined) this.#waiting.set(caller, [resolve]);
    else others.push(resolve);
    await promise;
  }

  /** Hands the place on to the caller who has waited longest since their last turn. */
  #end(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    const [caller, waiting] = next;
    const begin = waiting.shift();
    this.#waiting.delete(caller);
    if (waiting.length > 0) this.#waiting.set(caller, waiting);
    begin?.();
  }
}
