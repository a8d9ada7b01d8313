/**
 * A bucket whose errors become AppError SERVICE_UNAVAILABLE.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import { unavailable } from '../../errors.ts';
import type { KeyValueBucket, KeyValueEntry } from '../kv/key-value.ts';

/** Reads and writes of a bucket; each rejects with AppError SERVICE_UNAVAILABLE when NATS fails. */
export type GuardedBucket = Pick<
  KeyValueBucket,
  'get' | 'create' | 'put' | 'update' | 'remove' | 'newestRevision'
>;

/** Guards the calls of a bucket. */
export function guarded(bucket: KeyValueBucket): GuardedBucket {
  return {
    get: (key) => guard(() => bucket.get(key)),
    create: (key, value) => guard(() => bucket.create(key, value)),
    put: (key, value) => guard(() => bucket.put(key, value)),
    update: (key, value, revision) => guard(() => bucket.update(key, value, revision)),
    remove: (key, revision) => guard(() => bucket.remove(key, revision)),
    newestRevision: (pattern) => guard(() => bucket.newestRevision(pattern)),
  };
}

/** Converts any error to SERVICE_UNAVAILABLE. */
export async function guard<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unavailable('The registry cannot be reached. Try again.', { cause });
  }
}

/**
 * Writes the changed value of a key, and repeats that when another process wrote in between. Null: the key does not
 * exist, or nothing changed.
 */
export async function change(
  bucket: GuardedBucket,
  key: string,
  changed: (entry: KeyValueEntry) => string | null,
): Promise<KeyValueEntry | null> {
  for (;;) {
    const entry = await bucket.get(key);
    const value = entry === null ? null : changed(entry);
    if (entry === null || value === null) return null;
    const revision = await bucket.update(key, value, entry.revision);
    if (revision !== null) return { value, revision };
  }
}

/** Returns a value that was just written, and so must exist. */
export function required<T>(value: T | null, what: string): T {
  if (value === null) throw unavailable(`The registry lost ${what} while it was written. Try again.`);
  return value;
}

/** Compares by creation, then by `tie`. */
export function byCreation<T extends { readonly createdAt: string }>(tie: (item: T) => string) {
  return (a: T, b: T): number =>
    a.createdAt === b.createdAt ? (tie(a) < tie(b) ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;
}
