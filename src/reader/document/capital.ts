/** Georgian has capitals for words in capitals alone, not for the beginning of a sentence (Unicode 11, U+1C90). */
const WITHOUT_INITIALS = /^\p{Script=Georgian}/u;

/** A letter as it begins a sentence. Covered by test/reader/document/capital.test.ts. */
export function capitalOf(letter: string): string {
  return WITHOUT_INITIALS.test(letter) ? letter : letter.toUpperCase();
}
