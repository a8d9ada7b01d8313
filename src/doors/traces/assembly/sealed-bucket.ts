/**
 * A bucket whose values can be read only by who has their key whole: the part behind its dot is not stored. Keeps the
 * invariant that the server's files hold nothing in clear of a value. Values of earlier versions are in clear for a day.
 *
 * Test: test/doors/traces/assembly/sealed-bucket.test.ts.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { KeyValueBucket } from '../../../stream/kv/key-value.ts';

type Bucket = Pick<KeyValueBucket, 'get' | 'create' | 'update'>;

const CIPHER = 'aes-256-gcm';
const [IV_BYTES, TAG_BYTES] = [12, 16];
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
      return { ...entry, value: opened(entry.value.slice(SEALED.length), secret) };
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
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKey(secret), iv);
  const bytes = Buffer.concat([cipher.update(value), cipher.final()]);
  return SEALED + Buffer.concat([iv, cipher.getAuthTag(), bytes]).toString('base64');
}

function opened(text: string, secret: string): string {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(CIPHER, cipherKey(secret), bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const value = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
  return Buffer.concat([value, decipher.final()]).toString();
}

function cipherKey(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
