/**
 * Runs open erasures and due retention while the service runs.
 *
 * Test: test/e2e/erasure-rules.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { epochsBehind, isDue } from '../worker/erasure/due-erasures.ts';
import type { Logger } from '../logger.ts';
import type { ErasureLedger } from '../stream/ledgers/erasure-ledger.ts';
import { isRebuildWanted } from './auto-rebuild.ts';
import { startCommand, type Started } from './started-command.ts';

const LOOK_MS = 1000;
/** Interval of the check for due retention. */
const AGED_EVERY_MS = 10_000;
/** Pause after a failure; it doubles after each further one. */
const AGAIN_MS = { first: 2000, most: 60_000 } as const;

export interface AutoErase {
  /** Interrupts a running erasure, which continues at the next start. */
  stop(): Promise<void>;
}

/** Checks for open erasures and due retention, and runs `npm run erase -- run` as a process when there are any. */
export function startAutoErase({
  ledger,
  isRetentionDue,
  dataDir,
  isShared,
  logger,
}: {
  ledger: ErasureLedger;
  /** `now`: microseconds. */
  isRetentionDue: (now: number) => Promise<boolean>;
  dataDir: string;
  /** Machines share the views: those of this machine are never behind. */
  isShared: boolean;
  logger: Logger;
}): AutoErase {
  const ending = new AbortController();
  let running: Started | null = null;
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const work = async (): Promise<void> => {
    let seen = -1;
    let agedAt = -Infinity;
    let again: number = AGAIN_MS.first;
    while (!ending.signal.aborted) {
      await pause(LOOK_MS);
      try {
        const revision = await ledger.newestRevision();
        const isTime = performance.now() - agedAt >= AGED_EVERY_MS;
        if (isTime) agedAt = performance.now();
        const isAging = isTime && (await isRetentionDue(Date.now() * 1000));
        if (revision === seen && !isAging) continue;
        const all = await ledger.list();
        const open = all.filter(({ state }) => state !== 'DONE');
        const isBehind = !isShared && epochsBehind(dataDir, all).length > 0;
        if (open.length === 0 && !isBehind) seen = revision;
        const isWanted = isAging || isBehind || open.some((erasure) => isDue(erasure, Date.now()));
        if (!isWanted || ending.signal.aborted || !(await isRebuildWanted(dataDir))) continue;
        running = startCommand('erase.ts', ['run'], 'erasure', logger);
        const code = await running.ended;
        running = null;
        if (code !== 0) await pause(again);
        again = code === 0 ? AGAIN_MS.first : Math.min(2 * again, AGAIN_MS.most);
      } catch (error) {
        // NATS is unavailable; the next round tries again.
        logger.debug({ event: 'erasures_unknown', err: error }, 'the ledger of erasures cannot be read');
      }
    }
  };
  const worked = work();
  return {
    async stop() {
      ending.abort();
      await running?.stop();
      await worked;
    },
  };
}
