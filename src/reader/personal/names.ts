/**
 * Finds the end of a person's name, given its start.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { everyPhrase } from './personal-lexicon.ts';
import { PERSONAL_WORDS } from './personal-words.ts';
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';
import { isListedName, isSmallName, STOP_WORDS } from './vocabulary.ts';

const TITLES: ReadonlySet<string> = new Set(everyPhrase('titles'));
/** Parts of names in lower case. */
const PARTICLES = PERSONAL_WORDS.nameParticles;
/** Arabic words that form a name with the next word. */
const COMPOUND_NAMES = PERSONAL_WORDS.nameHeads;
const MOST_WORDS = 5;

/** True if there is a piece whose spelling allows it to be part of a name. */
export function isNameLike(piece: Piece | undefined): boolean {
  return piece?.nameLike === true;
}

/**
 * Index of the piece after the name that begins at `from`; `from` itself if there is none. `small`: the name may begin
 * in lower case.
 */
export function nameEnd(reading: Reading, from: number, small: boolean): number {
  const { pieces } = reading;
  const start = behindParticles(pieces, from);
  const first = pieces[start];
  if (first === undefined || first.kind !== 'word') return from;
  if (start > from) return isNameLike(first) && first.cased ? capitalsEnd(reading, start) : from;
  if (!isNameLike(first)) {
    if (!small || !isSmallName(first)) return from;
    const second = pieces[from + 1];
    const goesOn = second !== undefined && second.spaced && !second.line && isSmallName(second);
    return goesOn && (reading.endsAt(from + 2) || STOP_WORDS.has(pieces[from + 2]!.lower))
      ? from + 2
      : from + 1;
  }
  return first.cased ? capitalsEnd(reading, from) : uncasedEnd(reading, from);
}

/** Index of the first word after particles ("van der Berg"), if a name follows; else `from`. */
function behindParticles(pieces: readonly Piece[], from: number): number {
  let at = from;
  while (at < from + 3 && PARTICLES.has(pieces[at]?.lower ?? '') && !pieces[at]!.capital) at += 1;
  return at > from && isNameLike(pieces[at]) && pieces[at]!.cased ? at : from;
}

function capitalsEnd({ pieces }: Reading, from: number): number {
  let end = from + 1;
  for (let at = end, words = 1; words < MOST_WORDS;) {
    const piece = pieces[at];
    if (piece === undefined || piece.line) break;
    const before = pieces[at - 1]!;
    // "R. Delacroix", "Al-Sayed".
    const isJoint = /^[-–‑]$/u.test(piece.text) && !piece.spaced && pieces[at + 1]?.spaced === false;
    const isInitial = piece.text === '.' && (before.text.length === 1 || TITLES.has(before.lower));
    if (isJoint || isInitial) {
      at += 1;
      continue;
    }
    const isHyphened = pieces[at + 1]?.text === '-' && pieces[at + 1]?.spaced === false;
    if (PARTICLES.has(piece.lower) && isNameLike(isHyphened ? pieces[at + 2] : afterParticles(pieces, at))) {
      at += isHyphened ? 2 : 1;
      continue;
    }
    if (!isNameLike(piece) || (piece.text.length === 1 && pieces[at + 1]?.text !== '.')) break;
    at += 1;
    words += 1;
    end = at;
  }
  return end;
}

function afterParticles(pieces: readonly Piece[], at: number): Piece | undefined {
  const next = pieces[at + 1];
  return next !== undefined && PARTICLES.has(next.lower) ? pieces[at + 2] : next;
}

/** The end of a name in a script without capitals: at most two words, none of which begins with "and". */
function uncasedEnd({ pieces }: Reading, from: number): number {
  const second = pieces[from + 1];
  if (second === undefined || second.line || second.kind !== 'word' || !isNameLike(second)) return from + 1;
  if (/^[وו]/u.test(second.lower) && !isListedName(second.lower)) return from + 1;
  // "عبد القدوس الزهراني".
  const third = pieces[from + 2];
  const goesOn = third !== undefined && !third.line && third.lower.startsWith('ال') && isNameLike(third);
  return goesOn && COMPOUND_NAMES.has(pieces[from]!.lower) ? from + 3 : from + 2;
}
