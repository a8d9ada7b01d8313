/**
 * Compares rebuilt views with the pinned live ones, and describes the result for the operator.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { count } from '../../domain/progress.ts';
import { changesBetween, readDefinition } from '../../store/epochs/definition.ts';
import { spillDirectory } from '../../store/data-directory.ts';
import { pinnedDirectory, shardDirectory, type Epoch, type RebuildMark } from '../../store/epochs/epochs.ts';
import { SnapshotReader, type Snapshot } from '../../store/published/snapshot-reader.ts';
import { loadViews, type View } from '../../store/view-files.ts';
import { VIEWS_DIRECTORY } from '../current-definition.ts';
import { agreementLine, readAgreement } from './verdicts.ts';
import { compareBuilds, type Comparison, type ComparisonOptions, type Pair } from './comparison.ts';

/** Most tables that are named among those not compared. */
const NAMED = 6;

/**
 * Compares the rebuilt views with the live ones that were pinned at the start. `outcome` is null if the definition of
 * the live views is unknown. `verdicts`: how both agree with the verdicts of people; null without any. `memoryBytes`:
 * limit of each reader. `except`: ids of instances that are not compared.
 */
export async function compareAtMark(
  { dataDir, memoryBytes }: { readonly dataDir: string; readonly memoryBytes: number },
  next: Epoch & RebuildMark,
  definition: string,
  except: ReadonlySet<string>,
): Promise<{ outcome: Comparison | null; changes: string[]; verdicts: string | null }> {
  const liveDefinition = await readDefinition(shardDirectory(dataDir, next.from.epoch, 0));
  if (liveDefinition === null) return { outcome: null, changes: [], verdicts: null };
  const directoriesOf = ({ shards }: Epoch, directory: (shard: number) => string): string[] =>
    Array.from({ length: shards }, (_, shard) => directory(shard));
  const live = directoriesOf(next.from, (shard) => pinnedDirectory(dataDir, next.epoch, shard));
  const rebuilt = directoriesOf(next, (shard) => shardDirectory(dataDir, next.epoch, shard));
  const pairs =
    live.length === rebuilt.length
      ? live.map((directory, shard) => ({ live: [directory], rebuilt: [rebuilt[shard] as string] }))
      : [{ live, rebuilt }];
  const definitions = { liveDefinition, rebuiltDefinition: definition };
  const compared = await compareFolders({ dataDir, memoryBytes }, pairs, { ...definitions, except });
  return { ...compared, changes: changesBetween(liveDefinition, definition) };
}

/** Folders of shards that together hold the same partitions of the stream. */
export interface FolderPair {
  readonly live: readonly string[];
  readonly rebuilt: readonly string[];
}

/** Compares published shards in folders; see `compareAtMark`. Leaves out pairs of which nothing is live. */
export async function compareFolders(
  { dataDir, memoryBytes }: { readonly dataDir: string; readonly memoryBytes: number },
  folders: readonly FolderPair[],
  options: Pick<ComparisonOptions, 'liveDefinition' | 'rebuiltDefinition' | 'except'>,
): Promise<{ outcome: Comparison; verdicts: string | null }> {
  const views = loadViews(VIEWS_DIRECTORY);
  const readers: SnapshotReader[] = [];
  const snapshots: Snapshot[] = [];
  const open = async (directories: readonly string[]): Promise<Snapshot[]> => {
    const found: Snapshot[] = [];
    for (const directory of directories) {
      const reader = await openReader(dataDir, directory, views, memoryBytes);
      readers.push(reader);
      const snapshot = await reader.snapshot();
      if (snapshot !== null) found.push(snapshot);
    }
    snapshots.push(...found);
    return found;
  };
  try {
    const pairs: Pair[] = [];
    for (const { live, rebuilt } of folders) {
      const pair = { live: await open(live), rebuilt: await open(rebuilt) };
      if (pair.live.length > 0) pairs.push(pair);
    }
    return { outcome: await compareBuilds({ pairs, views, ...options }), verdicts: await verdictsOn(pairs) };
  } finally {
    for (const snapshot of snapshots) snapshot.release();
    for (const reader of readers) await reader.close();
  }
}

/** A rebuild does not fail for want of this line. */
async function verdictsOn(pairs: readonly Pair[]): Promise<string | null> {
  try {
    const before = await readAgreement(pairs.flatMap((pair) => pair.live));
    const after = await readAgreement(pairs.flatMap((pair) => pair.rebuilt));
    return agreementLine(before, after);
  } catch (error) {
    return `verdicts of people could not be compared: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function openReader(
  dataDir: string,
  directory: string,
  views: readonly View[],
  memoryBytes: number,
): Promise<SnapshotReader> {
  return SnapshotReader.open({
    directory: () => directory,
    views,
    // Tables of views that changed are not compared.
    ofAnyVersion: true,
    threads: 1,
    connections: 1,
    memoryBytes,
    spillDirectory: spillDirectory(dataDir, 'comparison'),
  });
}

/** Describes a comparison in lines for the operator. `at`: the stream sequence of the comparison. */
export function describe(outcome: Comparison | null, changes: readonly string[], at: number): string {
  if (outcome === null)
    return 'not compared with the live views: it is not known which code and model made them';
  const { tables, notCompared, instances, elsewhere } = outcome;
  const rows = tables.reduce((sum, { rebuiltRows }) => sum + rebuiltRows, 0);
  const equal = tables.filter(({ differing }) => differing === 0).length;
  const lines = [
    ...(changes.length === 0 ? [] : [`changed: ${changes.join('; ')}`]),
    `compared with the live views at entry ${count(at)}: ${equal} of ${tables.length} tables equal` +
      `${tables.some(({ scope }) => scope === 'stream') ? ' in what follows from the stream alone' : ''}` +
      ` (${count(rows)} rows, ${count(instances)} ${instances === 1 ? 'instance' : 'instances'})`,
  ];
  const expected = tables.filter(({ due, differing }) => !due && differing > 0).map(({ table }) => table);
  if (expected.length > 0)
    lines.push(`different, as expected, because views that they depend on changed: ${expected.join(', ')}`);
  if (elsewhere > 0)
    lines.push(`not compared, because they are at other entries: ${count(elsewhere)} instances`);
  const reasons = Map.groupBy(notCompared, ({ reason }) => reason);
  for (const [reason, group] of reasons) {
    const names = group.slice(0, NAMED).map(({ table }) => table);
    lines.push(`not compared: ${names.join(', ')}${group.length > NAMED ? ', …' : ''} (${reason})`);
  }
  return lines.join('\n');
}
