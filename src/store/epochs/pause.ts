/**
 * Pauses the worker of the live views for some seconds. On a busy machine, a rebuild could otherwise never catch up
 * with a worker that counts as fast as messages arrive.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './epochs.ts';

/** Longest time that one request may ask for, milliseconds: the process that asked may have ended. */
const LONGEST_MS = 10_000;

/** Requests that the worker of the live views takes no entries until an instant, milliseconds since 1970-01-01 UTC. */
export function requestPause(dataDir: string, until: number): void {
  replaceFile(pauseFile(dataDir), String(until));
}

export function endPause(dataDir: string): void {
  rmSync(pauseFile(dataDir), { force: true });
}

/** Returns true during a requested pause. */
export function isPaused(dataDir: string, now: number): boolean {
  try {
    const until = Number(readFileSync(pauseFile(dataDir), 'utf8'));
    return now < until && until <= now + LONGEST_MS;
  } catch {
    return false;
  }
}

function pauseFile(dataDir: string): string {
  return join(dataDir, 'views', 'PAUSE');
}
