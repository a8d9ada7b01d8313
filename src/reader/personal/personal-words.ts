/**
 * Reads `lexicon/lists/personal.json`: words for the rules of redaction that belong to no single language.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { readLexiconFile } from '../document/lexicon-file.ts';
import { alternatives } from '../document/patterns.ts';

const words = z.array(z.string().min(1)).transform((list): ReadonlySet<string> => new Set(list));

const schema = z.strictObject({
  /** Labels that callers send as ids and that name no person. */
  labels: words,
  streetParticles: words,
  /** Words between a street and its number, and between number and flat. */
  houseWords: words,
  /** Words that always mean a street. */
  sureStreets: words,
  /** German words before a street and its article: "in der Lindenstrasse". */
  streetLeads: words,
  streetArticles: words,
  /** Currency codes, as written. */
  currencyCodes: words,
  /** Words before the numbers of goods, which identify nobody. */
  goodsNumbers: words,
  /** Rules of style sheets and groups in chats: "@" before them marks no person. */
  noHandles: words,
  /** Words before "at" and a host that make no address: "look at example dot com". */
  beforeHosts: words,
  /** Hosts of mail: "anna at gmail.com" is an address; "available at booking.com" is none. */
  mailHosts: words,
  /** Titles that only a name follows, however it is written. */
  sureTitles: words,
  germanPossessives: words,
  /** Parts of names in lower case. */
  nameParticles: words,
  /** Surnames of one character. */
  chineseSurnames: words,
  chineseDoubleSurnames: words,
  /** Characters that occur in no given name. */
  noChineseGivenNames: words,
  japaneseSurnames: words,
  koreanSurnames: words,
  koreanDoubleSurnames: words,
  /** Surnames that also begin words. */
  unsureChineseSurnames: words,
  /** Single characters; two of them form a given name after a word for a relative. */
  chineseGivenCharacters: words,
  /** Arabic words that form a name with the next word: "عبد". */
  nameHeads: words,
  /** Words between the names of several people. */
  joinsPersons: words,
  /** Things that people own: "Hyacinth's account". */
  possessions: words,
  /** Words between a kind of thing and the name in it: "Trattoria da Enzo". */
  thingJoints: words,
  /** Words for a user name without another meaning. */
  sureUserNames: words,
  /** Pronouns for people: "she". */
  personPronouns: words,
  articles: words,
  /** Words after "the" and a family name: "the Okafor party". */
  households: words,
  /** Words between a ticket and the show. */
  showJoints: words,
  /** Verbs of giving, and words before the receiver: "give the voucher to". */
  givings: words,
  givenTo: words,
  /** Verbs of giving before English "to". */
  englishGivings: words,
  /** Words for ratings, which works and places get. */
  ratings: words,
  /** Words before the destination of a journey. */
  towards: words,
  /** Words that begin like a surname and are no name. */
  noKoreanNames: words,
  /** Endings of family names that few other words have. */
  familyEndings: words,
  /** Endings of nouns for services and acts, which German capitalises, and every language does at a start. */
  nounEndings: words,
  /** Beginnings of place names: "San José". */
  placeHeads: words,
  /** Beginnings of names of months. */
  monthBeginnings: words,
  /** Words for oneself, before one's name: "I am". */
  speakers: words,
  /** Words after the speaker's name: "this is Temperance from …". */
  behindSpeaker: words,
  /** The `nameHeads` that only a name follows. */
  sureNameHeads: words,
  /** Hindi words after a listed given name. */
  behindUncasedNames: words,
  chineseTitles: words,
  /** Acts of people, after their name. */
  chineseDeeds: words,
  /** Words before a person whom one deals with; only people follow the sure ones. */
  chineseDealings: words,
  chineseSureDealings: words,
  /** Beginnings of a run before a name. */
  chineseBeginnings: words,
  japaneseHonorifics: words,
  japaneseBeginnings: words,
  /** Endings of words for people that stand before an honorific and are no names. */
  noJapaneseNameEnds: words,
  /** Posts at work, after a name. */
  koreanPosts: words,
  /** Words after a name with a cue. */
  thaiNameEnds: words,
  /** Words before names, and before much else. */
  thaiHonorifics: words,
  /** Units directly after a number: "40cm", "2nd". */
  units: words,
  /** Words before the number of a standard: "ISO 9001". */
  standards: words,
  /** Words of `numbered` for things with a phone number, and with a card number; all languages. */
  phoneThings: words,
  cardThings: words,
  /** Things under somebody's name: "table", "booking". */
  heldThings: words,
  /** Names of pages, their parts and statuses: "under Settings". */
  sections: words,
  /** Prefixes of numbers that identify nobody: "utf-8", "covid-19". */
  technicalPrefixes: words,
  /** Prefixes of numbers of orders, customers and documents: "INV-20391". */
  identifierPrefixes: words,
  /** Words between a house number and its street: "12 bis rue des Tilleuls". */
  houseOrdinals: words,
  /** Words after an hour. German also has "am" before days. */
  halvesOfDay: words,
  /** Closings of a letter that also mean something else. */
  shortClosings: words,
  /** Words among spelled digits. */
  digitRepeats: words,
  /** Words before a code that everyone gets. */
  offerWords: words,
  /** Words for the marks in an address. */
  spelledMarks: words,
  /** Endings of streets and quarters, before a number. */
  hanStreetEnds: words,
  /** Words after the numbers of houses and flats. */
  hanHouseUnits: words,
  /** Words in the name of a Japanese quarter. */
  hanDistricts: words,
  /** Endings of provinces, cities and prefectures. */
  hanRegions: words,
  /** Words before an address, in one run with it. */
  hanAddressCues: words,
  koreanStreetEnds: words,
  koreanRoads: words,
  koreanHouseUnits: words,
  koreanTowns: words,
  koreanVillages: words,
  /** Words between the word for a name and the name. */
  chineseCopulas: words,
  /** Words that occur after "I am" and in no name. */
  chineseNoNames: words,
  /** Words between the word for a name and the name. */
  japaneseFieldParticles: words,
  /** Words after a name with a cue. */
  japaneseNameEnds: words,
  /** Words for being called, after the name. */
  japaneseSayings: words,
  /** Words after the name of a relative. */
  japanesePersonEnds: words,
  /** Words between the word for a name and the name. */
  thaiCopulas: words,
  /** Beginnings of text after the word for a name that is no name. */
  thaiNoNames: words,
  /** Words between the word for a value and the value, in one run. */
  unspacedBetween: words,
  /** Units after the numbers of a date. */
  dateUnits: words,
});

/** The pattern source for any of some words, as written. */
export function anyWordOf(list: ReadonlySet<string>): string {
  return `(?:${alternatives([...list])})`;
}

export const PERSONAL_WORDS = readLexiconFile(join(LEXICON_DIRECTORY, 'lists/personal.json'), schema);
