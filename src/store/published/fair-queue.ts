/** Those who wait for something scarce, by caller. Callers take turns, so one with many requests delays nobody else. */
export class FairQueue<T> {
  /** The caller whose turn it is comes first. */
  readonly #lanes = new Map<string, ((given: T) => void)[]>();

  wait(caller: string): Promise<T> {
    return new Promise((resolve) => {
      const lane = this.#lanes.get(caller);
      if (lane === undefined) this.#lanes.set(caller, [resolve]);
      else lane.push(resolve);
    });
  }

  /** Gives to the next in turn; false when nobody waits. */
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
