/** Reads `lexicon/<language>/personal.json`: the words of each language beside which personal data stands. */
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { languageFiles, listOf, readLexiconFile } from '../document/lexicon-file.ts';

const phrases = listOf();

const sections = {
  /** A name follows, however it is written: "my name is". */
  introductions: phrases,
  /** A name follows behind a colon or "is": "full name". */
  nameFields: phrases,
  /** A name or something else follows: "I am". */
  presentations: phrases,
  /** What opens or closes a letter, before a name. */
  greetings: phrases,
  /** Mr, Mrs and the like. */
  titles: phrases,
  /** Persons that are named after the word: "my wife Maria". */
  persons: phrases,
  /** The same where a noun may follow as well: "customer". */
  roles: phrases,
  /** The name of whose booking it is follows, where that or its number stands beside it: "booking KL4471 under". */
  heldUnder: phrases,
  /** What closes a letter, before a name. */
  signOffs: phrases,
  /** Says who speaks, behind a name: "Anna here". */
  here: phrases,
  /** Words that follow one of these and are no name: "my name is misspelled". */
  notNames: phrases,
  /** Stand between the name of a value and the value. */
  copulas: phrases,
  /** What has a number: order, passport, phone. */
  numbered: phrases,
  /** Words of things whose numbers stand for no person: order, parcel, ticket. Masking keeps them. */
  numberedThings: phrases,
  /** "Number" and its like, between the thing and its number. */
  numberWords: phrases,
  /** A phone number follows, a few words later: "call", "dzwonić". */
  calls: phrases,
  /** Values that are secret: password, PIN. */
  secrets: phrases,
  /** What a person is called in a system. */
  userNames: phrases,
  /** A date of birth follows. */
  births: phrases,
  /** An address follows. */
  addressCues: phrases,
  /** Kinds of streets, by where they stand: before the name, after it, at its end. */
  streetsBefore: phrases,
  streetsAfter: phrases,
  streetEndings: phrases,
  /** A number after these tells about a thing, not about a person: error, version, model, "about". */
  technical: phrases,
  /** A number before these is a quantity. */
  units: phrases,
  /** How "@" and "." are said. */
  at: phrases,
  dot: phrases,
  /** Names that are no words of another meaning. */
  givenNames: phrases,
  /** Names that are words or places as well. */
  wordNames: phrases,
  /** Words that are no names of persons, and may be part of an address: "bank". */
  notPersons: phrases,
  /** Behind a name: what only persons do. "said", "called me". */
  deeds: phrases,
  /** Before a name, and before much else: "for", "with", "and". */
  links: phrases,
  /** Kinds of venues: a name beside one is that of a place. */
  venues: phrases,
  /** Kinds of works, and what is done with them: a name beside one is a title. */
  works: phrases,
  tickets: phrases,
};

const schema = z.strictObject({
  name: z.string().min(1),
  spaced: z.boolean(),
  ...sections,
  examples: z.strictObject({
    /** A text, and the parts of it that must not be shown. */
    hidden: z.array(z.array(z.string().min(1)).min(2)),
    /** Texts that hold no personal data. */
    kept: z.array(z.string().min(1)),
  }),
});

export type PersonalLanguage = z.infer<typeof schema>;
export type PersonalSection = keyof typeof sections;

/** The files that ship, by ISO 639-1 code. */
export const PERSONAL_LANGUAGES: ReadonlyMap<string, PersonalLanguage> = new Map(
  languageFiles(LEXICON_DIRECTORY, 'personal').map(({ language, path }) => [
    language,
    readLexiconFile(path, schema),
  ]),
);

/** A section of all languages together. */
export function everyPhrase(section: PersonalSection): string[] {
  return [...PERSONAL_LANGUAGES.values()].flatMap((language) => language[section]);
}

/** The same as a set of words. */
export function everyWord(section: PersonalSection): ReadonlySet<string> {
  return new Set(everyPhrase(section));
}
