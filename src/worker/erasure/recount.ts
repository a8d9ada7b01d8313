/** Covered by test/cli/erase.test.ts and test/cli/retention.test.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../../errors.ts';
import type { Forget } from '../rebuild/from-facts.ts';
import { clean, rebuild, type RebuildSettings } from '../rebuild/rebuild.ts';
import { readActiveEpoch, removeOtherEpochs, type ActiveEpoch } from '../../store/epochs/epochs.ts';

/** So long the processes may take to let go of the views before a switch. */
const LET_GO_MS = 3000;

export type RecountSettings = RebuildSettings;

/**
 * Makes views anew from what the live ones counted, but for what `forget` takes out of copies of them; the views from
 * before go. `except`: the instances that may differ. Rejects as `rebuild` does.
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

/** Drops the views from before a switch. */
export async function dropFormerViews(dataDir: string): Promise<void> {
  await sleep(LET_GO_MS);
  clean(dataDir, activeEpoch(dataDir));
}

/** What was begun before something is forgotten holds it. */
export function dropUnfinishedViews(dataDir: string): void {
  const { epoch, previous } = activeEpoch(dataDir);
  removeOtherEpochs(dataDir, [epoch, previous?.epoch ?? epoch]);
}

/** @throws SetupError when there are none */
export function activeEpoch(dataDir: string): ActiveEpoch {
  const active = readActiveEpoch(dataDir);
  if (active === null) throw new SetupError(`There are no views in ${dataDir} yet: "npm start" builds them.`);
  return active;
}
