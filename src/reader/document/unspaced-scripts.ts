/**
 * Scripts that write no spaces between words, as the inside of a character class of a `u` pattern.
 *
 * Test: test/reader/document/words.test.ts.
 */
export const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');
