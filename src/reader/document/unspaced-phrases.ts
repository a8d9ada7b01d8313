/**
 * Finds the lexicon's phrases in a request in a language without spaces. Longest match from left to right.
 *
 * Test: test/reader/document/request-parts.test.ts.
 */
import type { Language } from './lexicon.ts';
import { meaningsOf, type Meaning, type Piece } from './phrase-meanings.ts';

/** Most letters of a request that are read. */
const LETTERS_READ = 200;
const LATIN = /^[a-z0-9]$/;
const BREAK = /[\p{P}\n]/u;

/** A short word of Korean, which writes spaces, if not always: it must begin at a possible word boundary. */
const HANGUL = /^\p{Script=Hangul}{1,2}$/u;

interface Phrase {
  /** The phrase without spaces. */
  readonly text: string;
  /** Indices in it at which a space may stand. */
  readonly spaces: readonly number[];
  readonly meaning: Meaning;
}

/** The phrases of one language. */
export class UnspacedPhrases {
  readonly #byFirst: ReadonlyMap<string, readonly Phrase[]>;

  constructor(language: Language) {
    const phrases = [...meaningsOf(language)].map(([phrase, meaning]) => phraseOf(phrase, meaning));
    phrases.sort((x, y) => y.text.length - x.text.length || (x.text < y.text ? -1 : 1));
    this.#byFirst = Map.groupBy(phrases, ({ text }) => text[0]!);
  }

  /** The phrases of a text in order, without the text between them. */
  piecesOf(text: string): Piece[] {
    const { written, letters, places } = withoutSpaces(text);
    const pieces: Piece[] = [];
    let afterBreak = false;
    let last = 0;
    for (let at = 0; at < letters.length;) {
      const found = this.#byFirst
        .get(letters[at]!)
        ?.find((phrase) => letters.startsWith(phrase.text, at) && isWhole(at, phrase, letters, places, last));
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
      last = end;
    }
    return pieces;
  }
}

/** The letters of a text without spaces, and the index of each in the text. */
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

function phraseOf(phrase: string, meaning: Meaning): Phrase {
  const spaces: number[] = [];
  let text = '';
  for (const letter of phrase.normalize('NFKC')) {
    if (/[\s-]/.test(letter)) spaces.push(text.length);
    else text += letter;
  }
  return { text, spaces, meaning };
}

/**
 * True if a phrase found at a letter stands alone: neither inside a longer word in Latin letters, nor across a space
 * that it lacks, nor, for a short Korean one, inside a word. `last`: end of the phrase before.
 */
function isWhole(
  at: number,
  { text, spaces }: Phrase,
  letters: string,
  places: readonly number[],
  last: number,
): boolean {
  const isGap = (left: number): boolean => places[left + 1] !== places[left]! + 1;
  const joined = (left: number): boolean =>
    LATIN.test(letters[left] ?? '') && LATIN.test(letters[left + 1] ?? '') && !isGap(left);
  const end = at + text.length - 1;
  if (joined(at - 1) || joined(end)) return false;
  for (let left = at; left < end; left++) if (isGap(left) && !spaces.includes(left + 1 - at)) return false;
  return !HANGUL.test(text) || at === 0 || at === last || isGap(at - 1) || BREAK.test(letters[at - 1]!);
}
