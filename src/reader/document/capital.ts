/**
 * Capitalises the first letter of a text.
 *
 * Test: test/reader/document/capital.test.ts.
 */

/** Georgian has capitals only for words in capitals, not for the start of a sentence (Unicode 11, U+1C90). */
const WITHOUT_INITIALS = /^\p{Script=Georgian}/u;

/** The form of a letter at the start of a sentence. */
export function capitalOf(letter: string): string {
  return WITHOUT_INITIALS.test(letter) ? letter : letter.toUpperCase();
}
