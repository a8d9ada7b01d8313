/**
 * Runs work at the start of a process and every hour after it.
 *
 * Test: test/cli/backup-keys.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const HOUR_MS = 3_600_000;

/** `onFault` receives the error of a failed run; the next run follows all the same. */
export function everyHour(
  look: () => Promise<void>,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const work = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await look().catch(onFault);
      await sleep(HOUR_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const worked = work();
  return {
    async stop() {
      ending.abort();
      await worked;
    },
  };
}
