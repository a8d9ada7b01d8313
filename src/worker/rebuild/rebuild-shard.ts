/**
 * Rebuilds one shard of views that machines share from the stream, in a folder of its own, and compares it with what
 * was published of the shard. An interrupted run continues in the same folder.
 *
 * Test: test/cluster/shared-rebuild.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { count } from '../../domain/progress.ts';
import { SetupError } from '../../errors.ts';
import { pinnedDirectory, replaceFile, shardDirectory } from '../../store/epochs/epochs.ts';
import { copyClosedState, COPY_FILE } from '../../store/live/state-copy.ts';
import { readManifest } from '../../store/published/manifest.ts';
import { compareFolders, describe } from './compare-at-mark.ts';
import { faultsOf } from './comparison.ts';
import { carryShard } from './from-facts.ts';
import { newestOf, Replay, type ReplaySettings } from './replay.ts';

/** The build in the folder. */
const EPOCH = 1;
/** In the folder of the shard: the faults that its comparison found. */
const COMPARED_FILE = 'COMPARED';

/** A shard to rebuild. */
export interface ShardToRebuild {
  readonly shard: number;
  /** Number of shards of its views. */
  readonly shards: number;
  /** Definition of its rows, before and after. */
  readonly definition: string;
  /** Ids of instances whose texts the stream no longer holds: their rows are carried over. */
  readonly carried: ReadonlySet<string>;
  /** Writes the published files of the shard to a folder, the manifest last; no manifest if nothing is published. */
  readonly pin: (directory: string) => Promise<void>;
  /** Copies the live state to a file. Returns its stream sequence. */
  readonly copyTo: (file: string) => Promise<number>;
}

/** A shard that was rebuilt. */
export interface Rebuilt {
  /** Its state. */
  readonly file: string;
  /** Stream sequence up to which it has counted. */
  readonly sequence: number;
  /** What the comparison found, a sentence each. */
  readonly faults: readonly string[];
}

/**
 * Rebuilds a shard in the folder `settings.dataDir`, up to the newest entries.
 *
 * @throws SetupError when the stream lacks entries, or no worker has the state of carried instances; InterruptedError
 */
export async function rebuildShard(settings: ReplaySettings, of: ShardToRebuild): Promise<Rebuilt> {
  const { dataDir, connection } = settings;
  const { shard, shards, definition, carried } = of;
  const build = { epoch: EPOCH, shards, definition };
  const directory = shardDirectory(dataDir, EPOCH, shard);
  const pinned = pinnedDirectory(dataDir, EPOCH, shard);
  if (readManifest(pinned) === null) await of.pin(pinned);
  const at = readManifest(pinned)?.sequence ?? 0;
  if (carried.size > 0) {
    const copyTo = (file: string): Promise<void> => copyAt(of, at, file);
    const instances = await carryShard(settings, build, shard, carried, { shards, definition, copyTo });
    if (instances > 0)
      settings.progress.line(
        `taken over from the live state of shard ${shard}: ${count(instances)} instances`,
      );
  }
  const replay = new Replay(settings, build);
  if (readFaults(directory) === null) {
    // Also a shard without an entry has a state.
    await replay.foldTo(`rebuilding shard ${shard}`, new Map([[shard, at]]));
    const faults = at === 0 ? [] : await compare(settings, of, { at, pinned, directory });
    replaceFile(join(directory, COMPARED_FILE), JSON.stringify(faults));
  }
  await replay.catchUp(() => newestOf(connection, build, [shard]));
  const copy = await copyClosedState(directory);
  if (copy === null) throw new SetupError(`${directory} has no state`);
  return { file: join(directory, COPY_FILE), sequence: copy.sequence, faults: readFaults(directory) ?? [] };
}

/** Copies the live state; what was published of the shard must be in it. */
async function copyAt({ shard, copyTo }: ShardToRebuild, at: number, file: string): Promise<void> {
  if ((await copyTo(file)) < at)
    throw new SetupError(
      `No worker has shard ${shard} open, and the texts of one of its instances are only in its state: start one.`,
    );
}

async function compare(
  { dataDir, memoryBytes, progress }: ReplaySettings,
  { shard, definition }: ShardToRebuild,
  { at, pinned, directory }: { readonly at: number; readonly pinned: string; readonly directory: string },
): Promise<string[]> {
  const pairs = [{ live: [pinned], rebuilt: [directory] }];
  const definitions = { liveDefinition: definition, rebuiltDefinition: definition };
  const { outcome, verdicts } = await compareFolders({ dataDir, memoryBytes }, pairs, definitions);
  progress.line(`shard ${shard} ${describe(outcome, [], at)}`);
  if (verdicts !== null) progress.line(verdicts);
  return faultsOf(outcome);
}

/** What the comparison found; null before it. */
function readFaults(directory: string): string[] | null {
  const file = join(directory, COMPARED_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as string[]) : null;
}
