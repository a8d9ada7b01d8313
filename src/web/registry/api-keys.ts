/**
 * Makes, validates and digests API keys. A raw key is never stored.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import { createHash, randomBytes } from 'node:crypto';

export type KeyEnvironment = 'live' | 'test';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = /^ut_(?:live|test)_[0-9A-Za-z]{32}$/;

/** Makes a raw key: `ut_live_` or `ut_test_` and 32 random base-62 characters (190 bits). */
export function newRawKey(env: KeyEnvironment): string {
  let characters = '';
  while (characters.length < 32) {
    // 248 is the largest multiple of 62 in a byte; larger bytes would favour some characters.
    for (const byte of randomBytes(48)) if (byte < 248) characters += ALPHABET.charAt(byte % 62);
  }
  return `ut_${env}_${characters.slice(0, 32)}`;
}

/** Returns true for a text with the form of a key. */
export function isRawKey(text: string): boolean {
  return KEY.test(text);
}

/** Returns the stored form of a key: SHA-256, hex. The key has enough bits to need neither salt nor stretching. */
export function digestOf(rawKey: string): string {
  return createHash('sha256').update(rawKey).digest('hex');
}

/** Returns the id of a key for listing and revoking; it does not reveal the key. */
export function keyIdOf(digest: string): string {
  return `key_${digest.slice(0, 16)}`;
}
