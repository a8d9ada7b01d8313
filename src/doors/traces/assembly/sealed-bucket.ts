/**
 * A bucket whose values can be read only by who has their key whole: the part behind its dot is not stored. Keeps the
 * invariant that the server's files hold nothing in clear of a value. Values of earlier versions are in clear for a day.
 *
 * Test: test/doors/traces/assembly/sealed-bucket.test.ts.
 */
import { createHash } from 'node:crypto';
import type { KeyValueBucket } from '../../../stream/kv/key-value.ts';
import { open, seal } from '../sealing.ts';

type Bucket = Pick<KeyValueBucket, 'get' | 'create' | 'update'>;

/** Neither JSON nor what is compressed begins with it. */
const SEALED = 's';

/** Keys are `<name>.<secret>`; the bucket has the names. */
export function sealedBucket(bucket: Bucket): Bucket {
  const parts = (key: string): readonly [name: string, secret: string] => {
    const dot = key.lastIndexOf('.');
    return [key.slice(0, dot), key.slice(dot + 1)];
  };
  return {
    async get(key) {
      const [name, secret] = parts(key);
      const entry = await bucket.get(name);
      if (entry === null || !entry.value.startsWith(SEALED)) return entry;
      return {
        ...entry,
        value: open(Buffer.from(entry.value.slice(SEALED.length), 'base64'), cipherKey(secret)).toString(),
      };
    },
    create(key, value) {
      const [name, secret] = parts(key);
      return bucket.create(name, sealed(value, secret));
    },
    update(key, value, revision) {
      const [name, secret] = parts(key);
      return bucket.update(name, sealed(value, secret), revision);
    },
  };
}

function sealed(value: string, secret: string): string {
  return SEALED + seal(value, cipherKey(secret)).toString('base64');
}

function cipherKey(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
