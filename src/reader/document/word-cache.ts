/**
 * What is told of a word by itself, kept for the next time: few words make most of what people write. Covered by
 * test/reader/document/word-cache.test.ts.
 */

/** Words that are kept of each question; then it starts over. */
const MOST_WORDS = 4096;
/** UTF-16 units. A longer word can hold the whole text that it was cut from in memory. */
const LONGEST = 12;

/** `tell`, which depends on the word alone, asked once for a word that comes again. */
export function toldOnce<Told extends object | string>(tell: (word: string) => Told): (word: string) => Told {
  const known = new Map<string, Told>();
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const told = tell(word);
    if (word.length > LONGEST) return told;
    if (known.size >= MOST_WORDS) known.clear();
    known.set(word, told);
    return told;
  };
}
