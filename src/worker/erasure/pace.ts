/**
 * Work that others should not feel: it rests, so that it is busy for at most a share of the time. Covered by
 * test/worker/erasure/pace.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds of work between two rests: short beside what a request may take. */
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
 * Call the function between two pieces of work: it resolves at once, or after a rest as long as `share`, above 0 and at
 * most 1, demands. It rejects when `signal` aborts during a rest.
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
