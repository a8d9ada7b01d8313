/**
 * Caches facts about single words: few words make up most texts. Keeps the invariant that the cache changes no result,
 * since a fact depends on the word alone.
 *
 * Test: test/reader/document/word-cache.test.ts.
 */

/** Most words per cache; a full cache is emptied. */
const MOST_WORDS = 4096;
/** Longest cached word, UTF-16 units. A longer one may keep the whole text that it was cut from in memory. */
const LONGEST = 12;

/** Wraps `compute`, which must depend on the word alone, in a cache. */
export function memoise<Result extends object | string | boolean>(
  compute: (word: string) => Result,
): (word: string) => Result {
  const known = new Map<string, Result>();
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const result = compute(word);
    if (word.length > LONGEST) return result;
    if (known.size >= MOST_WORDS) known.clear();
    known.set(word, result);
    return result;
  };
}
