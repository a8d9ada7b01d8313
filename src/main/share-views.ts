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

/** Shares the shards that a worker makes. */
export async function shareViews(
  connection: StreamConnection,
  place: ObjectStoreOptions,
  views: SharedDefinition,
  replicas: number,
  logger: Logger,
): Promise<SharedShards> {
  return new SharedViews({
    bucket: await openViewsBucket(connection, replicas),
    store: new ObjectStore(place),
    keys: new ViewsKeys(place.url),
    views,
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
  return new Mirror({
    bucket: await openViewsBucket(connection, replicas),
    store: new ObjectStore(place),
    keys: new ViewsKeys(place.url),
    folder: mirrorFolder(dataDir),
    logger,
  });
}
