/** Covered by test/web/registry/registry.test.ts. */
import { AppError } from '../../errors.ts';
import type { KeyValueBucket, KeyValueEntry } from '../kv/key-value.ts';

/** The reads and writes of a bucket; each rejects with AppError SERVICE_UNAVAILABLE while NATS cannot be asked. */
export type GuardedBucket = Pick<
  KeyValueBucket,
  'get' | 'create' | 'put' | 'update' | 'remove' | 'newestRevision'
>;

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

/** Turns whatever is thrown into SERVICE_UNAVAILABLE. */
export async function guard<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unavailable('The registry cannot be reached. Try again.', error);
  }
}

/**
 * Writes what `change` makes of a key's value, again when somebody else was faster. Null: no such key, or no
 * change.
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

/** What was just written must be there. */
export function required<T>(value: T | null, what: string): T {
  if (value === null) throw unavailable(`The registry lost ${what} while it was written. Try again.`);
  return value;
}

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1, cause });
}

/** Orders by creation, then by `tie`. */
export function byCreation<T extends { readonly createdAt: string }>(tie: (item: T) => string) {
  return (a: T, b: T): number =>
    a.createdAt === b.createdAt ? (tie(a) < tie(b) ? -1 : 1) : a.createdAt < b.createdAt ? -1 : 1;
}
