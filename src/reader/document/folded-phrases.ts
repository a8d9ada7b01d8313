/**
 * Removes phrases of the lexicon from folded text. Keeps the promise that a text without them is recognised fast.
 *
 * Test: test/reader/document/folded-phrases.test.ts.
 */
import type { Entries } from './lexicon.ts';
import { fold } from './normalise.ts';
import { alternatives, anyOf } from './patterns.ts';
import { foldedWordsOf, isUnspaced } from './words.ts';

/**
 * Many phrases at once. Most texts contain none of the phrases' last words, which is faster to check than the phrases.
 */
export class FoldedPhrases {
  readonly #last: ReadonlySet<string>;
  readonly #spaced: RegExp;
  readonly #unspaced: RegExp | null;

  /** `ahead`: pattern source for what may follow a phrase in a language with spaces. */
  constructor({ spaced, unspaced }: Entries, ahead = '') {
    const folded = spaced.map(fold);
    this.#last = new Set(folded.map((phrase) => foldedWordsOf(phrase).at(-1)!));
    this.#spaced = anyOf([`(?:${alternatives(folded)})${ahead}`], [], 'gu');
    this.#unspaced = unspaced.length === 0 ? null : new RegExp(alternatives(unspaced.map(fold)), 'gu');
  }

  /**
   * The text with a space in place of each phrase; the text itself if it contains none. `words`: the words of the text.
   */
  without(folded: string, words: readonly string[] = foldedWordsOf(folded)): string {
    if (this.#unspaced !== null && isUnspaced(folded)) return folded.replace(this.#unspaced, ' ');
    return words.some((word) => this.#last.has(word)) ? folded.replace(this.#spaced, ' ') : folded;
  }
}
