/**
 * A worker that counts as fast as messages come leaves a build beside it too little of a busy machine to ever catch up:
 * for some seconds it takes up nothing new, so that the build takes its place. Covered by test/cli/rebuild.test.ts.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './epochs.ts';

/** Nobody waits longer for whoever asked, milliseconds: it may have ended. */
const LONGEST_MS = 10_000;

/** Whoever works on the live views is to take up nothing until an instant, milliseconds since 1970-01-01 UTC. */
export function requestPause(dataDir: string, until: number): void {
  replaceFile(pauseFile(dataDir), String(until));
}

export function endPause(dataDir: string): void {
  rmSync(pauseFile(dataDir), { force: true });
}

/** Whether somebody asked for it, and the time is not over. */
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
