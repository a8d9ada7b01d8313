/**
 * Builds regular expressions from words of the lexicon. Keeps the promise that a search takes linear time.
 *
 * Test: test/reader/document/patterns.test.ts.
 */

/** Bound on repeated groups: nobody says more fillers in a row. */
const MOST_REPEATS = 16;

/**
 * A pattern for folded text: any of `spaced` as whole words, or any of `unspaced` (Chinese, Japanese, Korean, Thai and
 * the like) anywhere. Both are regular expression sources. A repeated group (`*`, `+`) matches at most 16 times:
 * without the bound, a search would read a long run again from each of its words.
 */
export function anyOf(spaced: readonly string[], unspaced: readonly string[] = [], flags = 'u'): RegExp {
  const parts: string[] = [];
  if (spaced.length > 0) parts.push(`(?<![\\p{L}\\p{N}])(?:${spaced.join('|')})(?![\\p{L}\\p{N}])`);
  if (unspaced.length > 0) parts.push(`(?:${unspaced.join('|')})`);
  return new RegExp(bounded(parts.join('|')), flags);
}

function bounded(source: string): string {
  return source.replaceAll(')*', `){0,${MOST_REPEATS}}`).replaceAll(')+', `){1,${MOST_REPEATS}}`);
}

/** The pattern source for any of some words and phrases. A longer one precedes its prefixes. */
export function alternatives(phrases: readonly string[]): string {
  return [...new Set(phrases)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).join('|');
}
