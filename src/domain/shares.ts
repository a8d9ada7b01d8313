/**
 * Divides a limited amount between callers (projects), and always keeps some free for a new caller.
 *
 * Test: test/domain/shares.test.ts.
 */

/**
 * A caller that holds something may not hold more than what stays free. A single caller gets half; three callers with
 * unlimited demand get a quarter each.
 */
export class Shares {
  readonly #all: number;
  /** Amount held by each caller. */
  readonly #byCaller = new Map<string, number>();
  #held = 0;

  constructor(all: number) {
    this.#all = all;
  }

  /** Amount held by all callers. */
  get held(): number {
    return this.#held;
  }

  /**
   * Returns true if the caller may take `amount` more for an item that holds `own` already. A caller's only item may
   * take all that is free; if nobody else holds anything, it may exceed the total.
   */
  fits(caller: string, amount: number, own = 0): boolean {
    if (this.#held === own) return true;
    const free = this.#all - this.#held - amount;
    const ofCaller = this.#byCaller.get(caller) ?? 0;
    return free >= 0 && (ofCaller === own || ofCaller + amount <= free);
  }

  take(caller: string, amount: number): void {
    this.#held += amount;
    const ofCaller = (this.#byCaller.get(caller) ?? 0) + amount;
    if (ofCaller === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, ofCaller);
  }

  giveBack(caller: string, amount: number): void {
    this.take(caller, -amount);
  }
}
