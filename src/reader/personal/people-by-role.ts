/**
 * Finds names that no list has, by the words beside them: acts of people ("Thandiwe promised"), a family name, a
 * possession, another name.
 *
 * Test: test/reader/personal/people-by-role.test.ts.
 */
import { CUE, WORD } from './cues.ts';
import { isNameLike, nameEnd } from './names.ts';
import { personNames } from './names-lexicon.ts';
import { hideName, isPlace } from './people.ts';
import { everyWord } from './personal-lexicon.ts';
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { isNameOfThing, isThing } from './things.ts';
import { STOP_WORDS, isFamilyName, isGivenName } from './vocabulary.ts';

const LINKS = everyWord('links');
const WORKS = everyWord('works');
/** Words between the names of several people. */
const COORDINATORS = PERSONAL_WORDS.joinsPersons;
/** Things that people own. */
const POSSESSIONS = PERSONAL_WORDS.possessions;
const NOUN_ENDING = new RegExp(`${anyWordOf(PERSONAL_WORDS.nounEndings)}$`, 'u');
const PRONOUNS = PERSONAL_WORDS.personPronouns;
const GIVINGS = PERSONAL_WORDS.givings;
const ENGLISH_GIVINGS = PERSONAL_WORDS.englishGivings;
const GIVEN_TO = PERSONAL_WORDS.givenTo;
const RATINGS = PERSONAL_WORDS.ratings;
/** Most words of a given thing. */
const GIVEN_WITHIN = 5;
const PRONOUN_WITHIN = 3;
const MOST_BACK = 4;
/** Bound on the names whose companions are looked for; each name takes two numbers. */
const MOST_NAMES = 64;

/** Adds the spans of such names. Call it after the other rules for names, whose results it extends. */
export function findPeopleByRole(reading: Reading): void {
  if ((reading.kinds & CUE.deeds) !== 0)
    for (const { from, kinds } of reading.cues) if ((kinds & CUE.deeds) !== 0) hideDoer(reading, from);
  findLinked(reading);
  hideCompanions(reading);
}

/** Hides "Thandiwe promised", "अनसूया ने कहा". */
function hideDoer(reading: Reading, act: number): void {
  const { pieces, flat } = reading;
  const last = pieces[act - 1];
  if (last?.kind !== 'word' || pieces[act]!.line) return;
  if (!last.cased) {
    hideUncasedDoer(reading, act - 1);
    return;
  }
  if (!last.capital) {
    if (last.text.length > 3 && isGivenName(last, false) && personNames().given.has(last.lower))
      hideName(reading, act - 1, act);
    return;
  }
  let from = act - 1;
  while (from > 0 && act - from < MOST_BACK && !pieces[from]!.line && mayPrecede(pieces[from - 1]!))
    from -= 1;
  const words = pieces.slice(from, act);
  if (words[0]!.kind === 'mark' || !words.every((word) => word.kind === 'mark' || mayName(word))) return;
  const isKnown = words.some((word) => isGivenName(word) || isFamilyName(word));
  if ((flat && !isKnown) || (!isKnown && NOUN_ENDING.test(last.lower))) return;
  if (!isNameOfThing(reading, from, act)) hideName(reading, from, act);
}

function mayPrecede(piece: Piece): boolean {
  return (piece.capital && mayName(piece)) || /^[-‑]$/u.test(piece.text);
}

function mayName(piece: Piece): boolean {
  const { lower } = piece;
  return (
    isNameLike(piece) && !STOP_WORDS.has(lower) && !isThing(piece) && !WORKS.has(lower) && !LINKS.has(lower)
  );
}

function hideUncasedDoer(reading: Reading, at: number): void {
  const { pieces } = reading;
  const name = pieces[at]!;
  if (!mayName(name) || name.text.length < 3 || /^ال|(?:ों|ें|ने)$/u.test(name.lower)) return;
  // A Hebrew word with the article.
  if (name.lower.startsWith('ה') && !isGivenName(name)) return;
  const first = pieces[at - 1];
  const isFamily = first !== undefined && !name.line && isGivenName(first) && mayName(first);
  if (!isNameOfThing(reading, at, at + 1)) hideName(reading, isFamily ? at - 1 : at, at + 1);
}

/** Finds "for Fatoumata Diarra", "Hyacinth Bucketsworth's name", "with priyanka". */
function findLinked(reading: Reading): void {
  const { pieces, flat } = reading;
  if (flat) return;
  // "Okonkwo, first name Chidi".
  if (
    pieces[0] !== undefined &&
    pieces[0].capital &&
    personNames().family.has(pieces[0].lower) &&
    pieces[1]?.text === ','
  )
    hideName(reading, 0, 1);
  if (pieces[0] !== undefined && owns(pieces, 0) && isNameLike(pieces[0]) && !isThing(pieces[0]))
    hideName(reading, 0, 1);
  if ((reading.words & (WORD.smallName | WORD.mayName)) === 0) return;
  for (let at = 1; at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    if (piece.kind !== 'word' || !piece.cased) continue;
    if (!piece.capital) {
      if (reading.isWord(at, WORD.smallName) && reading.isWord(at - 1, WORD.link))
        hideName(reading, at, at + 1);
      continue;
    }
    const before = pieces[at - 1]!;
    if (before.capital || !isNameLike(piece)) continue;
    const end = nameEnd(reading, at, false);
    if (end > at) hideIfPerson(reading, at, end);
    at = Math.max(at, end - 1);
  }
}

function hideIfPerson(reading: Reading, from: number, to: number): void {
  const { pieces } = reading;
  const last = pieces[to - 1]!;
  const isPair = to - from > 1;
  const isLinked = reading.isWord(from - 1, WORD.link) && !pieces[from]!.line;
  const isOwner = owns(pieces, to - 1);
  const isGiven = receives(reading, from) && mayName(pieces[from]!);
  if (!isPair && !isLinked && !isOwner && !isGiven) return;
  const isSpokenOf =
    (isPair || isLinked) && pieces[from - 1]!.kind === 'word' && precedesPronoun(reading, to);
  const isNamed =
    isOwner ||
    isGiven ||
    isSpokenOf ||
    ((isLinked || pieces[from - 1]!.kind === 'word') &&
      (personNames().family.has(last.lower) || (isPair && isFamilyName(last)))) ||
    (isPair && isLinked && !isPlace(pieces[from]) && holdsGivenName(reading, from, to));
  if (!isNamed || pieces[to]?.kind === 'number' || isNameOfThing(reading, from, to)) return;
  const words = pieces.slice(from, to);
  if (!words.some((word) => word.kind === 'word' && (isThing(word) || WORKS.has(word.lower))))
    hideName(reading, from, to);
}

/** True for "Obadiah, he can open the door". */
function precedesPronoun({ pieces }: Reading, from: number): boolean {
  for (let at = from; at < from + PRONOUN_WITHIN && at < pieces.length; at += 1)
    if (PRONOUNS.has(pieces[at]!.lower)) return true;
  return false;
}

/** True for "give the second voucher to Thistlewood". */
function receives({ pieces }: Reading, from: number): boolean {
  const to = pieces[from - 1]!;
  const givings = to.lower === 'to' ? ENGLISH_GIVINGS : GIVEN_TO.has(to.lower) ? GIVINGS : null;
  if (givings === null || pieces[from]!.line) return false;
  for (let at = from - 2; at >= 0 && at > from - 2 - GIVEN_WITHIN; at -= 1) {
    const { kind, lower } = pieces[at]!;
    if (kind === 'mark' || kind === 'number' || RATINGS.has(lower)) return false;
    if (givings.has(lower)) return true;
  }
  return false;
}

/** True for "Hyacinth's account". */
function owns(pieces: readonly Piece[], at: number): boolean {
  return pieces[at]!.lower.endsWith("'s") && POSSESSIONS.has(pieces[at + 1]?.lower ?? '');
}

function holdsGivenName({ pieces }: Reading, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (isGivenName(pieces[at]!, false)) return true;
  return false;
}

/** Hides the other names of a list: "Ingeborg, Rashid and Mei". */
function hideCompanions(reading: Reading): void {
  const { pieces, flat } = reading;
  if (flat) return;
  for (let place = 0; place < reading.names.length && place < MOST_NAMES; place += 2) {
    const to = reading.names[place + 1]!;
    const joint = pieces[to];
    const next = pieces[to + 1];
    if (joint === undefined || next === undefined || joint.line || next.line) continue;
    if (!COORDINATORS.has(joint.lower) || !next.capital || !next.cased || !mayName(next)) continue;
    if (reading.names.lastIndexOf(to + 1, 2 * MOST_NAMES) >= 0) continue;
    if (joint.kind === 'mark' && !continues(reading, to + 1)) continue;
    const end = nameEnd(reading, to + 1, false);
    if (end > to + 1 && !isNameOfThing(reading, to + 1, end) && pieces[end]?.kind !== 'number')
      hideName(reading, to + 1, end);
  }
}

/** True if a name after a comma is one of several: another joint or the end follows it. */
function continues(reading: Reading, at: number): boolean {
  const end = nameEnd(reading, at, false);
  const after = reading.pieces[end];
  return after === undefined || after.line || COORDINATORS.has(after.lower);
}
