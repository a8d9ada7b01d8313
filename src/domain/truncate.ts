/**
 * Cuts texts to a length.
 *
 * Test: test/reader/conversations/session-text.test.ts.
 */

/** Returns at most the first `length` UTF-16 units of a text, and never half of a surrogate pair. */
export function truncate(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
