/**
 * Cuts a text into runs of letters and digits and single marks, in one pass.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { UNSPACED_SCRIPTS } from '../document/unspaced-scripts.ts';

/**
 * `mixed`: letters and digits in one run, as in "AB12". `unspaced`: letters of Han, kana, Hangul, Thai and the like.
 * `mark`: one other character.
 */
export type RunKind = 'word' | 'number' | 'mixed' | 'unspaced' | 'mark';

/**
 * Takes a run. `end` is exclusive. `spaced`: blanks stand before it, or it begins the text. `line`: it begins a line.
 */
export type TakeRun = (start: number, end: number, kind: RunKind, spaced: boolean, line: boolean) => void;

const UNKNOWN = 0;
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const NEWLINE = 4;
const MARK = 5;
/** A letter of a script without spaces, or with endings after numbers: Han, kana, Hangul, Thai. */
const UNSPACED_LETTER = 6;

const UNSPACED = new RegExp(String.raw`[${UNSPACED_SCRIPTS}\p{Script=Hangul}ー々〇]`, 'u');

/** Class of each UTF-16 unit, computed on first use. */
const CLASSES = new Uint8Array(0x10000);
const ZERO_WIDTH_NON_JOINER = 0x200c;

function classOf(unit: number): number {
  const known = CLASSES[unit]!;
  if (known !== UNKNOWN) return known;
  const character = String.fromCharCode(unit);
  let found = MARK;
  if (UNSPACED.test(character)) found = UNSPACED_LETTER;
  else if (character === '\n' || character === '\r' || character === '\u2028') found = NEWLINE;
  else if (/\s/u.test(character)) found = SPACE;
  else if (/[\p{L}\p{M}]/u.test(character) || unit === ZERO_WIDTH_NON_JOINER || character === '_')
    found = LETTER;
  else if (/\p{N}/u.test(character)) found = DIGIT;
  CLASSES[unit] = found;
  return found;
}

function isApostrophe(unit: number): boolean {
  return unit === 0x27 || unit === 0x2019 || unit === 0x02bc;
}

/** Calls `take` with each run of a text, in order. */
export function eachRun(text: string, take: TakeRun): void {
  let spaced = true;
  let line = true;
  for (let at = 0; at < text.length;) {
    const type = classOf(text.charCodeAt(at));
    if (type === SPACE || type === NEWLINE) {
      spaced = true;
      line ||= type === NEWLINE;
      at += 1;
      continue;
    }
    const start = at;
    let letters = false;
    let digits = false;
    if (type === MARK) {
      at += 1;
    } else if (type === UNSPACED_LETTER) {
      while (at < text.length && classOf(text.charCodeAt(at)) === UNSPACED_LETTER) at += 1;
    } else {
      for (; at < text.length; at += 1) {
        const unit = text.charCodeAt(at);
        const next = classOf(unit);
        if (next === LETTER) letters = true;
        else if (next === DIGIT) digits = true;
        else if (
          !isApostrophe(unit) ||
          digits ||
          at + 1 >= text.length ||
          classOf(text.charCodeAt(at + 1)) !== LETTER
        )
          break;
      }
    }
    take(start, at, type === UNSPACED_LETTER ? 'unspaced' : kindOf(letters, digits), spaced, line);
    spaced = false;
    line = false;
  }
}

function kindOf(letters: boolean, digits: boolean): RunKind {
  if (letters) return digits ? 'mixed' : 'word';
  return digits ? 'number' : 'mark';
}
