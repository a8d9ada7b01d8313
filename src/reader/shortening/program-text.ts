/**
 * Tells lines of a program from sentences.
 *
 * Test: test/reader/shortening/program-text.test.ts.
 */

/** Most characters per sign of a program. */
const CHARACTERS_OF_SIGN = 14;

/** True if a sentence is a line of a program. */
export function isCode(sentence: string): boolean {
  const signs = sentence.match(/[{}=;<>\\|]|_\w|\w\(/gu)?.length ?? 0;
  return signs >= 3 && signs * CHARACTERS_OF_SIGN > sentence.length;
}
