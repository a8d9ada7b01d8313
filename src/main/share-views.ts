/**
 * Wires the views that machines share: the object store and the bucket, for a worker and for web.
 *
 * Test: test/cluster/machines.test.ts.
 */
import { Mirror } from '../cluster/mirror.ts';
import { SharedViews } from '../cluster/shared-views.ts';
import { openViewsBucket, ViewsKeys, type SharedDefinition } from '../cluster/views-bucket.ts';
import type { SharedShards } from '../domain/sharing.ts';
import type { Logger } from '../logger.ts';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { mirrorFolder } from '../store/data-directory.ts';
import { ObjectStore } from '../store/objects/object-store.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { lastSequenceOf, readExtent } from '../stream/log/consumer.ts';
import { hearNotices, sendNotice } from '../stream/notices.ts';
import { answerRequests } from '../stream/request-reply.ts';
import { lostObjectSubject, partitionsOf, sharedCopySubject } from '../stream/subjects.ts';

/** Shares the shards that a worker makes. */
export async function shareViews(
  connection: StreamConnection,
  place: ObjectStoreOptions,
  views: SharedDefinition,
  replicas: number,
  logger: Logger,
): Promise<SharedShards> {
  const bucket = await openViewsBucket(connection, replicas);
  return new SharedViews({
    bucket,
    store: new ObjectStore(place),
    keys: await ViewsKeys.open(bucket, place.url),
    views,
    stream: {
      first: async () => (await readExtent(connection)).firstSequence,
      newestOf: (shard, shards) => lastSequenceOf(connection, partitionsOf(shard, shards)),
      sharedWith: (shard, shards, others) => [
        ...new Set(partitionsOf(shard, shards).map((partition) => partition % others)),
      ],
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
    logger,
  });
}

/** Follows the shared views in `mirrorFolder`. The caller closes it. */
export async function mirrorViews(
  connection: StreamConnection,
  place: ObjectStoreOptions,
  {
    dataDir,
    replicas,
    logger,
  }: { readonly dataDir: string; readonly replicas: number; readonly logger: Logger },
): Promise<Mirror> {
  const bucket = await openViewsBucket(connection, replicas);
  return new Mirror({
    bucket,
    store: new ObjectStore(place),
    keys: await ViewsKeys.open(bucket, place.url),
    sayLost: (key, name) => sendNotice(connection, lostObjectSubject(key), { name }),
    folder: mirrorFolder(dataDir),
    logger,
  });
}
