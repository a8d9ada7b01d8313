/**
 * Rebuilds the views from facts without what is to be forgotten, and deletes older views, which still contain it.
 *
 * Test: test/cli/erase.test.ts, test/cli/retention.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../../errors.ts';
import type { Forget } from '../rebuild/from-facts.ts';
import { clean, rebuild, type RebuildSettings } from '../rebuild/rebuild.ts';
import { liveSequences } from '../rebuild/replay.ts';
import { readActiveEpoch, removeOtherEpochs, type ActiveEpoch } from '../../store/epochs/epochs.ts';
import { shardOf } from '../../stream/subjects.ts';

/** Time for the other processes to close the former views after a switch. */
const LET_GO_MS = 3000;

/** The views out of which data is taken: those of this machine, or those that machines share. */
export interface ErasedViews {
  /** True if nothing is rebuilt from the stream afterwards. */
  readonly isShared: boolean;
  /** Stream sequence up to which the answers have what was sent to an instance. */
  reached(instanceId: string): Promise<number>;
  /** Drops what was begun before and has the data. */
  dropUnfinished(): void;
  /** Makes the views of some instances without what `forget` removes from copies of their databases. */
  recount(instances: ReadonlySet<string>, forget: Forget): Promise<void>;
}

export type RecountSettings = RebuildSettings & { readonly views: ErasedViews };

/** The views of this machine. */
export function ownViews(settings: RebuildSettings): ErasedViews {
  const { dataDir } = settings;
  return {
    isShared: false,
    reached: async (instanceId) => {
      const active = activeEpoch(dataDir);
      return liveSequences(dataDir, active, active)[shardOf(instanceId, active.shards)] ?? 0;
    },
    dropUnfinished: () => dropUnfinishedViews(dataDir),
    recount: (instances, forget) => recount(settings, instances, forget),
  };
}

/**
 * Rebuilds the views from the facts of the live ones, less what `forget` removes from copies of them, and deletes the
 * former views. `except`: instances that may differ. Rejects as `rebuild` does.
 */
async function recount(
  settings: RebuildSettings,
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
function dropUnfinishedViews(dataDir: string): void {
  const { epoch, previous } = activeEpoch(dataDir);
  removeOtherEpochs(dataDir, [epoch, previous?.epoch ?? epoch]);
}

/** @throws SetupError when there are no views */
export function activeEpoch(dataDir: string): ActiveEpoch {
  const active = readActiveEpoch(dataDir);
  if (active === null) throw new SetupError(`There are no views in ${dataDir} yet: "npm start" builds them.`);
  return active;
}
