/**
 * Estimates the languages of a text by the number of its words that each language knows. A language is one bit.
 *
 * Test: test/reader/phrases/phrase-matcher.test.ts.
 */

/** The languages of a token, as bits. */
export interface TokenLanguages {
  /** Languages that know it. */
  readonly languages: number;
  /** Languages whose texts contain it on any subject. */
  readonly common: number;
}

/** Number of words, half from the beginning and half from the end, that are counted in a long text. */
const TELLING_WORDS = 80;
/** Share of the likeliest language's count from which a language is likely too. */
const LIKELY_SHARE = 0.8;
/** The share in strict mode, for several words and for a single one. */
const STRICT_SHARE = 0.9;
const SINGLE_SHARE = 0.5;

/**
 * Returns the languages that know the most of the first `length` words, as bits. `counts`: zeros, one per language;
 * they are changed. `isStrict`: words common in any text of a language count twice, and fewer languages are likely.
 */
export function likelyLanguages(
  known: readonly TokenLanguages[],
  length: number,
  counts: Uint8Array,
  isStrict: boolean,
): number {
  const half = TELLING_WORDS / 2;
  for (let at = 0; at < length; at++) {
    if (at === half) at = Math.max(at, length - half);
    const { languages, common } = known[at]!;
    for (let bits = languages, place = 0; bits > 0; bits >>>= 1, place++)
      if ((bits & 1) !== 0) counts[place]! += isStrict && ((common >>> place) & 1) !== 0 ? 2 : 1;
  }
  let most = 0;
  for (const count of counts) if (count > most) most = count;
  // A single word may be of any language that has it.
  const share = !isStrict ? LIKELY_SHARE : length > 1 ? STRICT_SHARE : SINGLE_SHARE;
  const least = most * share;
  let likely = 0;
  for (let place = 0; place < counts.length; place++) if (counts[place]! >= least) likely |= 1 << place;
  return likely;
}
