/**
 * Rebuilds the views from facts without what is to be forgotten, and deletes older views, which still contain it.
 *
 * Test: test/cli/erase.test.ts, test/cli/retention.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../../errors.ts';
import type { Forget } from '../rebuild/from-facts.ts';
import { clean, rebuild, type RebuildSettings } from '../rebuild/rebuild.ts';
import { readActiveEpoch, removeOtherEpochs, type ActiveEpoch } from '../../store/epochs/epochs.ts';

/** Time for the other processes to close the former views after a switch. */
const LET_GO_MS = 3000;

export type RecountSettings = RebuildSettings;

/**
 * Rebuilds the views from the facts of the live ones, less what `forget` removes from copies of them, and deletes the
 * former views. `except`: instances that may differ. Rejects as `rebuild` does.
 */
export async function recount(
  settings: RecountSettings,
  except: ReadonlySet<string>,
  forget: Forget,
): Promise<void> {
  const options = { source: 'facts', toLatest: false, force: false, except, forget } as const;
  await rebuild(settings, activeEpoch(settings.dataDir), options);
  await dropFormerViews(settings.dataDir);
}

/** Deletes the former views after a switch. */
export async function dropFormerViews(dataDir: string): Promise<void> {
  await sleep(LET_GO_MS);
  clean(dataDir, activeEpoch(dataDir));
}

/** Deletes unfinished views: they were begun before the erasure and contain what it removes. */
export function dropUnfinishedViews(dataDir: string): void {
  const { epoch, previous } = activeEpoch(dataDir);
  removeOtherEpochs(dataDir, [epoch, previous?.epoch ?? epoch]);
}

/** @throws SetupError when there are no views */
export function activeEpoch(dataDir: string): ActiveEpoch {
  const active = readActiveEpoch(dataDir);
  if (active === null) throw new SetupError(`There are no views in ${dataDir} yet: "npm start" builds them.`);
  return active;
}
