/**
 * Opens what machines share at a place: the object store, the bucket, and the keys of the views in it.
 *
 * Test: test/cluster/machines.test.ts.
 */
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { ObjectStore } from '../store/objects/object-store.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { openViewsBucket, ViewsKeys } from './views-bucket.ts';

export interface SharedPlace {
  readonly bucket: KeyValueBucket;
  readonly store: ObjectStore;
  readonly keys: ViewsKeys;
}

export async function openPlace(
  connection: StreamConnection,
  place: ObjectStoreOptions,
  replicas: number,
): Promise<SharedPlace> {
  const bucket = await openViewsBucket(connection, replicas);
  return { bucket, store: new ObjectStore(place), keys: await ViewsKeys.open(bucket, place.url) };
}
