/** Covered by test/reader/conversations/session-text.test.ts. */
/** At most the first `length` UTF-16 units of a text, never half a character. */
export function truncate(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
