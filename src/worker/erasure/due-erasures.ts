/**
 * Tells what is left to do of erasures: those that wait for a run, and the views that predate a completed one. Imports
 * nothing that erases: each worker asks this once a second, and starts a process where there is work.
 *
 * Test: test/cli/erase.test.ts, test/e2e/erasure-rules.test.ts, test/architecture.test.ts.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Erasure } from '../../domain/erasures.ts';
import { epochsOn } from '../../store/epochs/epochs.ts';

/** Age from which an erasure without a place in the stream counts as left behind by a process that ended. */
const UNPLACED_MS = 60_000;

/** The views on this machine, live or kept, that were begun before a completed erasure. */
export function epochsBehind(dataDir: string, erasures: readonly Erasure[]): number[] {
  return epochsOn(dataDir).filter((epoch) => erasuresAfter(begunAt(dataDir, epoch), erasures).length > 0);
}

/** Milliseconds since 1970-01-01 UTC; Infinity if the views are gone or the file system has no birth times. */
export function begunAt(dataDir: string, epoch: number): number {
  const found = statSync(join(dataDir, 'views', String(epoch)), { throwIfNoEntry: false });
  return found?.birthtimeMs || Infinity;
}

/** The completed erasures that views begun at a time, milliseconds, still contain. */
export function erasuresAfter(time: number, erasures: readonly Erasure[]): Erasure[] {
  return erasures.filter(
    ({ state, requestedAt, redactedAt }) => state === 'DONE' && time < Date.parse(redactedAt ?? requestedAt),
  );
}

/** Returns true if an erasure can be worked on. A recent one without a place may still be on its way to the stream. */
export function isDue({ state, position, requestedAt }: Erasure, now: number): boolean {
  return state !== 'DONE' && (position > 0 || Date.parse(requestedAt) < now - UNPLACED_MS);
}
