/** Finds the phrases of a language without spaces. Covered by test/language/request-parts.test.ts. */
import type { Language } from './lexicon.ts';
import { meaningsOf, type Meaning, type Piece } from './phrase-meanings.ts';

/** Only this many letters of a request are read. */
const LETTERS_READ = 200;
const LATIN = /^[a-z0-9]$/;
const BREAK = /[\p{P}\n]/u;

interface Phrase {
  readonly text: string;
  readonly meaning: Meaning;
}

/** The phrases of one language. The longest that begins at a letter is taken; spaces do not count. */
export class UnspacedPhrases {
  readonly #byFirst: ReadonlyMap<string, readonly Phrase[]>;

  constructor(language: Language) {
    const phrases = [...meaningsOf(language)].map(([phrase, meaning]) => ({
      text: phrase.normalize('NFKC').replace(/[\s-]/g, ''),
      meaning,
    }));
    phrases.sort((x, y) => y.text.length - x.text.length || (x.text < y.text ? -1 : 1));
    this.#byFirst = Map.groupBy(phrases, ({ text }) => text[0]!);
  }

  /** The phrases of a text in order; what stands between them is left out. */
  piecesOf(text: string): Piece[] {
    const { written, letters, places } = withoutSpaces(text);
    const pieces: Piece[] = [];
    let afterBreak = false;
    for (let at = 0; at < letters.length;) {
      const found = this.#byFirst
        .get(letters[at]!)
        ?.find(({ text: phrase }) => letters.startsWith(phrase, at) && isWhole(at, phrase, letters, places));
      if (found === undefined) {
        afterBreak ||= BREAK.test(letters[at]!);
        at += 1;
        continue;
      }
      const end = at + found.text.length;
      const as = written.slice(places[at]!, places[end - 1]! + 1);
      const { meaning } = found;
      pieces.push({ text: as, noun: as, kind: 'phrase', meaning, start: at, end, afterBreak, stem: '' });
      afterBreak = false;
      at = end;
    }
    return pieces;
  }
}

/** The letters of a text, and where each is written. */
function withoutSpaces(text: string): { written: string; letters: string; places: number[] } {
  const normal = text.normalize('NFKC');
  const lower = normal.toLowerCase();
  const written = lower.length === normal.length ? normal : lower;
  const places: number[] = [];
  let letters = '';
  for (let at = 0; at < lower.length && letters.length < LETTERS_READ; at++) {
    if (/[\s-]/.test(lower[at]!)) continue;
    letters += lower[at]!;
    places.push(at);
  }
  return { written, letters, places };
}

/** Whether a phrase in Latin letters does not stand inside a longer word. */
function isWhole(at: number, phrase: string, letters: string, places: readonly number[]): boolean {
  const joined = (left: number): boolean =>
    LATIN.test(letters[left] ?? '') &&
    LATIN.test(letters[left + 1] ?? '') &&
    places[left + 1] === places[left]! + 1;
  return !joined(at - 1) && !joined(at + phrase.length - 1);
}
