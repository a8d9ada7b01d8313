/**
 * Finds names under which a booking, order or case runs: "booking KL4471 under Achterberg".
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { LEXICON } from '../document/lexicon.ts';
import { QUESTION_ENDS } from '../document/question-marks.ts';
import { CUE, NOUN_CAPITALS, type Cue } from './cues.ts';
import { nameEnd } from './names.ts';
import { hideName } from './people.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { isNameOfThing, isThing } from './things.ts';
import { STOP_WORDS, isDemonym, isFamilyName, isGivenName } from './vocabulary.ts';

const THINGS = PERSONAL_WORDS.heldThings;
const SECTIONS = PERSONAL_WORDS.sections;
/** Words of time after a name: "under Achterberg last week". */
const TIMES: ReadonlySet<string> = new Set([...LEXICON.adverbs.all, ...LEXICON.quantifiers.all]);
const SENTENCE_END = new RegExp(`^[.!;。！${QUESTION_ENDS}]$`, 'u');
/** Most pieces between the name and what it holds, before it and after it. */
const [WITHIN_BEFORE, WITHIN_BEHIND] = [5, 4];

/** Finds the names. Call it after numbers were found. */
export function findHolders(reading: Reading): void {
  if ((reading.kinds & CUE.heldUnder) === 0) return;
  const numbers = numberPlaces(reading);
  for (const cue of reading.cues) if ((cue.kinds & CUE.heldUnder) !== 0) hideHolder(reading, cue, numbers);
}

/** Indices of the pieces that are hidden as numbers. */
function numberPlaces({ pieces, spans }: Reading): ReadonlySet<number> {
  const places = new Set<number>();
  const numbers = spans.filter(({ kind }) => kind === 'number').toSorted((x, y) => x.start - y.start);
  let place = 0;
  for (const { start, end } of numbers) {
    while (place > 0 && pieces[place - 1]!.start >= start) place -= 1;
    while (place < pieces.length && pieces[place]!.start < start) place += 1;
    for (let at = place; at < pieces.length && pieces[at]!.start < end; at += 1) places.add(at);
  }
  return places;
}

function hideHolder(reading: Reading, { from, to, kinds }: Cue, numbers: ReadonlySet<number>): void {
  const { pieces } = reading;
  const first = pieces[to];
  if (first === undefined || first.line || first.kind !== 'word') return;
  // A name in lower case: "under mark hamil".
  const named = nameEnd(reading, to, !first.capital && isGivenName(first));
  const end = named > to ? named : to + 1;
  const words = pieces.slice(to, end).filter(({ kind }) => kind === 'word');
  const isKnown = words.some((word) => isGivenName(word) || isFamilyName(word));
  // "under review" is no name. With every noun capitalised, only a number tells "unter Achterberg" from "unter
  // Freunden".
  if (!isKnown && (named === to || reading.flat)) return;
  const mustBeNumbered = !isKnown && (kinds & NOUN_CAPITALS) !== 0;
  if (words.some((word) => isThing(word) || SECTIONS.has(word.lower)) || isDemonym(first)) return;
  if (pieces[end]?.kind === 'number' || isNameOfThing(reading, to, end)) return;
  if (!isKnown && !closes(reading, end)) return;
  if (holds(reading, from, end, numbers, mustBeNumbered)) hideName(reading, to, end);
}

/** True if the held thing, or its number, stands beside the name in the same sentence. */
function holds(
  { pieces }: Reading,
  from: number,
  end: number,
  numbers: ReadonlySet<number>,
  mustBeNumbered: boolean,
): boolean {
  for (let at = from - 1; at >= 0 && from - at <= WITHIN_BEFORE; at -= 1) {
    if (numbers.has(at) || (!mustBeNumbered && THINGS.has(pieces[at]!.lower))) return true;
    if (endsSentence(pieces[at]!)) break;
  }
  for (let at = end; at < pieces.length && at - end < WITHIN_BEHIND; at += 1) {
    if (numbers.has(at)) return true;
    if (endsSentence(pieces[at]!)) break;
  }
  return false;
}

function endsSentence({ text, line }: Piece): boolean {
  return line || SENTENCE_END.test(text);
}

/** True if no noun follows that the name could modify, as in "under Dutch law". */
function closes(reading: Reading, at: number): boolean {
  if (reading.endsAt(at)) return true;
  const { lower } = reading.pieces[at]!;
  return STOP_WORDS.has(lower) || TIMES.has(lower);
}
