/**
 * The texts that training reads, each once and known by its place, with how often each word occurs.
 * Covered by test/tools/train/contrastive.test.ts and by the data that ship.
 */
import { preTokensOf } from './pieces.ts';

/** Languages that the vocabulary gives room to, besides English. */
export const LANGUAGES = ['es', 'fr', 'de', 'pt', 'it', 'nl', 'ru', 'zh', 'ja'] as const;

const MAX_TEXT_LENGTH = 400;
/** How much more a word counts when it comes from one of `LANGUAGES`. */
const LANGUAGE_WEIGHT = 6;

/** Texts by place, each once; counts words as they come. */
export class TextList {
  readonly list: string[] = [];
  readonly wordCounts = new Map<string, number>();
  readonly characters = new Set<string>();
  readonly #places = new Map<string, number | null>();
  readonly #heldOut: ReadonlySet<string>;

  constructor(heldOut: ReadonlySet<string>) {
    this.#heldOut = heldOut;
    for (const [first, last] of ALPHABETS)
      for (let code = first.codePointAt(0)!; code <= last.codePointAt(0)!; code += 1)
        for (const character of preTokensOf(String.fromCodePoint(code)).join(''))
          this.characters.add(character);
  }

  /**
   * The text's place; null when it has fewer than `fewest` words or is held out. Each of its words counts `weight`
   * times.
   */
  add(text: string, language: string, fewest = 2, weight = weightOf(language)): number | null {
    const short = text.trim().slice(0, MAX_TEXT_LENGTH);
    const known = this.#places.get(short);
    if (known !== undefined) return known;
    const words = preTokensOf(short);
    const usable = words.length >= fewest && !this.#heldOut.has(words.join(' '));
    const place = usable ? this.list.push(short) - 1 : null;
    this.#places.set(short, place);
    if (!usable) return null;
    for (const word of words) {
      if (weight > 0) this.wordCounts.set(word, (this.wordCounts.get(word) ?? 0) + weight);
      if (isSupported(language)) for (const character of word) this.characters.add(character);
    }
    return place;
  }
}

export function isSupported(language: string): boolean {
  return (LANGUAGES as readonly string[]).includes(language);
}

function weightOf(language: string): number {
  return isSupported(language) ? LANGUAGE_WEIGHT : 1;
}

/** Ranges of letters, digits and signs that are in the vocabulary though no text may show them all. */
const ALPHABETS = [
  ['!', '~'],
  ['¡', 'ſ'],
  ['А', 'я'],
  ['ё', 'ё'],
  ['ぁ', 'ん'],
  ['ァ', 'ー'],
  ['、', '』'],
  ['‐', '…'],
  ['€', '€'],
] as const;
