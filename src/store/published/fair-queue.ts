/** A queue for something scarce. Callers take turns, so one caller with many requests delays no other. */
export class FairQueue<T> {
  /** The first caller is next. */
  readonly #lanes = new Map<string, ((given: T) => void)[]>();

  wait(caller: string): Promise<T> {
    return new Promise((resolve) => {
      const lane = this.#lanes.get(caller);
      if (lane === undefined) this.#lanes.set(caller, [resolve]);
      else lane.push(resolve);
    });
  }

  /** Gives the item to the next caller; false when nobody waits. */
  give(item: T): boolean {
    for (const [caller, lane] of this.#lanes) {
      const next = lane.shift();
      this.#lanes.delete(caller);
      if (lane.length > 0) this.#lanes.set(caller, lane);
      if (next === undefined) continue;
      next(item);
      return true;
    }
    return false;
  }
}
