/**
 * Seals bytes with AES-256-GCM: initialisation vector, tag, ciphertext. Keeps the invariant that `open` returns what
 * `seal` sealed with the same key and head, and refuses all else.
 *
 * Test: test/doors/traces/tokens.test.ts, test/doors/traces/assembly/sealed-bucket.test.ts.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
export const IV_BYTES = 12;
const TAG_BYTES = 16;
const NO_HEAD = Buffer.alloc(0);

/** `key`: 32 bytes. `head`: is authenticated, too, and not stored. */
export function seal(
  bytes: Uint8Array | string,
  key: Uint8Array,
  {
    iv = randomBytes(IV_BYTES),
    head = NO_HEAD,
  }: { readonly iv?: Uint8Array; readonly head?: Uint8Array } = {},
): Buffer {
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(head);
  // A text is UTF-8.
  const sealed = Buffer.concat([cipher.update(Buffer.from(bytes)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Throws if the bytes were not sealed with this key and head. */
export function open(sealed: Uint8Array, key: Uint8Array, head: Uint8Array = NO_HEAD): Buffer {
  const behind = IV_BYTES + TAG_BYTES;
  if (sealed.length < behind) throw new TypeError('too short to be sealed');
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(head)
    .setAuthTag(sealed.subarray(IV_BYTES, behind));
  return Buffer.concat([decipher.update(sealed.subarray(behind)), decipher.final()]);
}
