/**
 * Tells amounts and quantities from dialled numbers. Some words for units mean something else in other languages: "601
 * 234 567 w sprawie", "0171 234 567 am Abend".
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { QUESTION_ENDS } from '../document/question-marks.ts';
import { CUE } from './cues.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { NOT_NAMES, STOP_WORDS, UNITS } from './vocabulary.ts';

const CURRENCY = /^\p{Sc}$/u;
const AFTER_AMOUNT = /^[\p{Sc}%‰°]$/u;
const CURRENCY_CODES = PERSONAL_WORDS.currencyCodes;
const YEAR = /^(?:19|20)\d{2}$/u;
/** Number of digits in a phone number with its area code. */
const DIALLED = { least: 7, most: 15 };
/** Least digits of two groups that are surely no quantity. */
const SURELY_DIALLED = 10;
/** Longest unit, UTF-16 units, that may be a word of another language. */
const SHORT = 3;
/** Words for halves of a day. German also has "am" before days. */
const HALVES_OF_DAY = PERSONAL_WORDS.halvesOfDay;
/** Most pieces between the word for calling and the number: "call me back on". */
const CALLED_WITHIN = 5;

/** True if the pieces from `from` to `to` (exclusive) are a price, a quantity or a share. */
export function isAmount(reading: Reading, from: number, to: number): boolean {
  if (isPriced(reading, from, to)) return true;
  const after = reading.pieces[to];
  if (after === undefined || after.line) return false;
  if (after.kind === 'unspaced') return [1, 2, 3].some((length) => UNITS.has(after.lower.slice(0, length)));
  return isUnit(after, reading.pieces[to - 1]!);
}

/** True if a currency sign, currency code or percent sign stands beside the number. */
export function isPriced({ pieces }: Reading, from: number, to: number): boolean {
  const [before, after] = [pieces[from - 1], pieces[to]];
  if (before !== undefined && (CURRENCY.test(before.text) || CURRENCY_CODES.has(before.text))) return true;
  if (after === undefined || after.line) return false;
  return AFTER_AMOUNT.test(after.text) || CURRENCY_CODES.has(after.text);
}

/** True if the piece is a unit after a number whose last group is `group`. */
function isUnit({ kind, lower, text }: Piece, group: Piece): boolean {
  if (kind !== 'word' || !UNITS.has(lower)) return false;
  if (HALVES_OF_DAY.has(lower)) return group.text.length < 3;
  return text !== lower || lower.length > SHORT || !(STOP_WORDS.has(lower) || NOT_NAMES.has(lower));
}

/** True if the number at `at` begins a quantity of its own: "in 2023 15 units". */
export function belongsElsewhere(pieces: readonly Piece[], at: number, groups: readonly Piece[]): boolean {
  const after = pieces[at + 1];
  if (after === undefined || after.line) return false;
  if (CURRENCY.test(after.text)) return true;
  if (after.kind !== 'word' || !UNITS.has(after.lower)) return false;
  const all = [...groups, pieces[at]!];
  if (isDialled(all)) return false;
  return isUnit(after, pieces[at]!) || YEAR.test(groups.at(-1)?.text ?? '');
}

/**
 * True if a number is grouped like phone numbers and unlike amounts: "06 12 34 56 78", "0171 234567", "22 123 45 67".
 * `called`: a word for calling stands before it.
 */
export function isDialled(groups: readonly Piece[], called = false): boolean {
  const [first] = groups;
  const digits = digitsOf(groups);
  if (first === undefined || digits < DIALLED.least || digits > DIALLED.most) return false;
  if (/^0\d/u.test(first.text)) return true;
  if (groups.length < 2 || isByThousands(groups) || groups.some(({ text }) => YEAR.test(text))) return false;
  if (called) return true;
  if (groups.length === 2) return digits >= SURELY_DIALLED;
  // Pairs alone may be sizes or hours.
  return groups.every(({ text }) => text.length < 5) && !groups.every(({ text }) => text.length === 2);
}

/** True for "601 234 567", which may be an amount. */
function isByThousands(groups: readonly Piece[]): boolean {
  return groups[0]!.text.length < 4 && groups.slice(1).every(({ text }) => text.length === 3);
}

/** True if a word for calling stands before the number in the same clause: "call me on", "dzwonić pod". */
export function isCalled(reading: Reading, place: number): boolean {
  if ((reading.kinds & CUE.calls) === 0) return false;
  for (let at = place; at >= 0 && place - at <= CALLED_WITHIN; at -= 1) {
    if (reading.callEnds.has(at)) return true;
    if (at === 0 || !isWithin(reading.pieces[at - 1]!)) return false;
  }
  return false;
}

const SENTENCE_END = new RegExp(`^[.!;。！${QUESTION_ENDS}]$`, 'u');

function isWithin({ kind, text, line }: Piece): boolean {
  return !line && kind !== 'number' && !SENTENCE_END.test(text);
}

function digitsOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { kind, text }) => sum + (kind === 'number' ? text.length : 0), 0);
}
