/**
 * Finds addresses in scripts with spaces: a street with a number, in the word orders of many languages, and what
 * follows it.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { CUE, WORD } from './cues.ts';
import { everyPhrase, everyWord } from './personal-lexicon.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import { NOT_NAMES, STOP_WORDS, UNITS } from './vocabulary.ts';

const BEFORE = everyWord('streetsBefore');
const AFTER = everyWord('streetsAfter');
/** Endings of streets, longest first. */
const ENDINGS = everyPhrase('streetEndings').toSorted((x, y) => y.length - x.length);
const LONGEST_ENDING = Math.max(...ENDINGS.map(({ length }) => length));
const ENDING_SET: ReadonlySet<string> = new Set(ENDINGS);
const STREET_PARTICLES = PERSONAL_WORDS.streetParticles;
/** Words between a street and its number, and between number and flat. */
const FILLERS = PERSONAL_WORDS.houseWords;
const NUMBER = /^\p{N}{1,5}\p{L}{0,2}$/u;
const HOUSE = /^\p{N}{1,5}(?:\p{L}|bis|ter|st|nd|rd|th)?$/u;
const HOUSE_ORDINALS = PERSONAL_WORDS.houseOrdinals;
/** Most words of a street's name. */
const MOST_NAME_WORDS = 4;
const MOST_TAIL = 14;

/** Adds the spans of addresses. */
export function findPlaces(reading: Reading): void {
  const { pieces } = reading;
  if (!reading.numbers) return;
  for (let at = 0, number = -1; at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    if (piece.kind !== 'word') continue;
    while (number <= at && number < pieces.length) number = nextNumber(pieces, Math.max(number + 1, at + 1));
    if (ARTICLES.has(piece.lower) && LEADS.has(pieces[at - 1]?.lower ?? '') && pieces[at - 1]!.capital)
      hideStreetFirst(reading, at);
    if (!reading.isWord(at, WORD.street)) {
      if (number - at > NUMBER_WITHIN) continue;
      hideBeforePostcode(reading, at);
      if (numberAt(reading, pieces[at + 1]?.text === '.' ? at + 2 : at + 1) > 0 && hasStreetEnding(piece))
        hideCompound(reading, at);
      continue;
    }
    if (AFTER.has(piece.lower)) hideNumberFirst(reading, at);
    if (BEFORE.has(piece.lower)) hideStreetFirst(reading, at);
    else if (hasStreetEnding(piece)) hideCompound(reading, at);
    if (AFTER.has(piece.lower)) hideCompound(reading, at);
  }
  for (const { to, kinds } of reading.cues) if ((kinds & CUE.addressCues) !== 0) hideAddress(reading, to);
}

/** Most pieces between a street and its number. */
const NUMBER_WITHIN = 6;

function nextNumber(pieces: readonly Piece[], from: number): number {
  let at = from;
  while (at < pieces.length && pieces[at]!.kind !== 'number' && pieces[at]!.kind !== 'mixed') at += 1;
  return at;
}

function hasStreetEnding({ lower }: Piece): boolean {
  for (let length = Math.min(LONGEST_ENDING, lower.length - 2); length > 1; length -= 1)
    if (ENDING_SET.has(lower.slice(-length))) return true;
  return false;
}

/** Words that always mean a street. */
const SURE_STREETS = PERSONAL_WORDS.sureStreets;

/** Hides "33 Canal Row", "1200 N 5th St", "221b baker street". */
function hideNumberFirst(reading: Reading, street: number): void {
  const { pieces } = reading;
  let from = street;
  let count = 0;
  while (from > 0 && count <= MOST_NAME_WORDS) {
    const before = pieces[from - 1]!;
    if (pieces[from]!.line) return;
    if (HOUSE.test(before.text) && count > 0 && !/\p{L}{2}$/u.test(before.text)) break;
    if (before.text === '.' || before.text === "'" || before.text === '-') {
      from -= 1;
      continue;
    }
    if (before.kind === 'mark' || before.kind === 'unspaced') return;
    if (
      STOP_WORDS.has(before.lower) ||
      (UNITS.has(before.lower) && !/^[NSEW]$/u.test(before.text)) ||
      NOT_NAMES.has(before.lower)
    )
      return;
    count += 1;
    from -= 1;
  }
  const number = pieces[from - 1];
  if (number === undefined || count === 0 || !HOUSE.test(number.text)) return;
  const words = pieces.slice(from, street);
  const isWritten = words.some(({ capital }) => capital) || pieces[street]!.capital;
  if (!isWritten && (!SURE_STREETS.has(pieces[street]!.lower) || words.some(({ lower }) => AFTER.has(lower))))
    return;
  let start = from - 1;
  if (/^[-/]$/u.test(pieces[start - 1]?.text ?? '') && pieces[start - 2]?.kind === 'number') start -= 2;
  reading.hide(start, tailEnd(reading, street + 1), 'address');
}

/** Words after a number that make it an hour: "10 AM. Can you …". */
const HOURS = PERSONAL_WORDS.halvesOfDay;

/** Hides "rue des Tilleuls 12", "ul. Długa 5", "12 bis rue des Tilleuls", "Av. dos Jacarandás, 1520". */
function hideStreetFirst(reading: Reading, street: number): void {
  const { pieces } = reading;
  let at = street + 1;
  if (pieces[at]?.text === '.' || pieces[at]?.text === '/') at += 1;
  let words = 0;
  let named = false;
  while (words < MOST_NAME_WORDS + 2) {
    const piece = pieces[at];
    if (piece === undefined || piece.line) break;
    const isLink = /^['’.-]$/u.test(piece.text) && !piece.spaced;
    if (!isLink && (piece.kind === 'mark' || piece.kind === 'unspaced')) break;
    // "Calle 72 # 10-34".
    if (piece.kind === 'number' && !named && /^(?:#|no)$/u.test(pieces[at + 1]?.lower ?? '')) named = true;
    else if (HOUSE.test(piece.text) && (named || piece.kind === 'number')) break;
    if (!isLink && !STREET_PARTICLES.has(piece.lower) && !FILLERS.has(piece.lower)) {
      if (piece.cased && !piece.capital && (STOP_WORDS.has(piece.lower) || named)) break;
      if (UNITS.has(piece.lower) || (NOT_NAMES.has(piece.lower) && !piece.capital)) break;
      named = true;
    }
    words += 1;
    at += 1;
  }
  if (!named) return;
  const number = numberAt(reading, at);
  const lead = pieces[street - 1];
  const isBis = HOUSE_ORDINALS.has(lead?.lower ?? '');
  const comma = lead?.text === ',';
  const before = isBis || comma ? street - 2 : street - 1;
  const first = pieces[before];
  const isHour = HOURS.has(pieces[street]!.lower);
  if (first !== undefined && HOUSE.test(first.text) && !isHour && !pieces[street]!.line) {
    reading.hide(before, tailEnd(reading, at), 'address');
    return;
  }
  // "Im Jahr 2024".
  if (number > 0 && /^(?:19|20)\p{N}{2}$/u.test(pieces[number]!.text) && pieces[number + 1]?.text !== ',')
    return;
  if (number > 0) reading.hide(street, tailEnd(reading, number + 1), 'address');
}

/** Index of the house number after a street, or −1. */
function numberAt({ pieces }: Reading, from: number): number {
  for (let at = from; at < from + 5; at += 1) {
    const piece = pieces[at];
    if (piece === undefined || piece.line) return -1;
    if (NUMBER.test(piece.text)) return isQuantity(pieces, at) ? -1 : at;
    if (!/^[,.:#-]$/u.test(piece.text) && !FILLERS.has(piece.lower)) return -1;
  }
  return -1;
}

/** True if a unit follows and no flat: "15 km", not "15 m. 4". */
function isQuantity(pieces: readonly Piece[], number: number): boolean {
  const unit = pieces[number + 1];
  if (unit === undefined || !UNITS.has(unit.lower)) return false;
  const next = pieces[pieces[number + 2]?.text === '.' ? number + 3 : number + 2];
  if (!FILLERS.has(unit.lower)) return true;
  // "15 m. 4" is a flat; a sentence may contain "15 m".
  return next !== undefined && !NUMBER.test(next.text);
}

/** "An der Alster 3". */
const LEADS = PERSONAL_WORDS.streetLeads;
const ARTICLES = PERSONAL_WORDS.streetArticles;

/** Hides any street before a postcode and a town, whatever its name: "Vinohradská 112, 130 00 Praha". */
function hideBeforePostcode(reading: Reading, street: number): void {
  const { pieces } = reading;
  const [name, house, comma, code] = [
    pieces[street]!,
    pieces[street + 1],
    pieces[street + 2],
    pieces[street + 3],
  ];
  if (!name.capital || name.line !== (street === 0) || NOT_NAMES.has(name.lower)) return;
  if (house === undefined || !HOUSE.test(house.text) || comma?.text !== ',' || code?.kind !== 'number')
    return;
  const isWhole = /^\p{N}{4,5}$/u.test(code.text);
  const tail = pieces[street + 4];
  const isSplit = /^\p{N}{2,3}$/u.test(code.text) && (tail?.kind === 'number' || tail?.text === '-');
  if (isWhole || isSplit) reading.hide(street, tailEnd(reading, street + 2), 'address');
}

/** Hides "Hauptstraße 12", "Lange Straße 5", "Çınar Sokak No:18". */
function hideCompound(reading: Reading, street: number): void {
  const { pieces } = reading;
  let at = street + 1;
  if (pieces[at]?.text === '.') at += 1;
  const number = numberAt(reading, at);
  if (number < 0) return;
  let from = street;
  const isWhole = AFTER.has(pieces[street]!.lower);
  while (from > 0 && street - from < 3) {
    const before = pieces[from - 1]!;
    if (pieces[from]!.line) break;
    const isHyphen = before.text === '-' && !pieces[from]!.spaced;
    if (!isHyphen && !(before.kind === 'word' && before.capital && !NOT_NAMES.has(before.lower) && isWhole))
      break;
    from -= isHyphen ? 2 : 1;
  }
  if (isWhole && from === street) return;
  if (!isWhole && pieces[street]!.cased && !pieces[street]!.capital && pieces[street]!.lower.length < 8)
    return;
  reading.hide(Math.max(0, from), tailEnd(reading, number + 1), 'address');
}

/** The end of the address after its street: flat, postcode, town. */
function tailEnd({ pieces }: Reading, from: number): number {
  let end = from;
  for (let at = from; at < from + MOST_TAIL && at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    if (piece.line && !/^[\p{N}\p{Lu}]/u.test(piece.text)) break;
    if (piece.kind === 'mark') {
      if (piece.text === '.' && pieces[at + 1]?.spaced === true && !FILLERS.has(pieces[at - 1]!.lower)) break;
      if (!/^[,./:#-]$/u.test(piece.text)) break;
      continue;
    }
    if (piece.kind === 'number' || piece.kind === 'mixed') {
      if (isQuantity(pieces, at) || piece.text.length > 6) break;
      end = at + 1;
      continue;
    }
    if (FILLERS.has(piece.lower) && /^(?:[.:#]|\p{N}.*)$/u.test(pieces[at + 1]?.text ?? '')) continue;
    const isUnit = piece.text.length === 1 && /\p{L}/u.test(piece.text) && !piece.spaced;
    const isTown =
      piece.capital &&
      !NOT_NAMES.has(piece.lower) &&
      !STOP_WORDS.has(piece.lower) &&
      followsNumber(pieces, at);
    if (!isUnit && !isTown) break;
    end = at + 1;
  }
  return end;
}

/** True if the word follows a postcode or a comma, where towns stand. */
function followsNumber(pieces: readonly Piece[], at: number): boolean {
  const before = pieces[at - 1]!;
  if (before.kind === 'number' && before.text.length > 3) return true;
  return before.text === ',' && pieces[at + 1]?.kind !== 'word';
}

/** Most pieces of an address after "my address is". */
const MOST_ADDRESS = 16;

function hideAddress(reading: Reading, to: number): void {
  const { pieces } = reading;
  const { at: from, marked } = reading.valueAt(to);
  let [end, digits, capitals] = [from, false, 0];
  for (let at = from; at < from + MOST_ADDRESS && at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    if (piece.line && at > from && !marked) break;
    if (
      piece.kind === 'mark' &&
      /^[.!?;]$/u.test(piece.text) &&
      (pieces[at + 1]?.spaced ?? true) &&
      pieces[at - 1]!.text.length > 3
    )
      break;
    if (
      piece.kind === 'word' &&
      (NOT_NAMES.has(piece.lower) || STOP_WORDS.has(piece.lower)) &&
      !STREET_PARTICLES.has(piece.lower) &&
      !FILLERS.has(piece.lower)
    )
      break;
    if (piece.kind === 'number' || piece.kind === 'mixed') {
      if (isQuantity(pieces, at)) break;
      digits = true;
      end = at + 1;
    } else if (piece.kind === 'word') {
      if (piece.capital) capitals += 1;
      if (piece.capital || !piece.cased) end = at + 1;
    } else if (piece.kind === 'unspaced') break;
  }
  if (digits && (capitals > 0 || marked || !(pieces[from]?.cased ?? true)))
    reading.hide(from, end, 'address');
}
