/**
 * Told of each step of an analysis as it begins, so that whoever waits for it can tell work that is long from
 * work that hangs. What is found does not depend on it.
 * Covered by test/reader/threads/pool.test.ts.
 */
export interface StepListener {
  /** Work on one text begins: its place among those given. It takes milliseconds, whatever the text says. */
  onText(place: number): void;
  /** Work on many texts together, or on none of them, begins: a run of the model, a grouping. It may take long. */
  onShared(): void;
}

/** For callers who do not watch. */
export const UNWATCHED: StepListener = { onText: () => undefined, onShared: () => undefined };
