/**
 * Opens the views that answer queries as the source of a sink.
 *
 * Test: test/cli/sink.test.ts.
 */
import { SetupError } from '../../errors.ts';
import {
  answeringSince,
  readActiveEpoch,
  shardDirectory,
  type ActiveEpoch,
} from '../../store/epochs/epochs.ts';
import { SnapshotReader, type Snapshot } from '../../store/published/snapshot-reader.ts';
import { nothingPublished } from '../../store/published/unanswerable.ts';
import type { View } from '../../store/view-files.ts';
import type { SinkSource } from './sink.ts';

export interface OpenSourceOptions {
  readonly dataDir: string;
  readonly views: readonly View[];
  readonly spillDirectory: string;
}

/** Small, because web and worker share the machine; larger joins and sorts use the disk. */
const MEMORY_BYTES = 128 * 2 ** 20;
const MEMORY_BYTES_ALONE = 512 * 2 ** 20;

/** Returns the epoch that answers queries. Throws SetupError if there is none. */
export function activeEpochOf(dataDir: string): ActiveEpoch {
  const active = readActiveEpoch(dataDir);
  if (active !== null) return active;
  throw new SetupError(`There are no views in ${dataDir}: start the service, or set DATA_DIR.`);
}

/**
 * Runs `work` over the views that answer queries now: one epoch, and one snapshot of each shard. Throws SetupError if
 * there are no views, and AppError SERVICE_UNAVAILABLE while they cannot be read.
 */
export async function withSource<T>(
  { dataDir, views, spillDirectory }: OpenSourceOptions,
  work: (source: SinkSource) => Promise<T>,
): Promise<T> {
  const active = activeEpochOf(dataDir);
  const readers: SnapshotReader[] = [];
  const snapshots: Snapshot[] = [];
  try {
    for (let shard = 0; shard < active.shards; shard += 1) {
      const directory = shardDirectory(dataDir, active.epoch, shard);
      const reader = await SnapshotReader.open({
        directory: () => directory,
        views,
        threads: 1,
        connections: 1,
        memoryBytes: MEMORY_BYTES,
        memoryBytesAlone: MEMORY_BYTES_ALONE,
        spillDirectory,
      });
      readers.push(reader);
      const snapshot = await reader.snapshot();
      if (snapshot === null) throw nothingPublished();
      snapshots.push(snapshot);
    }
    return await work({ epoch: active.epoch, answeringSince: answeringSince(dataDir), snapshots });
  } finally {
    for (const snapshot of snapshots) snapshot.release();
    for (const reader of readers) await reader.close();
  }
}
