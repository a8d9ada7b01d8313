/** Reads how far a person's name goes. Covered by test/text/redact/redact.test.ts. */
import { personNames } from './names-lexicon.ts';
import { everyPhrase } from './personal-lexicon.ts';
import { once } from '../once.ts';
import type { Piece } from './pieces.ts';
import { NOT_NAMES, NUMBER_WORDS, STOP_WORDS, UNITS, type Reading } from './reading.ts';
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';

const wordNames = once(
  (): ReadonlySet<string> => new Set([...everyPhrase('wordNames'), ...personNames().words]),
);
const givenNames = once((): ReadonlySet<string> => {
  const given = new Set(everyPhrase('givenNames'));
  for (const name of personNames().given) if (!wordNames().has(name)) given.add(name);
  return given;
});
const TITLES: ReadonlySet<string> = new Set(everyPhrase('titles'));
/** Parts of names that begin with a small letter. */
const PARTICLES = PERSONAL_WORDS.nameParticles;
/** Arabic, make a name with the word behind them. */
const COMPOUND_NAMES = PERSONAL_WORDS.nameHeads;
const MOST_WORDS = 5;
/** Endings of words for people of a country or belief: "I am Brazilian". */
const DEMONYM = /(?:ian|ish|ese|ean|ist|tarian)$/u;

const NOT_PERSONS: ReadonlySet<string> = new Set(everyPhrase('notPersons'));
/** With the apostrophe. */
const LONGEST_SUFFIX = 4;
const SHORTEST_STEM = 2;
const APOSTROPHE = 0x27;

/** Without a possessive "'s" or what Turkish sets behind the apostrophe of a name: "Tuğrul'u". */
export function bare(lower: string): string {
  const first = Math.max(lower.length - LONGEST_SUFFIX, SHORTEST_STEM);
  for (let at = lower.length - 1; at >= first; at -= 1)
    if (lower.charCodeAt(at) === APOSTROPHE) return lower.slice(0, at);
  return lower;
}

/** Inflected as Slavic, Finnish or Turkish names are: by one to three letters. */
function isKnownIn(names: ReadonlySet<string>, lower: string): boolean {
  if (names.has(lower)) return true;
  if (lower.length < 5 || !/[\u0400-\u04ffąćęłńóśźżčďěňřšťůžğış]|(?:em|owi|ą|ę|om|ova|ové)$/u.test(lower))
    return false;
  for (let cut = 1; cut <= 3 && lower.length - cut > 3; cut += 1) {
    const stem = lower.slice(0, -cut);
    if (names.has(stem) || names.has(`${stem}а`) || names.has(`${stem}я`) || names.has(`${stem}a`))
      return true;
    if (names.has(`${stem}й`)) return true;
  }
  return false;
}

/** A given name; `words`: also one that is a word or place as well. */
export function isGivenName({ lower, kind }: Piece, words = true): boolean {
  if (kind !== 'word') return false;
  const name = bare(lower);
  return isKnownIn(givenNames(), name) || (words && wordNames().has(name));
}

const FAMILY_ENDING = new RegExp(
  `.{3}${anyWordOf(PERSONAL_WORDS.familyEndings)}$|^mc\\p{L}{4,}|^o'\\p{L}{4,}`,
  'u',
);

/** A family's name: "Okonkwo", "Papanikolaou". */
export function isFamilyName({ lower, kind }: Piece): boolean {
  if (kind !== 'word') return false;
  const name = bare(lower);
  return isKnownIn(personNames().family, name) || FAMILY_ENDING.test(name);
}

/** A given name as the lists write it, without any ending. */
export function isListedName(lower: string): boolean {
  return givenNames().has(lower);
}

/** A name that no word is spelled like, so that it needs no cue in scripts without capitals. */
export function isSureName({ lower }: Piece): boolean {
  return personNames().given.has(lower);
}

/** May be part of a name by how it is written. */
export function isNameLike(piece: Piece | undefined): boolean {
  if (piece === undefined || piece.kind !== 'word' || (piece.cased && !piece.capital)) return false;
  if (piece.text.includes('_')) return false;
  const lower = bare(piece.lower);
  if (!piece.cased) return !NOT_NAMES.has(lower) && !NOT_PERSONS.has(lower) && !STOP_WORDS.has(lower);
  return (!NOT_NAMES.has(lower) && !NOT_PERSONS.has(lower)) || givenNames().has(lower);
}

/** May be a name in a text that writes names small. */
function isSmallName({ lower, kind, cased, capital, text }: Piece): boolean {
  return (
    kind === 'word' &&
    cased &&
    !capital &&
    text.length > 1 &&
    !text.includes('_') &&
    !NOT_NAMES.has(lower) &&
    !STOP_WORDS.has(lower) &&
    !NUMBER_WORDS.has(lower) &&
    !UNITS.has(lower)
  );
}

export function isDemonym({ lower }: Piece): boolean {
  return DEMONYM.test(lower) && !givenNames().has(lower);
}

/**
 * Where the name that begins at `from` ends; `from` itself when none does. `small`: it may begin with a small letter.
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

/** "van der Berg": the place of the first word that is no particle, if a name follows. */
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

/** Scripts without capitals: two words at most, and none that begins with "and". */
function uncasedEnd({ pieces }: Reading, from: number): number {
  const second = pieces[from + 1];
  if (second === undefined || second.line || second.kind !== 'word' || !isNameLike(second)) return from + 1;
  if (/^[وו]/u.test(second.lower) && !givenNames().has(second.lower)) return from + 1;
  // "عبد القدوس الزهراني".
  const third = pieces[from + 2];
  const goesOn = third !== undefined && !third.line && third.lower.startsWith('ال') && isNameLike(third);
  return goesOn && COMPOUND_NAMES.has(pieces[from]!.lower) ? from + 3 : from + 2;
}
