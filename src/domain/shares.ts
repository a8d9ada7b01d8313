/**
 * Room that callers (projects) share. One who holds something may not hold more than stays free: one alone gets half, of
 * three who want all that they can get each gets a quarter, and there is always room for whoever comes next.
 */
export class Shares {
  readonly #all: number;
  /** What is held, by caller. */
  readonly #byCaller = new Map<string, number>();
  #held = 0;

  constructor(all: number) {
    this.#all = all;
  }

  /** What all callers hold. */
  get held(): number {
    return this.#held;
  }

  /**
   * Whether a caller may take so much more, for a thing that holds `own` already. A caller's only thing may have what is
   * free, and where nobody holds anything else it may have more than all.
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
