/**
 * Writes the views to a folder of Parquet files. Only partitions whose rows changed are written; a run that its signal
 * interrupts changes nothing.
 *
 * Test: test/doors/sink/sink.test.ts.
 */
import { formatInstant } from '../../domain/time.ts';
import { SetupError } from '../../errors.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import type { FolderChange, FolderStep, SinkFolder } from './folder.ts';
import { schemaOf, type SinkFile, type SinkManifest } from './manifest.ts';
import { grouped, readPartitions, writeGroup, type Partition } from './partitions.ts';
import { SCHEMA_VERSION, type SinkTable } from './tables.ts';

/** The views at one moment. */
export interface SinkSource {
  /** Epoch of the views. */
  readonly epoch: number;
  /** Time since which the epoch answers queries, microseconds. */
  readonly answeringSince: number;
  /** One snapshot of each shard. */
  readonly snapshots: readonly Snapshot[];
}

export interface SinkRunOptions {
  readonly folder: SinkFolder;
  readonly tables: readonly SinkTable[];
  /** UUIDs; null: all. Files of other instances and tables stay unchanged. */
  readonly instances: readonly string[] | null;
  /** Microseconds since 1970. */
  readonly now: () => number;
  /** Ends the run before the next file. */
  readonly signal?: AbortSignal;
  readonly onStep?: (step: FolderStep) => Promise<void> | void;
}

/** Thrown when the signal aborts; the folder is unchanged. */
export class SinkInterrupted extends Error {}

interface InstanceRead {
  readonly snapshot: Snapshot;
  /** Number of the instance in its shard. */
  readonly number: number;
  readonly instanceId: string;
  readonly projectId: string;
  readonly position: number;
  /** Microseconds. */
  readonly processedAt: number;
}

/** A partition and the snapshot with its rows. */
interface Wanted {
  readonly snapshot: Snapshot;
  readonly partition: Partition;
}

/**
 * Brings the folder up to date: writes the partitions whose rows changed since the last run and removes those without
 * rows. All files are staged first, then renamed into place.
 */
export async function runSink(source: SinkSource, options: SinkRunOptions): Promise<SinkManifest> {
  const { folder, now } = options;
  const startedAt = now();
  const last = folder.begin();
  try {
    const instances = await readInstances(source, options.instances);
    const before = new Map(last.files.map((file) => [file.path, file]));
    const wanted = await readWanted(source, instances, options);
    const isIn = scopeOf(options);
    const changed = wanted.filter(({ partition }) => before.get(partition.path)?.digest !== partition.digest);
    const written = await stage(changed, options);
    const wantedPaths = new Set(wanted.map(({ partition }) => partition.path));
    const removed = last.files.filter(({ path }) => isIn(path) && !wantedPaths.has(path));
    const files = new Map(before);
    for (const { path } of removed) files.delete(path);
    for (const { file } of written) files.set(file.path, file);
    const manifest: SinkManifest = {
      schemaVersion: SCHEMA_VERSION,
      run: {
        startedAt: formatInstant(startedAt),
        finishedAt: formatInstant(now()),
        filesWritten: written.length,
        filesRemoved: removed.length,
        filesUnchanged: wanted.length - written.length,
        rowsWritten: written.reduce((sum, { file }) => sum + file.rows, 0),
      },
      ...sourceMembers(source, instances, options),
      schema: Object.fromEntries(options.tables.map((table) => [table.name, schemaOf(table)])),
      files: [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    };
    const changes = [
      ...written.map(({ file, staged }) => ({ path: file.path, staged })),
      ...removed.map(({ path }) => ({ path, staged: null })),
    ];
    await folder.publish(inOrder(changes, options.tables), manifest, options.onStep);
    return manifest;
  } finally {
    folder.discard();
  }
}

async function readInstances(
  { snapshots, answeringSince }: SinkSource,
  only: readonly string[] | null,
): Promise<readonly InstanceRead[]> {
  const read: InstanceRead[] = [];
  for (const snapshot of snapshots) {
    const rows = await snapshot.all(
      'select instance, id::varchar as id, project::varchar as project, last_sequence, processed_at from @instance',
    );
    for (const row of rows)
      read.push({
        snapshot,
        number: row['instance'] as number,
        instanceId: row['id'] as string,
        projectId: row['project'] as string,
        position: row['last_sequence'] as number,
        processedAt: Math.max(row['processed_at'] as number, answeringSince),
      });
  }
  read.sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
  if (only === null) return read;
  const unknown = only.find((id) => !read.some(({ instanceId }) => instanceId === id));
  if (unknown !== undefined) throw new SetupError(`The views have no messages of instance ${unknown}.`);
  return read.filter(({ instanceId }) => only.includes(instanceId));
}

/** Returns the partitions that the folder should contain; each shard is read from one snapshot. */
async function readWanted(
  { snapshots }: SinkSource,
  instances: readonly InstanceRead[],
  { tables, instances: only, signal }: SinkRunOptions,
): Promise<readonly Wanted[]> {
  const wanted: Wanted[] = [];
  for (const snapshot of snapshots) {
    const ids = new Map(
      instances
        .filter((instance) => instance.snapshot === snapshot)
        .map(({ number, instanceId }) => [number, instanceId]),
    );
    if (ids.size === 0) continue;
    for (const table of tables) {
      if (signal?.aborted === true) throw new SinkInterrupted();
      for (const partition of await readPartitions(snapshot, table, ids, only !== null))
        wanted.push({ snapshot, partition });
    }
  }
  return wanted;
}

interface Written {
  readonly file: SinkFile;
  readonly staged: string;
}

/** Files that are synced to disk while the next ones are written. */
const SEALING = 16;

async function stage(
  changed: readonly Wanted[],
  { folder, now, signal, onStep }: SinkRunOptions,
): Promise<readonly Written[]> {
  const written: Promise<Written>[] = [];
  try {
    for (const [snapshot, of] of Map.groupBy(changed, (each) => each.snapshot))
      for (const group of grouped(of.map(({ partition }) => partition))) {
        if (signal?.aborted === true) throw new SinkInterrupted();
        const files = await writeGroup(snapshot, group, folder.stage());
        const writtenAt = formatInstant(now());
        for (const [index, staged] of files.entries()) {
          const { path, rows, digest } = group[index] as Partition;
          const sealed = folder
            .seal(staged)
            .then((bytes) => ({ file: { path, rows, bytes, digest, writtenAt }, staged }));
          // Handles an early rejection; it is awaited later.
          sealed.catch(() => undefined);
          written.push(sealed);
          await written.at(-SEALING);
        }
        await onStep?.('staged');
      }
  } catch (error) {
    await Promise.allSettled(written);
    throw error;
  }
  return Promise.all(written);
}

function scopeOf({ tables, instances }: SinkRunOptions): (path: string) => boolean {
  const names = new Set(tables.map(({ name }) => name));
  const folders = instances === null ? null : new Set(instances.map((id) => `instance_id=${id}`));
  return (path) => {
    const [table = '', instance = ''] = path.split('/');
    return names.has(table) && (folders === null || folders.has(instance));
  };
}

/**
 * Sorts tables by their order and partitions by descending date. A late message can move a session only to an earlier
 * day: this order removes it from one file before it appears in the other, so no reader sees it twice.
 */
function inOrder(changes: readonly FolderChange[], tables: readonly SinkTable[]): readonly FolderChange[] {
  const place = new Map(tables.map(({ name }, index) => [name, index]));
  const placeOf = ({ path }: FolderChange): number => place.get(path.split('/')[0] ?? '') ?? 0;
  return changes.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.path > b.path ? -1 : 1));
}

function sourceMembers(
  { epoch, snapshots }: SinkSource,
  instances: readonly InstanceRead[],
  { tables, instances: only }: SinkRunOptions,
): Pick<SinkManifest, 'lastProcessedAt' | 'epoch' | 'positions' | 'tables' | 'instances' | 'instancesRead'> {
  const processedAt = instances.reduce((newest, instance) => Math.max(newest, instance.processedAt), 0);
  return {
    lastProcessedAt: instances.length === 0 ? null : formatInstant(processedAt),
    epoch,
    positions: snapshots.map(({ sequence }) => sequence),
    tables: tables.map(({ name }) => name),
    instances: only,
    instancesRead: instances.map((each) => ({
      instanceId: each.instanceId,
      projectId: each.projectId,
      position: each.position,
      lastProcessedAt: formatInstant(each.processedAt),
    })),
  };
}
