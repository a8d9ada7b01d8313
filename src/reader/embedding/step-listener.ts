/**
 * The interface by which an analysis reports its steps as they begin, so that a watchdog can tell long work from a
 * hang. Keeps the invariant that no finding depends on it.
 *
 * Test: test/reader/threads/pool.test.ts.
 */
export interface StepListener {
  /** Work on one text begins; `place` is its index among those given. It takes milliseconds, whatever the text. */
  onText(place: number): void;
  /** Work on several texts or none begins: a run of the model, a grouping. It may take long. */
  onShared(): void;
}

/** A listener that ignores every step. */
export const UNWATCHED: StepListener = { onText: () => undefined, onShared: () => undefined };
