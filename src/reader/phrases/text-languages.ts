/**
 * Which languages a text is likely to be in, by the words that they know; a language is one bit. Covered by
 * test/reader/phrases/phrase-matcher.test.ts.
 */

/** The languages of a token, one bit each. */
export interface TokenLanguages {
  /** Those that know it. */
  readonly languages: number;
  /** Those of whose texts it is a word, whatever they are about. */
  readonly common: number;
}

/** Of a long text, the words of its beginning and of its end tell its language. */
const TELLING_WORDS = 80;
/** A language with so large a share of the words that the likeliest one knows is likely too. */
const LIKELY_SHARE = 0.8;
/** The same where fewer are. */
const STRICT_SHARE = 0.9;
const SINGLE_SHARE = 0.5;

/**
 * The languages that know the most words of a text. `counts`: zeros, one a language. `isStrict`: words that a language
 * has in any text count twice, and fewer languages are likely.
 */
export function likelyLanguages(
  known: readonly TokenLanguages[],
  counts: Uint8Array,
  isStrict: boolean,
): number {
  const half = TELLING_WORDS / 2;
  for (let at = 0; at < known.length; at++) {
    if (at === half) at = Math.max(at, known.length - half);
    const { languages, common } = known[at]!;
    for (let bits = languages, place = 0; bits > 0; bits >>>= 1, place++)
      if ((bits & 1) !== 0) counts[place]! += isStrict && ((common >>> place) & 1) !== 0 ? 2 : 1;
  }
  let most = 0;
  for (const count of counts) if (count > most) most = count;
  // A word alone may be of any language that has it.
  const share = !isStrict ? LIKELY_SHARE : known.length > 1 ? STRICT_SHARE : SINGLE_SHARE;
  const least = most * share;
  let likely = 0;
  for (let place = 0; place < counts.length; place++) if (counts[place]! >= least) likely |= 1 << place;
  return likely;
}
