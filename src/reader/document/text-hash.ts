/**
 * Hashes words and sentences that are to be known again and must not be kept.
 *
 * Test: test/reader/threads/conduct.test.ts.
 */

/** FNV-1a over UTF-16 units: a number of 32 bits. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
