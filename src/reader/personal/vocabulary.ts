/**
 * Facts about a word on its own: whether it is a given name or a family name by the lists, or is spelled like a name.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { LEXICON } from '../document/lexicon.ts';
import { once } from '../document/once.ts';
import { personNames } from './names-lexicon.ts';
import { everyPhrase, everyWord } from './personal-lexicon.ts';
import { anyWordOf, PERSONAL_WORDS } from './personal-words.ts';
import type { RunKind } from './runs.ts';

export const COPULAS = everyWord('copulas');
export const NUMBER_WORDS = everyWord('numberWords');
export const TECHNICAL = everyWord('technical');
export const UNITS = everyWord('units');
export const NOT_NAMES: ReadonlySet<string> = everyWord('notNames');
export const STOP_WORDS: ReadonlySet<string> = new Set(LEXICON.stopWords.all);
/** Digits as words, and words that repeat one. */
export const DIGIT_WORDS: ReadonlySet<string> = new Set(
  [...LEXICON.digits.all, ...PERSONAL_WORDS.digitRepeats].filter(
    (word) => word.length > 1 && !word.includes(' '),
  ),
);

/** A word as written, before any look-up. */
export interface Spelling {
  readonly kind: RunKind;
  readonly text: string;
  /** The text in lower case, with straight apostrophes. */
  readonly lower: string;
  /** True if it begins with a capital. */
  readonly capital: boolean;
  /** True if its script has two cases. */
  readonly cased: boolean;
}

/** The text in lower case, with straight apostrophes. */
export function lowerOf(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes('’') ? lower.replaceAll('’', "'") : lower;
}

const wordNames = once(
  (): ReadonlySet<string> => new Set([...everyPhrase('wordNames'), ...personNames().words]),
);
const givenNames = once((): ReadonlySet<string> => {
  const given = new Set(everyPhrase('givenNames'));
  for (const name of personNames().given) if (!wordNames().has(name)) given.add(name);
  return given;
});
/** Endings of words for people of a country or belief: "I am Brazilian". */
const DEMONYM = /(?:ian|ish|ese|ean|ist|tarian)$/u;

const NOT_PERSONS: ReadonlySet<string> = new Set(everyPhrase('notPersons'));
/** Length of the longest suffix, with its apostrophe. */
const LONGEST_SUFFIX = 4;
const SHORTEST_STEM = 2;
const APOSTROPHE = 0x27;

/** The word without a possessive "'s" or a Turkish suffix after the apostrophe of a name: "Tuğrul'u". */
export function bare(lower: string): string {
  const first = Math.max(lower.length - LONGEST_SUFFIX, SHORTEST_STEM);
  for (let at = lower.length - 1; at >= first; at -= 1)
    if (lower.charCodeAt(at) === APOSTROPHE)
      return ROMANCE_VERB.test(lower.slice(at + 1)) ? lower : lower.slice(0, at);
  return lower;
}

/** "dov'è" holds no name. */
const ROMANCE_VERB = /[àèìòù]/u;

/** True if the word is a listed name, perhaps with a Slavic, Finnish or Turkish ending of one to three letters. */
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

/** True for a given name. `lower`: a word in lower case. */
export function isGiven(lower: string): boolean {
  return isKnownIn(givenNames(), bare(lower));
}

/** True for a given name. `words`: also for one that is a word or place as well. */
export function isGivenName({ lower, kind }: Spelling, words = true): boolean {
  return kind === 'word' && (isGiven(lower) || (words && wordNames().has(bare(lower))));
}

const FAMILY_ENDING = new RegExp(
  `.{3}${anyWordOf(PERSONAL_WORDS.familyEndings)}$|^mc\\p{L}{4,}|^o'\\p{L}{4,}`,
  'u',
);

/** True for a family name: "Okonkwo", "Papanikolaou". */
export function isFamilyName({ lower, kind }: Spelling): boolean {
  if (kind !== 'word') return false;
  const name = bare(lower);
  return isKnownIn(personNames().family, name) || FAMILY_ENDING.test(name);
}

/** True for a given name in the exact form of the lists. */
export function isListedName(lower: string): boolean {
  return givenNames().has(lower);
}

/** True for a name that no word is spelled like; it needs no cue in scripts without capitals. */
export function isSureName({ lower }: Spelling): boolean {
  return personNames().given.has(lower);
}

/** True if its spelling allows a word to be part of a name. */
export function isSpelledAsName({ text, lower, kind, cased, capital }: Spelling): boolean {
  if (kind !== 'word' || (cased && !capital) || text.includes('_')) return false;
  const name = bare(lower);
  const isOther = NOT_NAMES.has(name) || NOT_PERSONS.has(name);
  return cased ? !isOther || givenNames().has(name) : !isOther && !STOP_WORDS.has(name);
}

/** True if a lower-case word is a listed name. */
export function isSmallPerson({ lower, text }: Spelling): boolean {
  if (text.length < 4 || !(personNames().given.has(lower) || (text.length > 4 && isListedName(lower))))
    return false;
  return !STOP_WORDS.has(lower) && !NOT_NAMES.has(lower);
}

/** True if a word forms a name with the next word: "عبد". */
export function mayHeadName(lower: string): boolean {
  return PERSONAL_WORDS.sureNameHeads.has(lower);
}

/** True if a word may be a name in a text that writes names in lower case. */
export function isSmallName({ lower, kind, cased, capital, text }: Spelling): boolean {
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

/** True for a word for people of a country or belief that is no given name: "Brazilian". */
export function isDemonym({ lower }: Spelling): boolean {
  return DEMONYM.test(lower) && !givenNames().has(lower);
}
