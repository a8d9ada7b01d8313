/**
 * Opens what machines share at a place: the object store, the bucket, the keys of the views in it, and the generations
 * of their states.
 *
 * Test: test/cluster/machines.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectStoreOptions } from '../domain/object-place.ts';
import { ObjectStore } from '../store/objects/object-store.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { requestAnswer } from '../stream/request-reply.ts';
import { sharedCopySubject, shardOf } from '../stream/subjects.ts';
import { Generations } from './generations.ts';
import { openViewsBucket, ViewsKeys } from './views-bucket.ts';

/** Time for the owner of a shard to store a copy of its state. */
const COPY_MS = 5 * 60_000;
/** Time after which it is asked again: the server that had the request, or the owner, may have ended. */
const ASK_MS = 15_000;
const PAUSE_MS = 1000;

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

/** The generations of the views at a place. */
export async function openGenerations(
  place: ObjectStoreOptions,
  connection: StreamConnection,
  replicas: number,
): Promise<Generations> {
  return generationsAt(await openPlace(connection, place, replicas), connection);
}

/** The generations of the views at an open place. */
export function generationsAt(place: SharedPlace, connection: StreamConnection): Generations {
  return new Generations({ ...place, askForCopy: (key) => askForCopy(connection, key), shardOf });
}

/** Without an answer, the copy before it does: the stream has what came since. */
async function askForCopy(connection: StreamConnection, key: string): Promise<boolean> {
  const deadline = performance.now() + COPY_MS;
  for (;;) {
    try {
      return (await requestAnswer(connection, sharedCopySubject(key), ASK_MS)) !== null;
    } catch {
      if (performance.now() > deadline) return false;
    }
    await sleep(PAUSE_MS);
  }
}
