/**
 * Tells names of people from equal names of things: a venue, a work, a brand.
 *
 * Test: test/reader/personal/people-by-role.test.ts.
 */
import { personNames } from './names-lexicon.ts';
import { everyWord } from './personal-lexicon.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { CUE } from './cues.ts';
import { STOP_WORDS, bare, isGivenName } from './vocabulary.ts';

const VENUES = everyWord('venues');
const WORKS = everyWord('works');
const TICKETS = everyWord('tickets');
/** Venues in scripts other than Latin and Cyrillic, which count without a capital. */
const UNCASED_VENUES = new Set(
  [...VENUES].filter((word) => !/^[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(word)),
);
/** Words between a venue or work and the name in it. */
const JOINTS = PERSONAL_WORDS.thingJoints;
const ARTICLES = PERSONAL_WORDS.articles;
const HOUSEHOLDS = PERSONAL_WORDS.households;
const SHOW_JOINTS = PERSONAL_WORDS.showJoints;
const MEDIUM_WITHIN = 5;
const TICKET_WITHIN = 6;

/** True for a brand, place or product. */
export function isThing({ lower, text }: Piece): boolean {
  const thing = bare(lower);
  if (personNames().things.has(thing) || VENUES.has(thing)) return true;
  return text.length > 1 && text.length < 5 && text === text.toUpperCase() && text !== text.toLowerCase();
}

/** True for a word for a kind of venue, written as part of a name. */
function isVenue(piece: Piece | undefined, small: boolean): boolean {
  if (piece === undefined || piece.kind !== 'word') return false;
  const lower = bare(piece.lower);
  if (!VENUES.has(lower)) return false;
  return piece.capital || small || UNCASED_VENUES.has(lower);
}

/** True if the name from `from` to `to` (exclusive) is that of a venue or a work: "Harry's Bar", "the film Amélie". */
export function isNameOfThing(reading: Reading, from: number, to: number): boolean {
  const { pieces } = reading;
  if (isVenue(pieces[from], false) && pieces[from - 1]?.capital === true && !pieces[from]!.line) return true;
  let before = from - 1;
  // "leer Doña Bárbara".
  while (before > from - 3 && before > 0 && pieces[before]!.capital && !pieces[before]!.line) before -= 1;
  if (before < from - 1 && !WORKS.has(pieces[before]!.lower)) before = from - 1;
  while (before > from - 4 && before >= 0 && JOINTS.has(pieces[before]!.lower)) before -= 1;
  const lead = pieces[before];
  const follows = pieces[to];
  const isHis = lead !== undefined && before === from - 2 && pieces[from - 1]!.lower === 'у';
  if (lead !== undefined && !pieces[from]!.line && leads(lead, before < from - 1 && !isHis)) return true;
  if (isArticledThing(reading, from, to) || isBySomebody(reading, to)) return true;
  if (follows !== undefined && !follows.line) {
    const isArticled = ARTICLES.has(pieces[from - 1]?.lower ?? '');
    if (isVenue(follows, isArticled)) return true;
    // "Tom's chair" belongs to a person.
    const isOwned = pieces[to - 1]!.lower.endsWith("'s") && !follows.capital;
    if (WORKS.has(follows.lower) && !reading.flat && !isOwned) return true;
    // "Karl-Marx-Platz", "Jean-Paul-Museum".
    if (/^[-–‑]$/u.test(follows.text) && isVenue(pieces[to + 1], true)) return true;
  }
  for (let at = from; at < to; at += 1) if (at > from && isVenue(pieces[at], false)) return true;
  return isCompound(pieces, from, to) || isOnStage(reading, from, to);
}

/** True for "the Oliver desk lamp": English puts "the" before family names, never before given names. */
function isArticledThing({ pieces }: Reading, from: number, to: number): boolean {
  const next = pieces[to];
  if (to - from > 1 || pieces[from - 1]?.lower !== 'the' || next?.kind !== 'word' || next.line) return false;
  return next.cased && !next.capital && !STOP_WORDS.has(next.lower) && !HOUSEHOLDS.has(next.lower);
}

/** True for "Emma by Jane Austen". */
function isBySomebody({ pieces, cues, kinds }: Reading, to: number): boolean {
  if ((kinds & CUE.figures) === 0 || pieces[to]?.lower !== 'by') return false;
  return cues.some((cue) => cue.from === to + 1 && (cue.kinds & CUE.figures) !== 0);
}

/** True for "Maria-Stuart-Inszenierung": the last of three words is the thing. */
function isCompound(pieces: readonly Piece[], from: number, to: number): boolean {
  const isJoint = (at: number): boolean => /^[-‑]$/u.test(pieces[at]?.text ?? '') && !pieces[at]!.spaced;
  return to - from > 4 && isJoint(from + 1) && isJoint(from + 3) && !isGivenName(pieces[from + 4]!);
}

/** True for "hotel Anna", "film Amélie". `linked`: an article or preposition stands between. */
function leads(lead: Piece, linked: boolean): boolean {
  if (WORKS.has(lead.lower)) return true;
  return VENUES.has(lead.lower) && (!linked || lead.capital || !lead.cased);
}

/** True for "tickets for Carmen at the Teatro Real", "билет до Владимира". */
function isOnStage({ pieces }: Reading, from: number, to: number): boolean {
  let ticket = false;
  for (let at = from - 1; at >= 0 && at >= from - TICKET_WITHIN; at -= 1)
    ticket ||= TICKETS.has(pieces[at]!.lower);
  if (!ticket) return false;
  // "билеты на Евгения Онегина".
  if (SHOW_JOINTS.has(pieces[from - 1]?.lower ?? '') && TICKETS.has(pieces[from - 2]?.lower ?? ''))
    return true;
  if (to - from === 1 && TOWARDS.has(pieces[from - 1]?.lower ?? '')) return true;
  for (let at = to; at < to + MEDIUM_WITHIN && at < pieces.length; at += 1)
    if (isVenue(pieces[at], false) || WORKS.has(pieces[at]!.lower)) return true;
  return false;
}

/** Words before the destination of a journey. */
const TOWARDS = PERSONAL_WORDS.towards;
