import type { Entries } from './lexicon.ts';
import { fold } from './normalise.ts';
import { alternatives, anyOf } from './patterns.ts';
import { foldedWordsOf, isUnspaced } from './words.ts';

/**
 * Many phrases of the lexicon at once, looked for in folded text. Most texts hold none of their last words, which is
 * found out faster than that they hold none of the phrases.
 * Covered by test/reader/document/folded-phrases.test.ts.
 */
export class FoldedPhrases {
  readonly #last: ReadonlySet<string>;
  readonly #spaced: RegExp;
  readonly #unspaced: RegExp | null;

  /** `ahead`: source of a pattern for what may follow a phrase of a language with spaces. */
  constructor({ spaced, unspaced }: Entries, ahead = '') {
    const folded = spaced.map(fold);
    this.#last = new Set(folded.map((phrase) => foldedWordsOf(phrase).at(-1)!));
    this.#spaced = anyOf([`(?:${alternatives(folded)})${ahead}`], [], 'gu');
    this.#unspaced = unspaced.length === 0 ? null : new RegExp(alternatives(unspaced.map(fold)), 'gu');
  }

  /** The text with a space for each phrase; the text itself when it holds none. `words`: those of the text. */
  without(folded: string, words: readonly string[] = foldedWordsOf(folded)): string {
    if (this.#unspaced !== null && isUnspaced(folded)) return folded.replace(this.#unspaced, ' ');
    return words.some((word) => this.#last.has(word)) ? folded.replace(this.#spaced, ' ') : folded;
  }
}
