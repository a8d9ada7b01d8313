/** Covered by test/web/registry/registry.test.ts. */
import { createHash, randomBytes } from 'node:crypto';

export type KeyEnvironment = 'live' | 'test';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = /^ut_(?:live|test)_[0-9A-Za-z]{32}$/;

/** A new raw key: `ut_live_` or `ut_test_` and 32 random base-62 characters (190 bits). */
export function newRawKey(env: KeyEnvironment): string {
  let characters = '';
  while (characters.length < 32) {
    // 248 is the largest multiple of 62 in a byte: without it some characters would come up more often.
    for (const byte of randomBytes(48)) if (byte < 248) characters += ALPHABET.charAt(byte % 62);
  }
  return `ut_${env}_${characters.slice(0, 32)}`;
}

/** Whether a text has the shape of a key; anything else cannot be one. */
export function isRawKey(text: string): boolean {
  return KEY.test(text);
}

/** What is stored of a key: SHA-256, hex. The key has too many bits to need salt or stretching. */
export function digestOf(rawKey: string): string {
  return createHash('sha256').update(rawKey).digest('hex');
}

/** The name of a key for listing and revoking; tells nothing about the key. */
export function keyIdOf(digest: string): string {
  return `key_${digest.slice(0, 16)}`;
}
