/**
 * Opens the views out of which erasures and retention take data: those of this machine, or those that machines share.
 *
 * Test: test/cli/erase.test.ts, test/cluster/machines.test.ts.
 */
import { join } from 'node:path';
import { SharedErasure, type Making } from '../cluster/shared-erasure.ts';
import { openViewsBucket, ViewsKeys } from '../cluster/views-bucket.ts';
import type { Config } from '../config.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { spillDirectory } from '../store/data-directory.ts';
import { refold } from '../store/live/refold.ts';
import { ObjectStore } from '../store/objects/object-store.ts';
import { loadViews } from '../store/view-files.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { requestAnswer } from '../stream/request-reply.ts';
import { partitionOf, sharedCopySubject } from '../stream/subjects.ts';
import { analysisOf, VIEWS_DIRECTORY } from '../worker/current-definition.ts';
import { ownViews, type ErasedViews } from '../worker/erasure/recount.ts';
import type { RebuildSettings } from '../worker/rebuild/rebuild.ts';

/** Time for the owner of a shard to store a copy of its state. */
const COPY_MS = 30 * 60_000;

/** The views of `config`, made anew with `settings`. */
export async function openErasedViews(config: Config, settings: RebuildSettings): Promise<ErasedViews> {
  if (config.viewsStore === null) return ownViews(settings);
  const { connection, dataDir, analysis, memoryBytes, signal } = settings;
  const erasure = await openSharedErasure(config.viewsStore, connection, config.streamReplicas);
  const making: Making = {
    folder: join(dataDir, 'tmp', 'erasure'),
    signal,
    refold: (from, directory) =>
      refold({
        from,
        directory,
        views: loadViews(VIEWS_DIRECTORY),
        analysis: analysisOf(analysis.model),
        threads: 1,
        memoryBytes,
        spillDirectory: spillDirectory(dataDir, 'views-erasure'),
      }),
  };
  return {
    isShared: true,
    reached: (instanceId) => erasure.reached(instanceId),
    dropUnfinished: () => undefined,
    recount: (instances, forget) => erasure.recount(making, instances, forget),
  };
}

/** The views that machines share. */
export async function openSharedErasure(
  place: ObjectStoreOptions,
  connection: StreamConnection,
  replicas: number,
): Promise<SharedErasure> {
  const bucket = await openViewsBucket(connection, replicas);
  return new SharedErasure({
    bucket,
    store: new ObjectStore(place),
    keys: await ViewsKeys.open(bucket, place.url),
    askForCopy: async (key) => (await requestAnswer(connection, sharedCopySubject(key), COPY_MS)) !== null,
    shardOf: (instanceId, shards) => partitionOf(instanceId) % shards,
  });
}
