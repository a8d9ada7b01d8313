/**
 * Reads `lexicon/<language>/personal.json`: the words of each language beside which personal data stands.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { languageFiles, listOf, readLexiconFile } from '../document/lexicon-file.ts';

const phrases = listOf();

const sections = {
  /** Phrases that a name follows, however it is written: "my name is". */
  introductions: phrases,
  /** Phrases that a name follows after a colon or "is": "full name". */
  nameFields: phrases,
  /** Phrases that a name or something else follows: "I am". */
  presentations: phrases,
  /** Openings and closings of a letter, before a name. */
  greetings: phrases,
  /** Mr, Mrs and the like. */
  titles: phrases,
  /** Words for people with their name after them: "my wife Maria". */
  persons: phrases,
  /** Words for people after which a noun may follow as well: "customer". */
  roles: phrases,
  /** Phrases before the holder's name, which count beside the held thing or its number: "booking KL4471 under". */
  heldUnder: phrases,
  /** Closings of a letter, before a name. */
  signOffs: phrases,
  /** Words after the speaker's name: "Anna here". */
  here: phrases,
  /** Words after one of these that are no name: "my name is misspelled". */
  notNames: phrases,
  /** Words between the name of a value and the value. */
  copulas: phrases,
  /** Things with a number: order, passport, phone. */
  numbered: phrases,
  /** Things whose numbers identify no person: order, parcel, ticket. Masking keeps those numbers. */
  numberedThings: phrases,
  /** Words for "number", between a thing and its number. */
  numberWords: phrases,
  /** Words that a phone number follows, a few words later: "call", "dzwonić". */
  calls: phrases,
  /** Words for secret values: password, PIN. */
  secrets: phrases,
  /** Words for user names. */
  userNames: phrases,
  /** Phrases that a date of birth follows. */
  births: phrases,
  /** Phrases that an address follows. */
  addressCues: phrases,
  /** Kinds of streets, by their place: before the name, after it, at its end. */
  streetsBefore: phrases,
  streetsAfter: phrases,
  streetEndings: phrases,
  /** Words before a number of a thing, not of a person: error, version, model, "about". */
  technical: phrases,
  /** Words after a quantity. */
  units: phrases,
  /** Words for "@" and ".". */
  at: phrases,
  dot: phrases,
  /** Names without another meaning. */
  givenNames: phrases,
  /** Names that are words or places as well. */
  wordNames: phrases,
  /** Words that are no names of people but may be part of an address: "bank". */
  notPersons: phrases,
  /** Acts of people, after a name: "said", "called me". */
  deeds: phrases,
  /** Words before a name, and before much else: "for", "with", "and". */
  links: phrases,
  /** Kinds of venues: a name beside one is that of a place. */
  venues: phrases,
  /** Kinds of works, and words for using them: a name beside one is a title. */
  works: phrases,
  tickets: phrases,
};

const schema = z.strictObject({
  name: z.string().min(1),
  spaced: z.boolean(),
  ...sections,
  examples: z.strictObject({
    /** A text, then the parts of it that must be hidden. */
    hidden: z.array(z.array(z.string().min(1)).min(2)),
    /** Texts without personal data. */
    kept: z.array(z.string().min(1)),
  }),
});

export type PersonalLanguage = z.infer<typeof schema>;
export type PersonalSection = keyof typeof sections;

/** The shipped files, by ISO 639-1 code. */
export const PERSONAL_LANGUAGES: ReadonlyMap<string, PersonalLanguage> = new Map(
  languageFiles(LEXICON_DIRECTORY, 'personal').map(({ language, path }) => [
    language,
    readLexiconFile(path, schema),
  ]),
);

/** The entries of a section in all languages. */
export function everyPhrase(section: PersonalSection): string[] {
  return [...PERSONAL_LANGUAGES.values()].flatMap((language) => language[section]);
}

/** The entries of a section in all languages, as a set. */
export function everyWord(section: PersonalSection): ReadonlySet<string> {
  return new Set(everyPhrase(section));
}
