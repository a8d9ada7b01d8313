/**
 * Finds numbers after the word for what they number, from two digits on.
 *
 * Test: test/reader/personal/planted.test.ts.
 */
import { isAmount } from './amounts.ts';
import { CUE, WORD } from './cues.ts';
import {
  codeAt,
  countOf,
  DATE,
  DIMENSIONS,
  INSTANT,
  isTechnical,
  QUANTITY,
  runAt,
  YEARS,
} from './numbers.ts';
import { everyWord } from './personal-lexicon.ts';
import type { Reading } from './reading.ts';
import { suffixCue } from './unspaced-cues.ts';
import { NOT_NAMES, STOP_WORDS, TECHNICAL } from './vocabulary.ts';

const numberedWords = everyWord('numbered');

/** "Vorgangsnummer", "boknr". */
const NUMBER_COMPOUND = /\p{L}{3}(?:nummer|numret|nummeret|nr|number|szám|numero)$/u;

/** Finds "order 4471", "policy no. AB-12", "card ending in 9921". */
export function findNumbered(reading: Reading): void {
  const { pieces } = reading;
  for (const { from, to, kinds } of (reading.kinds & CUE.numbered) === 0 ? [] : reading.cues) {
    if ((kinds & CUE.numbered) === 0 || TECHNICAL.has(pieces[from - 1]?.lower ?? '')) continue;
    const { at, marked, worded, numbered } = reading.valueAt(to);
    judgeNumbered(reading, at, marked || numbered, worded);
  }
  if (!reading.numbers) return;
  for (const [place, piece] of pieces.entries()) {
    if (piece.text === '#' || piece.text === '№') {
      const next = pieces[place + 1];
      if (next?.kind === 'number' && next.text.length > 2 && !isTechnical(reading, place))
        reading.hide(place + 1, place + 2, 'number');
    } else if (piece.kind === 'word' && NUMBER_COMPOUND.test(piece.lower) && !TECHNICAL.has(piece.lower)) {
      const { at, marked, worded } = reading.valueAt(place + 1);
      judgeNumbered(reading, at, marked || piece.lower.length > 4, worded);
    } else if (reading.isWord(place, WORD.numberWord) && !isTechnical(reading, place + 1)) {
      const { at, marked, worded } = reading.valueAt(place);
      const value = pieces[at];
      if (
        value?.kind === 'number' &&
        value.text.length > 2 &&
        (marked || worded) &&
        !isAmount(reading, at, at + 1)
      )
        judgeNumbered(reading, at, true, worded);
    } else if (piece.kind === 'unspaced') {
      const next = pieces[place + 1];
      const behindMark = next?.kind === 'mark' && /^[:：=]$/u.test(next.text) ? place + 2 : place + 1;
      if (suffixCue(piece.lower).numbered) judgeNumbered(reading, behindMark, true, true);
    }
  }
}

/**
 * Hides the value if it looks like a number of its own. `sure`: "number", a colon or a number sign stands before it.
 * `worded`: a word does.
 */
function judgeNumbered(reading: Reading, at: number, sure: boolean, worded: boolean): void {
  const { pieces } = reading;
  const value = pieces[at];
  if (value === undefined || value.kind === 'mark') return;
  if (value.kind === 'word') {
    judgeLetters(reading, at, sure);
    return;
  }
  if (value.kind === 'unspaced' || isAmount(reading, at, at + 1)) return;
  const { from, to, text } = codeAt(reading, at);
  if (DATE.test(text) || INSTANT.test(text) || DIMENSIONS.test(text)) return;
  const digits = countOf(text, /\p{N}/gu);
  const isMixed = /\p{L}/u.test(text);
  if (isMixed && QUANTITY.test(text)) return;
  const run = isMixed ? null : runAt(reading, at);
  const end = run === null ? to : Math.max(to, run.to);
  if (YEARS.test(text) && !sure) return;
  if (sure && (digits > 1 || text.length > 2)) reading.hide(from, end, 'number');
  else if (isMixed && text.length > 2 && /\p{Lu}|-/u.test(text) && digits > 1)
    reading.hide(from, end, 'number');
  else if (digits > 4 || (digits > 2 && isBareNumber(reading, text, end, worded)))
    reading.hide(from, end, 'number');
  if (isMixed || run !== null) hideTail(reading, end, sure);
}

/** True for "order 4471 is late"; false for "order 100 flyers" and "transfer 1500". */
function isBareNumber(reading: Reading, number: string, end: number, worded: boolean): boolean {
  const round = /(?<!0)0+$/u.exec(number)?.[0].length ?? 0;
  if (number.length === 3 && (worded || !closes(reading, end))) return false;
  return round === 0 || (round === 1 && closes(reading, end));
}

/** Hides groups of capitals and digits that follow: "AB12 CDE", "1234 BCD". */
function hideTail(reading: Reading, end: number, sure: boolean): void {
  const { pieces } = reading;
  let to = end;
  while (sure && to < end + 3) {
    const piece = pieces[to];
    if (piece === undefined || piece.line || !/^[\p{Lu}\p{N}]{1,4}$/u.test(piece.text)) break;
    if (piece.text === 'I' || NOT_NAMES.has(piece.lower)) break;
    to += 1;
  }
  reading.hide(end, to, 'number');
}

/** Hides "رقم اللوحة ح ب د 4821". */
function hideSpacedLetters(reading: Reading, at: number): boolean {
  const { pieces } = reading;
  let to = at;
  while (to < at + 4 && pieces[to]?.kind === 'word' && pieces[to]!.text.length === 1) to += 1;
  if (pieces[to]?.kind !== 'number') return false;
  reading.hide(at, to + 1, 'number');
  return true;
}

/** Hides "PNR: KXQWZT", "plate is B AB 123". */
function judgeLetters(reading: Reading, at: number, sure: boolean): void {
  const { pieces, flat } = reading;
  const value = pieces[at]!;
  if (!value.cased && value.text.length === 1 && hideSpacedLetters(reading, at)) return;
  if (!sure && value.text.length > 3) return;
  if (/^\p{Lu}{1,3}$/u.test(value.text)) {
    let to = at + 1;
    let digits = false;
    while (
      to < at + 6 &&
      /^(?:[\p{Lu}\p{N}]{1,8}|[-·.])$/u.test(pieces[to]?.text ?? '') &&
      !pieces[to]!.line
    ) {
      digits ||= /\p{N}/u.test(pieces[to]!.text);
      to += 1;
    }
    if (digits) reading.hide(at, to, 'number');
    return;
  }
  if (
    !flat &&
    /^\p{Lu}{5,8}$/u.test(value.text) &&
    !NOT_NAMES.has(value.lower) &&
    !numberedWords.has(value.lower)
  )
    reading.hide(at, at + 1, 'number');
}

function closes({ pieces }: Reading, at: number): boolean {
  const piece = pieces[at];
  return piece === undefined || piece.line || piece.kind === 'mark' || STOP_WORDS.has(piece.lower);
}
