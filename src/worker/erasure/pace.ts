/**
 * Limits the share of time in which background work is busy, by rests in between.
 *
 * Test: test/worker/erasure/pace.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of work between two rests; short compared with a request. */
const WORK_MS = 50;

export interface PaceParts {
  /** Milliseconds since any instant. */
  readonly clock: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

const SYSTEM: PaceParts = {
  clock: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

/**
 * Returns a function to call between two pieces of work. It resolves at once, or after the rest that `share` (above 0,
 * at most 1) requires. It rejects when `signal` aborts during a rest.
 */
export function createPace(
  share: number,
  signal: AbortSignal,
  { clock, sleep: rest }: PaceParts = SYSTEM,
): () => Promise<void> {
  let since = clock();
  return async () => {
    const worked = clock() - since;
    if (worked < WORK_MS) return;
    await rest(worked * (1 / share - 1), signal);
    since = clock();
  };
}
