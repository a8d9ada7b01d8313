/**
 * Finds names of people in scripts with spaces: after cues, and given names anywhere.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { LEXICON } from '../document/lexicon.ts';
import { once } from '../document/once.ts';
import { CUE, NOUN_CAPITALS, WORD, type Cue } from './cues.ts';
import { isAboutFigure } from './figures.ts';
import { isNameLike, nameEnd } from './names.ts';
import { everyPhrase } from './personal-lexicon.ts';
import { piecesOf, type Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import { isNameOfThing, isThing } from './things.ts';
import { isDemonym, isFamilyName, isGivenName, isSureName } from './vocabulary.ts';

/** Titles that only a name follows, however it is written. */
const SURE_TITLES = PERSONAL_WORDS.sureTitles;
/** Made at the first need: it takes a fifth of a second, and most processes read no signature. */
const closings = once(
  (): ReadonlySet<string> =>
    new Set(
      [...LEXICON.signOffs.all, ...everyPhrase('greetings'), ...PERSONAL_WORDS.shortClosings].map((phrase) =>
        piecesOf(phrase)
          .map(({ lower }) => lower)
          .join(' '),
      ),
    ),
);
const LONGEST_CLOSING = 5;

/** Kinds of cues beside a name. */
const ANNOUNCES =
  CUE.introductions |
  CUE.nameFields |
  CUE.titles |
  CUE.presentations |
  CUE.greetings |
  CUE.persons |
  CUE.roles |
  CUE.signOffs |
  CUE.here;

/** Adds the spans of names. */
export function findPeople(reading: Reading): void {
  for (const cue of (reading.kinds & ANNOUNCES) === 0 ? [] : reading.cues) {
    const { kinds } = cue;
    if ((kinds & CUE.introductions) !== 0) hideIntroduced(reading, cue.to);
    if ((kinds & CUE.nameFields) !== 0) hideField(reading, cue);
    if ((kinds & CUE.titles) !== 0) hideTitled(reading, cue);
    if ((kinds & CUE.presentations) !== 0) hidePresented(reading, cue);
    if ((kinds & CUE.greetings) !== 0) hideGreeted(reading, cue.to);
    if ((kinds & (CUE.persons | CUE.roles)) !== 0) hideRelated(reading, cue);
    if ((kinds & CUE.signOffs) !== 0) hideSigned(reading, cue);
    if ((kinds & CUE.here) !== 0) hideSpeaking(reading, cue);
  }
  if ((reading.words & WORD.mayName) === 0) return;
  findSignatures(reading);
  findGivenNames(reading);
}

function hideIntroduced(reading: Reading, to: number): void {
  let at = to;
  const between = reading.pieces[at];
  if (between !== undefined && /^[:"“„«'(]$/u.test(between.text)) at += 1;
  const piece = reading.pieces[at];
  if (piece === undefined || (piece.line && at === to)) return;
  reading.hide(at, nameEnd(reading, at, true), 'name');
}

/** Hides "Full name: Ana Ruiz", "last name is Ruiz". */
function hideField(reading: Reading, { to }: Cue): void {
  const { at, marked, worded } = reading.valueAt(to);
  const piece = reading.pieces[at];
  if (piece === undefined || (!marked && !worded && !isNameLike(piece))) return;
  if (!marked && !worded && !piece.cased) return;
  let end = nameEnd(reading, at, marked || worded);
  // "Ruiz, Ana".
  const comma = reading.pieces[end];
  if (
    marked &&
    end > at &&
    comma?.text === ',' &&
    isNameLike(reading.pieces[end + 1]) &&
    isGivenName(reading.pieces[end + 1]!)
  )
    end = nameEnd(reading, end + 1, false);
  reading.hide(at, end, 'name');
}

function hideTitled(reading: Reading, { from, to }: Cue): void {
  const { pieces } = reading;
  const title = pieces[from]!;
  let at = to;
  if (pieces[at]?.text === '.' || pieces[at]?.text === "'") at += 1;
  // "Herr Dr. Weber".
  const next = pieces[at];
  if (next === undefined || next.line || !next.spaced) return;
  const isSure = SURE_TITLES.has(title.lower);
  if (!title.capital && title.cased && !isSure && !isGivenName(next) && !isTitledSmall(reading, title, next))
    return;
  if (!next.cased && !isNameLike(next)) return;
  if (!isSure && isNameOfThing(reading, from, at)) return;
  hideName(reading, at, nameEnd(reading, at, isSure && !reading.flat));
}

/** True for "la doctora Etxebarria"; false for "don't miss Black Friday". */
function isTitledSmall({ flat }: Reading, title: Piece, next: Piece): boolean {
  return (
    !flat &&
    next.capital &&
    isNameLike(next) &&
    !isThing(next) &&
    title.text.length > 2 &&
    title.lower !== 'miss'
  );
}

function hidePresented(reading: Reading, { from, to, kinds }: Cue): void {
  const { pieces } = reading;
  const first = pieces[to];
  if (first === undefined || first.line) return;
  if (!first.capital) {
    if (isGivenName(first, false)) hideName(reading, to, nameEnd(reading, to, true));
    return;
  }
  if (!isNameLike(first)) return;
  const end = nameEnd(reading, to, false);
  const isKnown = isGivenName(first);
  // German "im Kino"; in English, "im" is written for "I'm".
  if (pieces[from]!.lower === 'im' && !isKnown) return;
  const isDouble = end - to > 1 && !isDemonym(first);
  const isAlone =
    (kinds & NOUN_CAPITALS) === 0 && !reading.flat && !isDemonym(first) && closes(reading, end, from);
  if (isKnown || (isDouble && !reading.flat) || isAlone) hideName(reading, to, end);
}

const SPEAKERS = PERSONAL_WORDS.speakers;
const BEHIND_SPEAKER = PERSONAL_WORDS.behindSpeaker;

/** True if a presentation ends: "I'm Oluwaseun, …", "this is Temperance from …". `cue`: index of its first piece. */
function closes({ pieces }: Reading, at: number, cue: number): boolean {
  const piece = pieces[at];
  if (piece === undefined || piece.line || /^[.!;:]$/u.test(piece.text) || BEHIND_SPEAKER.has(piece.lower))
    return true;
  if (piece.text !== ',') return false;
  const [first, second] = [pieces[cue]!.lower, pieces[cue + 1]!.lower];
  return SPEAKERS.has(first) || SPEAKERS.has(`${first} ${second}`);
}

function hideGreeted(reading: Reading, to: number): void {
  const { pieces } = reading;
  const at = pieces[to]?.text === ',' ? to + 1 : to;
  const first = pieces[at];
  if (first === undefined || first.kind !== 'word' || (first.line && at === to)) return;
  if (!isNameLike(first)) {
    if (first.cased && isGivenName(first, false) && !first.capital) hideName(reading, at, at + 1);
    return;
  }
  const end = nameEnd(reading, at, false);
  if (isGivenName(first)) hideName(reading, at, end);
  else if (first.cased && !reading.flat && end - at < 4 && at === to && reading.endsAt(end))
    hideName(reading, at, end);
}

const POSSESSIVES = PERSONAL_WORDS.germanPossessives;

function hideRelated(reading: Reading, { from, to, kinds }: Cue): void {
  const { pieces } = reading;
  if (pieces[from]!.capital && (reading.kinds & CUE.figures) !== 0 && isFigure(reading, from, from + 1))
    return;
  const at = pieces[to]?.text === ',' || pieces[to]?.text === '(' ? to + 1 : to;
  const first = pieces[at];
  if (first === undefined || first.line || first.kind !== 'word') return;
  if (!isNameLike(first)) {
    if (first.cased && isGivenName(first, false)) hideName(reading, at, nameEnd(reading, at, true));
    return;
  }
  const end = nameEnd(reading, at, false);
  // "meine Tochter Mila": after a possessive, no other noun fits.
  const isOwn = POSSESSIVES.has(pieces[from - 1]?.lower ?? '');
  const isSure = (kinds & CUE.persons) !== 0 && ((kinds & NOUN_CAPITALS) === 0 || isOwn) && at === to;
  if (!first.cased) {
    const mayStand = !first.lower.startsWith('ال') && !isThing(first) && !isNameOfThing(reading, at, at + 1);
    if (isGivenName(first) || (isSure && mayStand && pieces[at + 1] !== undefined))
      hideName(reading, at, end);
    return;
  }
  const isKnown = isGivenName(first);
  if (reading.flat && !isKnown) return;
  if (!isKnown && (isThing(first) || pieces[end]?.kind === 'number')) return;
  if (!isOwn && isNameOfThing(reading, at, end)) return;
  if (isKnown || end - at > 1 || isSure) hideName(reading, at, end);
}

/** Hides a name up to the end of its line or sentence: "Kind regards, R. Delacroix". */
function hideSigned(reading: Reading, { from, to }: Cue): void {
  const { pieces } = reading;
  const cue = pieces[from]!;
  if (!cue.line && from > 0 && !cue.capital && pieces[from - 1]!.kind !== 'mark' && cue.cased) return;
  let at = to;
  while (at < to + 3 && /^[,!.:;،，–—-]$/u.test(pieces[at]?.text ?? '')) at += 1;
  const first = pieces[at];
  if (first?.kind !== 'word') return;
  if (!isNameLike(first) && !first.cased) return;
  const end = nameEnd(reading, at, false);
  if (!first.cased && at === to && !first.line) return;
  // "Nennen Sie mir Ihre Kundennummer." is no letter of a Mrs Kundennummer; "Viele Grüße Ihre Wüstenhagen." is one.
  const before = pieces[from - 1];
  const isInside = !cue.line && before?.kind === 'word' && (!before.capital || before.lower === 'sie');
  const isOwned = isInside && at === to && POSSESSIVES.has(pieces[to - 1]!.lower);
  if (isOwned && end - at < 2 && !isGivenName(first)) return;
  if (end > at && end - at < 5 && reading.endsAt(end)) hideName(reading, at, end);
}

/** Hides a name at the start of a sentence: "Chidinma here", "Yuki Tan speaking". */
function hideSpeaking(reading: Reading, { from, to }: Cue): void {
  const { pieces, flat } = reading;
  let start = from;
  while (start > 0 && from - start < 4 && !pieces[start]!.line) {
    const piece = pieces[start - 1]!;
    if (!piece.cased || !(isNameLike(piece) || piece.text === '-')) break;
    start -= 1;
  }
  const opens = start === 0 || pieces[start]!.line || /^[.!,]$/u.test(pieces[start - 1]!.text);
  if (start === from || !opens || flat) return;
  if (from - start > 1 || isGivenName(pieces[start]!) || reading.endsAt(to)) hideName(reading, start, from);
}

/** Finds "Kind regards, R. Delacroix", a last line with only a name, "– Anna". */
function findSignatures(reading: Reading): void {
  const { pieces } = reading;
  for (let at = Math.max(1, pieces.length - 60); at < pieces.length; at += 1) {
    const first = pieces[at]!;
    if (!first.nameLike || !first.capital) continue;
    const isLine = first.line;
    const mark = pieces[at - 1]!;
    const isParted = isLine || /^[,!.–—~-]$/u.test(mark.text);
    if (!isParted) continue;
    const end = nameEnd(reading, at, false);
    const isClosed = reading.endsAt(end);
    const isDashed =
      !isLine && /^[–—~-]$/u.test(mark.text) && end === pieces.length && mark.spaced && isGivenName(first);
    if (isClosed && (isDashed || followsClosing(pieces, at) || isLastLine(reading, at, end))) {
      hideName(reading, at, end);
      at = Math.max(at, end - 1);
    }
  }
}

function followsClosing(pieces: readonly Piece[], at: number): boolean {
  let end = at;
  while (end > 0 && pieces[end - 1]!.kind === 'mark' && at - end < 3) end -= 1;
  let words = '';
  for (let start = end - 1; start >= 0 && end - start <= LONGEST_CLOSING; start -= 1) {
    const { lower, kind } = pieces[start]!;
    if (kind !== 'word') return false;
    words = words === '' ? lower : `${lower} ${words}`;
    const before = pieces[start - 1];
    const opens = before === undefined || pieces[start]!.line || before.kind === 'mark';
    if (opens && closings().has(words)) return true;
  }
  return false;
}

/** True for a last line of two or three names, below other lines. */
function isLastLine({ pieces, flat }: Reading, at: number, end: number): boolean {
  if (!pieces[at]!.line || flat || at < 4 || end !== pieces.length) return false;
  return end - at === 1 ? isGivenName(pieces[at]!) : end - at < 5;
}

const BEHIND_UNCASED = PERSONAL_WORDS.behindUncasedNames;
const SURE_HEADS = PERSONAL_WORDS.sureNameHeads;

/** Finds given names without a cue, with the family name that follows. Public figures stay visible. */
function findGivenNames(reading: Reading): void {
  const { pieces, flat } = reading;
  let about: boolean | null = null;
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    if ((piece.bits & WORD.mayName) === 0) continue;
    if (!piece.cased && SURE_HEADS.has(piece.lower) && pieces[at + 1]?.lower.startsWith('ال') === true)
      hideName(reading, at, at + 2);
    if ((piece.bits & WORD.given) === 0) continue;
    // Without capitals, a single name may be a word.
    if (
      !piece.cased &&
      !isSureName(piece) &&
      !BEHIND_UNCASED.has(pieces[at + 1]?.lower ?? '') &&
      !(pieces[at + 1] !== undefined && isGivenName(pieces[at + 1]!, false))
    )
      continue;
    about ??= isAboutFigure(pieces);
    if (about) return;
    const before = pieces[at - 1];
    const end = nameEnd(reading, at, false);
    if (end === at || isPlace(/^[.-]$/u.test(before?.text ?? '') ? pieces[at - 2] : before)) continue;
    if (end - at < 2 && (flat || isAcronym(piece))) continue;
    // "Агафонову Лидию".
    const family = before?.capital === true && !before.line && isFamilyName(before) && isNameLike(before);
    if (!isNameOfThing(reading, at, end)) hideName(reading, family ? at - 1 : at, end);
    at = end - 1;
  }
}

const PLACE_HEADS = PERSONAL_WORDS.placeHeads;

/** True for "TED" in a text of small letters. */
function isAcronym({ text }: Piece): boolean {
  return text.length > 1 && text.length < 4 && text === text.toUpperCase() && text !== text.toLowerCase();
}

/** True for the first word of a place: "San José", "Santa Cruz". */
export function isPlace(piece: Piece | undefined): boolean {
  if (piece === undefined) return false;
  const { lower, text, capital } = piece;
  return capital && PLACE_HEADS.has(lower) && text.length > 1;
}

/** Hides a name, unless it is that of a public figure or brand. */
export function hideName(reading: Reading, from: number, to: number): void {
  if ((reading.kinds & CUE.figures) === 0 || !isFigure(reading, from, to)) reading.hide(from, to, 'name');
}

function isFigure({ cues }: Reading, from: number, to: number): boolean {
  return cues.some(
    (cue) => (cue.kinds & CUE.figures) !== 0 && cue.from < to && cue.to > from && cue.to >= to - 1,
  );
}
