/** Counts how much is done in one round of the event loop: what somebody who comes in meanwhile waits for. */
export interface Rounds {
  /** Something was done. */
  count(): void;
  /** The most that was done in one round so far. */
  readonly most: number;
  stop(): void;
}

export function watchRounds(): Rounds {
  let [inRound, most] = [0, 0];
  const next = (): void => {
    inRound = 0;
    timer = setImmediate(next);
  };
  let timer = setImmediate(next);
  return {
    count() {
      inRound += 1;
      most = Math.max(most, inRound);
    },
    get most() {
      return most;
    },
    stop: () => clearImmediate(timer),
  };
}
