/**
 * Finds numbers and codes that identify a person, an order or a document: from five digits on, unless they are an
 * amount, a date, a quantity, a year, a version or a product name (`numbered.ts` finds shorter ones after a cue).
 * Validity of cards and accounts does not matter: a mistyped number is as personal.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { CUE, WORD } from './cues.ts';
import { belongsElsewhere, isAmount, isCalled, isDialled, isPriced } from './amounts.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { suffixCue } from './unspaced-cues.ts';
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';
import { COPULAS, DIGIT_WORDS, NOT_NAMES, NUMBER_WORDS, TECHNICAL } from './vocabulary.ts';

const LONG_CAPITALS = /[A-Z]{4}\w{12}/u;
const JOINTS: ReadonlySet<string> = new Set(['-', '–', '.', '/', '(', ')', '+', '·', '‑']);
const CHUNK_JOINTS: ReadonlySet<string> = new Set(['-', '_', '/', '.', ':', '#', '–', '‑', '~', '+', '=']);
/** Least digits of a number without a cue. */
const LONG = 5;
const SURELY_LONG = 7;
const MOST_GROUPS = 14;

/** Groups of digits that may form one number. */
interface Run {
  readonly from: number;
  to: number;
  readonly groups: Piece[];
  digits: number;
  /** True if it begins with "+", like a phone number. */
  readonly plus: boolean;
}

/** Adds the spans of numbers and codes. */
export function findNumbers(reading: Reading): void {
  const { pieces } = reading;
  if (reading.numbers) findShapes(reading);
  const isSpelled = (reading.words & WORD.digit) !== 0;
  if (
    !reading.numbers &&
    !isSpelled &&
    !LONG_CAPITALS.test(reading.text) &&
    (reading.kinds & CUE.numbered) === 0
  )
    return;
  for (let place = 0; place < pieces.length; place += 1) {
    const piece = pieces[place]!;
    if (piece.kind === 'number' || piece.kind === 'mixed') {
      const to = isCode(reading, place) ? judgeCode(reading, place) : judgeRun(reading, place);
      place = Math.max(place, to - 1);
    } else if (piece.kind === 'word' && piece.text.length > 15 && KEY.test(piece.text)) {
      reading.hide(place, place + 1, 'secret');
    } else if (reading.isWord(place, WORD.digit)) {
      place = Math.max(place, judgeSpelled(reading, place) - 1);
    }
  }
}

/** True if letters belong to the run without blanks around the piece. */
function isCode({ pieces }: Reading, place: number): boolean {
  if (pieces[place]!.kind === 'mixed') return true;
  const before = pieces[place - 1];
  const first = pieces[place]!;
  if (!first.spaced && before !== undefined && CHUNK_JOINTS.has(before.text) && !before.spaced) {
    const lead = pieces[place - 2];
    if (lead?.kind === 'word' && before.text !== '.' && before.text !== ':') return true;
  }
  for (let at = place + 1; at < pieces.length && at < place + 12; at += 1) {
    const piece = pieces[at]!;
    if (piece.spaced || piece.kind === 'unspaced') return false;
    if (piece.kind === 'mixed') return true;
    if (piece.kind === 'word')
      return piece.text.length < 6 && pieces[at - 1]!.kind === 'mark' && pieces[at - 1]!.text !== '.';
    if (piece.kind === 'mark' && !CHUNK_JOINTS.has(piece.text)) return false;
  }
  return false;
}

interface Code {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The whole run without blanks around a piece, with its joints. */
export function codeAt({ pieces, text }: Reading, place: number): Code {
  let from = place;
  while (from > 1 && place - from < 20) {
    const joint = pieces[from - 1]!;
    if (pieces[from]!.spaced || joint.spaced || !CHUNK_JOINTS.has(joint.text)) break;
    const lead = pieces[from - 2]!;
    if (lead.kind === 'mark' || lead.kind === 'unspaced') break;
    from -= 2;
  }
  let to = place + 1;
  while (to + 1 < pieces.length && to - place < 40) {
    const joint = pieces[to]!;
    const next = pieces[to + 1]!;
    if (joint.spaced || next.spaced || !CHUNK_JOINTS.has(joint.text)) break;
    if (next.kind === 'mark' || next.kind === 'unspaced') break;
    to += 2;
  }
  return { from, to, text: text.slice(pieces[from]!.start, pieces[to - 1]!.end) };
}

export const DIMENSIONS = /^\d{1,5}[x×]\d{1,5}(?:[x×]\d{1,5})?\p{L}{0,3}$/iu;
export const QUANTITY = new RegExp(
  String.raw`^\d{1,6}(?:[.,]\d{1,4})?${anyWordOf(PERSONAL_WORDS.units)}$`,
  'iu',
);
/** Numbers of programs, machines and standards: "KB5034441", "ISO 9001", "error 404". */
const NAMED = new RegExp(
  [
    String.raw`^(?:kb\d{6,8}|cve-\d{4}-\d{4,7}|0x[0-9a-f]{1,16}`,
    String.raw`${anyWordOf(PERSONAL_WORDS.standards)}[-/ ]?\d{1,6}(?:[-:]\d{1,4})*`,
    String.raw`${anyWordOf(PERSONAL_WORDS.technicalPrefixes)}[-_:/]?\d{1,4}(?:\.\d{1,4})*)$`,
  ].join('|'),
  'iu',
);
export const INSTANT = /^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:z|\+\d{2}:?\d{2})?$/iu;
const IDENTIFIER_PREFIX = new RegExp(`^${anyWordOf(PERSONAL_WORDS.identifierPrefixes)}$`, 'iu');

/** Judges a run of letters and digits; returns the index after it. */
function judgeCode(reading: Reading, place: number): number {
  const code = codeAt(reading, place);
  const { from, to, text } = code;
  if (isCodePersonal(reading, code)) reading.hide(from, to, text.length > 20 ? 'secret' : 'number');
  return to;
}

function isCodePersonal(reading: Reading, { from, to, text }: Code): boolean {
  // `electronic.ts` judges links; only their host is left.
  if (/^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,12}(?:[/:]|$)/u.test(text)) return false;
  const digits = countOf(text, /\p{N}/gu);
  const length = countOf(text, /[\p{L}\p{N}]/gu);
  if (DIMENSIONS.test(text) || QUANTITY.test(text) || NAMED.test(text) || INSTANT.test(text)) return false;
  if (isTechnical(reading, from) || isAmount(reading, from, to)) return false;
  if (/^\p{N}{1,6}-\p{L}{3,}/u.test(text) && digits < LONG) return false;
  const segments = text.split(/[-_/#]/u);
  if (IDENTIFIER_PREFIX.test(segments[0]!) && segments.length > 1 && digits > 1) return true;
  if (digits > LONG) return true;
  if (length > 11 && digits > 2 && !/\p{Ll}{5}/u.test(text)) return true;
  if (length > 15 && digits > 0 && !/\p{Ll}{6}/u.test(text)) return true;
  if (segments.length > 2 && digits > 3 && /^[\p{Lu}\p{N}]/u.test(text)) return true;
  if (/^(?:\p{Lu}{5}\p{N}{4}\p{Lu}|\p{Lu}{3}-\p{N}{4})$/u.test(text)) return true;
  if (/^\p{L}{1,4}\p{N}{5}$/u.test(text)) return true;
  return transitionsIn(text) > 4;
}

/** Number of matches of a global pattern. */
export function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function transitionsIn(text: string): number {
  return text.match(/\p{L}(?=\p{N})|\p{N}(?=\p{L})/gu)?.length ?? 0;
}

/** True after words that speak of no person: "error 0x12", "version 10". */
export function isTechnical({ pieces }: Reading, from: number): boolean {
  for (let at = from - 1, words = 0; at >= 0 && words < 2 && from - at < 6; at -= 1) {
    const { kind, lower, text } = pieces[at]!;
    if (kind === 'mark') {
      if (text === '.' || text === '?' || text === '!' || text === ',' || text === '。') return false;
      continue;
    }
    if (kind === 'unspaced') return suffixCue(lower).technical;
    if (TECHNICAL.has(lower)) return true;
    if (!NUMBER_WORDS.has(lower) && !COPULAS.has(lower)) return false;
    words += 1;
  }
  return false;
}

function judgeRun(reading: Reading, place: number): number {
  const run = runAt(reading, place);
  if (isRunPersonal(reading, run)) {
    const opened = reading.pieces[run.from - 1];
    reading.hide(opened?.text === '(' && run.groups.length > 1 ? run.from - 1 : run.from, run.to, 'number');
    hideCity(reading, run);
  }
  return run.to;
}

/** The groups of digits around `place` that may form one number. */
export function runAt(reading: Reading, place: number): Run {
  const { pieces } = reading;
  const plus = pieces[place - 1]?.text === '+';
  const groups = [pieces[place]!];
  const run: Run = {
    from: plus ? place - 1 : place,
    to: place + 1,
    groups,
    digits: pieces[place]!.text.length,
    plus,
  };
  const isPhone = plus || isCalled(reading, place);
  let joints = 0;
  for (let at = place + 1; at < pieces.length && groups.length < MOST_GROUPS; at += 1) {
    const piece = pieces[at]!;
    if (piece.line) break;
    if (piece.kind === 'number') {
      if (piece.spaced && pieces[at - 1]!.kind === 'mark' && /^[./,]$/u.test(pieces[at - 1]!.text)) break;
      if (pieces[at + 1]?.text === ':' && pieces[at + 2]?.kind === 'number' && !pieces[at + 1]!.spaced) break;
      if (piece.spaced && !isPhone && belongsElsewhere(pieces, at, groups)) break;
      groups.push(piece);
      run.digits += piece.text.length;
      run.to = at + 1;
      joints = 0;
    } else if (JOINTS.has(piece.text) && joints < 3) {
      joints += 1;
    } else break;
  }
  return run;
}

/** Prefixes of keys, which may lack digits. */
const KEY = /^(?:AKIA|ASIA|AIza|eyJ)/u;
export const DATE =
  /^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:\d{2}|\d{4}))(?: \d{1,2})?$/u;
export const YEARS = /^(?:19|20)\d{2}(?:[-–/](?:(?:19|20)\d{2}|\d{2}))?$/u;
const VERSION = /^\d{1,5}(?:\.\d{1,5}){2,4}$/u;
const DECIMAL = /^\d{1,6}\.\d{1,6}$/u;
const THOUSANDS = /^[1-9]\d{0,2}(?:\.000){1,3}$/u;
/** "250 000 000". */
const ROUND = /^[1-9]\d{0,2}(?: \d{3})* 000$/u;
/** Words before the numbers of goods, which everyone can buy. */
const GOODS = PERSONAL_WORDS.goodsNumbers;
const ROUND_RANGE = /^([1-9]\d{0,3}0)[-–]([1-9]\d{0,4}0)$/u;

function isRunPersonal(reading: Reading, run: Run): boolean {
  const { pieces, text } = reading;
  const { from, to, digits, groups, plus } = run;
  if (plus && digits >= SURELY_LONG) return true;
  if (digits < LONG) return false;
  const written = text.slice(pieces[from]!.start, pieces[to - 1]!.end);
  if (DATE.test(written) || YEARS.test(written) || DECIMAL.test(written) || THOUSANDS.test(written))
    return false;
  const called = isCalled(reading, from);
  const isQuantity = isDialled(groups, called) ? isPriced(reading, from, to) : isAmount(reading, from, to);
  if (called && !isQuantity && (digits >= SURELY_LONG || isShortCall(reading, run))) return true;
  if (
    VERSION.test(written) &&
    (groups.length === 3 ? digits < 10 : true) &&
    groups.some(({ text: own }) => own.length < 3)
  )
    return false;
  if (ROUND.test(written) || GOODS.has(pieces[from - 1]?.lower ?? '')) return false;
  if (ROUND_RANGE.test(written) && digits < 11) return false;
  if (groups.length > 1 && groups.every(({ text: own }) => YEARS.test(own))) return false;
  if (isGroupedByComma(reading, run)) return false;
  if (isTechnical(reading, from) && digits < 11 && groups.length < 3) return false;
  if (digits < 10 && isQuantity) return false;
  if (groups.length === 1 && /^[1-9]\d{0,6}000?$/u.test(written) && /000$|00$/u.test(written) && digits < 8)
    return false;
  // Groups separated by blanks may be two numbers, except postcodes of three and two digits.
  const isParted = groups.length > 1 && groups.slice(1).every(({ spaced }) => spaced);
  return digits >= SURELY_LONG || !isParted || /^\p{N}{3} \p{N}{2}$/u.test(written);
}

/** True for "call 712 345"; false for "call about pages 247-249". */
function isShortCall(reading: Reading, { from, groups }: Run): boolean {
  return groups.slice(1).every(({ spaced }) => spaced) && !isTechnical(reading, from);
}

/** True for "1,250,000", an amount. */
function isGroupedByComma({ pieces }: Reading, { from, to }: Run): boolean {
  const after = pieces[to];
  const next = pieces[to + 1];
  const isBefore =
    pieces[from - 1]?.text === ',' && !pieces[from]!.spaced && pieces[from - 2]?.kind === 'number';
  const isAfter = after?.text === ',' && next?.kind === 'number' && !next.spaced && !after.spaced;
  return isBefore || isAfter;
}

/** Hides the town after a postcode: "10115 Berlin". */
function hideCity(reading: Reading, { to, groups, digits }: Run): void {
  const { pieces, flat } = reading;
  if (digits !== 5 || groups.length > 2 || flat) return;
  let end = to;
  while (end < to + 2) {
    const piece = pieces[end];
    if (piece?.kind !== 'word' || !piece.capital || piece.line || NOT_NAMES.has(piece.lower)) break;
    if (/^\p{Lu}+$/u.test(piece.text)) break;
    end += 1;
  }
  reading.hide(to, end, 'address');
}

/** Hides a spelled number: "four one two five nine". */
function judgeSpelled(reading: Reading, place: number): number {
  const { pieces } = reading;
  let to = place;
  let count = 0;
  for (let at = place; at < pieces.length && at < place + 80; at += 1) {
    const { kind, lower } = pieces[at]!;
    if (kind === 'mark' && /^[,-]$/u.test(lower)) continue;
    if (kind !== 'number' && !DIGIT_WORDS.has(lower)) break;
    count += 1;
    to = at + 1;
  }
  if (count >= LONG) reading.hide(place, to, 'number');
  return Math.max(to, place + 1);
}

/** Documents, plates and postcodes with letters and blanks; a match begins at a capital or a digit. */
const SHAPES: readonly RegExp[] = [
  /[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]{4}){2,7}(?:[ -]?[A-Z\d]{1,4})?(?![\p{L}\p{N}])/iuy,
  /[A-Z]{2}[ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-D](?![\p{L}\p{N}])/iuy,
  /[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?![\p{L}\p{N}])/uy,
  /[A-Z]\d[A-Z] ?\d[A-Z]\d(?![\p{L}\p{N}])/uy,
  /[1-9]\d{3} ?[A-Z]{2}(?= \p{Lu}\p{Ll})/uy,
  /[A-Z]{2}\d{2} ?[A-Z]{3}(?![\p{L}\p{N}])/uy,
  /[A-Z]{2}-\d{3}-[A-Z]{2}(?![\p{L}\p{N}])/uy,
  /[A-ZÄÖÜ]{1,3}-[A-Z]{1,2}[ -]?\d{1,4}[EH]?(?![\p{L}\p{N}])/uy,
  /(?:0[1-9]|[1-7]\d|8[01]) (?!KB|MB|GB|TB|KM|KG|TL|PS|HP|USD|EUR)[A-Z]{1,3} \d{2,4}(?![\p{L}\p{N}])/uy,
  /\d{2,3} ?[ぁ-ん가나다라마거너더러머버서어저고노로모보소오조구누두루무부수우주바사자하허호배] ?\d{1,2}-?\d{2}(?!\p{N})/uy,
  /[АВЕКМНОРСТУХ] ?\d{3} ?[АВЕКМНОРСТУХ]{2} ?\d{2,3}(?![\p{L}\p{N}])/iuy,
];

/** "沪A·4K821". */
const CHINESE_PLATE =
  /[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z][·・ ]?[A-Z\d]{5,6}(?![A-Za-z\d])/gu;

function findShapes(reading: Reading): void {
  const { text, pieces, spans } = reading;
  if (reading.unspaced)
    for (const { 0: plate, index } of text.matchAll(CHINESE_PLATE))
      spans.push({ start: index, end: index + plate.length, kind: 'number' });
  for (const [place, piece] of pieces.entries()) {
    if (piece.text.length > 4 && piece.kind === 'word') continue;
    const isStart =
      piece.kind === 'number' || piece.kind === 'mixed' || (piece.kind === 'word' && piece.capital);
    if (!isStart || (!piece.spaced && pieces[place - 1]?.kind !== 'mark')) continue;
    if (piece.kind === 'word' && !holdsDigit(pieces, place + 1)) continue;
    for (const shape of SHAPES) {
      shape.lastIndex = piece.start;
      const found = shape.exec(text)?.[0];
      if (found === undefined || !/\d/u.test(found)) continue;
      if (shape === SHAPES[0] && countOf(found, /\d/gu) < 8) continue;
      if (isTechnical(reading, place)) continue;
      spans.push({ start: piece.start, end: piece.start + found.length, kind: 'number' });
    }
  }
}

function holdsDigit(pieces: readonly Piece[], at: number): boolean {
  for (let near = at; near < at + 3 && near < pieces.length; near += 1) {
    const { kind } = pieces[near]!;
    if (kind === 'number' || kind === 'mixed') return true;
  }
  return false;
}
