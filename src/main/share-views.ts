/**
 * Wires the views that machines share: the object store and the bucket, for a worker and for web.
 *
 * Test: test/cluster/machines.test.ts.
 */
import type { StreamDivision } from '../cluster/level.ts';
import { Mirror, mirroredFiles } from '../cluster/mirror.ts';
import type { SegmentCache } from '../cluster/segment-cache.ts';
import { SharedViews } from '../cluster/shared-views.ts';
import { openPlace } from '../cluster/place.ts';
import { statusOf, type SharedDefinition } from '../cluster/views-bucket.ts';
import type { SharedShardFigures } from '../domain/service-health.ts';
import type { SharedShards } from '../domain/sharing.ts';
import type { Logger } from '../logger.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { mirrorFolder, spillDirectory } from '../store/data-directory.ts';
import { keepWanted } from '../store/live/keep-instances.ts';
import { refold } from '../store/live/refold.ts';
import { loadViews } from '../store/view-files.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { lastSequenceOf, readExtent } from '../stream/log/consumer.ts';
import { hearNotices, sendNotice } from '../stream/notices.ts';
import { answerRequests } from '../stream/request-reply.ts';
import { VIEWS_DIRECTORY } from '../worker/current-definition.ts';
import {
  lostObjectSubject,
  overlapOf,
  partitionsOf,
  sharedCopySubject,
  shardOf,
} from '../stream/subjects.ts';

/** Shares the shards that a worker makes. */
export async function shareViews(
  connection: StreamConnection,
  place: ObjectStoreOptions,
  views: SharedDefinition,
  {
    dataDir,
    replicas,
    memoryBytes,
    analysis,
    logger,
  }: {
    readonly dataDir: string;
    readonly replicas: number;
    /** Limit of the database that divides a shard, bytes. */
    readonly memoryBytes: number;
    /** As `analysisOf` gives it. */
    readonly analysis: string;
    readonly logger: Logger;
  },
): Promise<SharedShards> {
  return new SharedViews({
    ...(await openPlace(connection, place, replicas)),
    views,
    stream: {
      first: async () => (await readExtent(connection)).firstSequence,
      ...divisionOf(connection),
      hearLost: (key, hear) =>
        hearNotices(connection, lostObjectSubject(key), (name) => {
          if (typeof name === 'object' && name !== null && 'name' in name && typeof name.name === 'string')
            hear(name.name);
        }),
      answerCopies: (key, copy) =>
        answerRequests(connection, sharedCopySubject(key), async () => {
          await copy();
          return true;
        }),
    },
    findFiles: () => mirroredFiles(mirrorFolder(dataDir)),
    divide: async (state, directory, shard) => {
      await keepWanted(state, (id) => shardOf(id, views.shards) === shard);
      await refold({
        from: state,
        directory,
        views: loadViews(VIEWS_DIRECTORY),
        analysis,
        threads: 1,
        memoryBytes,
        spillDirectory: spillDirectory(dataDir, `views-divided-${shard}`),
      });
    },
    logger,
  });
}

/** The shared views, as web follows them. */
export interface FollowedViews {
  /** The caller closes it. */
  readonly mirror: Mirror;
  readonly status: () => Promise<readonly SharedShardFigures[]>;
}

/** Follows the shared views in `mirrorFolder`. */
export async function mirrorViews(
  connection: StreamConnection,
  place: ObjectStoreOptions,
  {
    dataDir,
    replicas,
    cache,
    logger,
  }: {
    readonly dataDir: string;
    readonly replicas: number;
    readonly cache: SegmentCache;
    readonly logger: Logger;
  },
): Promise<FollowedViews> {
  const shared = await openPlace(connection, place, replicas);
  const stream = divisionOf(connection);
  const mirror = new Mirror({
    ...shared,
    stream,
    sayLost: (key, name) => sendNotice(connection, lostObjectSubject(key), { name }),
    folder: mirrorFolder(dataDir),
    cache,
    logger,
  });
  return { mirror, status: async () => (await statusOf(shared.bucket, shared.keys, stream.newestOf)) ?? [] };
}

function divisionOf(connection: StreamConnection): StreamDivision {
  return {
    newestOf: (shard, shards) => lastSequenceOf(connection, partitionsOf(shard, shards)),
    sharedWith: overlapOf,
  };
}
