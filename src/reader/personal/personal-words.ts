/** Reads `lexicon/lists/personal.json`: words that the rules for personal data need of no one language. */
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { readLexiconFile } from '../document/lexicon-file.ts';
import { alternatives } from '../document/patterns.ts';

const words = z.array(z.string().min(1)).transform((list): ReadonlySet<string> => new Set(list));

const schema = z.strictObject({
  /** Labels that callers send as ids, and that name no person. */
  labels: words,
  streetParticles: words,
  /** Stand between a street and its number, and between number and flat. */
  houseWords: words,
  /** Mean a street wherever they stand. */
  sureStreets: words,
  /** German, before a street and its article: "in der Lindenstrasse". */
  streetLeads: words,
  streetArticles: words,
  /** As written. */
  currencyCodes: words,
  /** Numbers of goods, which stand for no person. */
  goodsNumbers: words,
  /** Rules of style sheets and groups that chats address behind "@": no person. */
  noHandles: words,
  /** Before "at" and a host: "look at example dot com" is no address. */
  beforeHosts: words,
  /** "anna at gmail.com" is an address; "available at booking.com" is none. */
  mailHosts: words,
  /** Titles that nothing but a name follows, however it is written. */
  sureTitles: words,
  germanPossessives: words,
  /** Parts of names that begin with a small letter. */
  nameParticles: words,
  /** One character each. */
  chineseSurnames: words,
  chineseDoubleSurnames: words,
  /** Characters that no given name holds. */
  noChineseGivenNames: words,
  japaneseSurnames: words,
  koreanSurnames: words,
  koreanDoubleSurnames: words,
  /** Begin words as well. */
  unsureChineseSurnames: words,
  /** One character each; two of them make a given name behind a word for a relative. */
  chineseGivenCharacters: words,
  /** Arabic, make a name with the word behind them: "عبد". */
  nameHeads: words,
  /** Stand between the names of several persons. */
  joinsPersons: words,
  /** What a person has: "Hyacinth's account". */
  possessions: words,
  /** Stand between a kind of thing and the name in it: "Trattoria da Enzo". */
  thingJoints: words,
  /** Words for a user name that are nothing else. */
  sureUserNames: words,
  /** Speak of a person: "she". */
  personPronouns: words,
  articles: words,
  /** What a family's name and "the" stand before: "the Okafor party". */
  households: words,
  /** Between a ticket and what is shown. */
  showJoints: words,
  /** What passes a thing from one to another, and what stands before the other: "give the voucher to". */
  givings: words,
  givenTo: words,
  /** The same before "to". */
  englishGivings: words,
  /** Given to works and places. */
  ratings: words,
  /** Before the place that a journey goes to. */
  towards: words,
  /** Begin as a surname does, and are no name. */
  noKoreanNames: words,
  /** Endings that families' names have and few other words. */
  familyEndings: words,
  /** Endings of nouns for services and acts, which German writes with a capital and all languages at a start. */
  nounEndings: words,
  /** Begin names of places: "San José". */
  placeHeads: words,
  /** How names of months begin. */
  monthBeginnings: words,
  /** Speak of oneself, before one's name: "I am". */
  speakers: words,
  /** Behind the name of who speaks: "this is Temperance from …". */
  behindSpeaker: words,
  /** Of `nameHeads`, those that nothing but a name follows. */
  sureNameHeads: words,
  /** Hindi, behind a given name of the lists. */
  behindUncasedNames: words,
  chineseTitles: words,
  /** What persons do, behind their name. */
  chineseDeeds: words,
  /** Before the name of whom one deals with; the sure ones before a person alone. */
  chineseDealings: words,
  chineseSureDealings: words,
  /** Before a name, in one run of letters with it. */
  chineseBeginnings: words,
  japaneseHonorifics: words,
  japaneseBeginnings: words,
  /** End words for persons that stand before an honorific and are no names. */
  noJapaneseNameEnds: words,
  /** What somebody is at work, behind a name. */
  koreanPosts: words,
  /** Behind a name that a word announced. */
  thaiNameEnds: words,
  /** Before names, and before much else. */
  thaiHonorifics: words,
  /** Behind a number with no blank: "40cm", "2nd". */
  units: words,
  /** Before the number of a standard, as in "ISO 9001". */
  standards: words,
  /** What has a phone number, and what has the number of a card for payments: of `numbered`, in all languages. */
  phoneThings: words,
  cardThings: words,
  /** What stands under somebody's name: "table", "booking". */
  heldThings: words,
  /** What pages and their parts are called, and statuses: "under Settings". */
  sections: words,
  /** Before a number that stands for no person: "utf-8", "covid-19". */
  technicalPrefixes: words,
  /** Begin numbers of orders, customers and documents: "INV-20391". */
  identifierPrefixes: words,
  /** Behind a house number, before its street: "12 bis rue des Tilleuls". */
  houseOrdinals: words,
  /** Behind an hour; German has "am" before days. */
  halvesOfDay: words,
  /** Close a letter, and mean more elsewhere. */
  shortClosings: words,
  /** Said among spelled digits. */
  digitRepeats: words,
  /** Before a code that everyone is given. */
  offerWords: words,
  /** Marks of an address, as they are said. */
  spelledMarks: words,
  /** End streets and quarters, before a number. */
  hanStreetEnds: words,
  /** Follow the numbers of houses and flats. */
  hanHouseUnits: words,
  /** In the name of a Japanese quarter. */
  hanDistricts: words,
  /** End the names of provinces, cities and prefectures. */
  hanRegions: words,
  /** Before an address, in one run with it. */
  hanAddressCues: words,
  koreanStreetEnds: words,
  koreanRoads: words,
  koreanHouseUnits: words,
  koreanTowns: words,
  koreanVillages: words,
  /** Between the word for a name and the name. */
  chineseCopulas: words,
  /** In what "I am" introduces, and no name holds. */
  chineseNoNames: words,
  /** Between the word for a name and the name. */
  japaneseFieldParticles: words,
  /** Behind a name that a word announced. */
  japaneseNameEnds: words,
  /** Say what one is called, behind the name. */
  japaneseSayings: words,
  /** Behind the name of a relative. */
  japanesePersonEnds: words,
  /** Between the word for a name and the name. */
  thaiCopulas: words,
  /** Begin what is no name, behind the word for one. */
  thaiNoNames: words,
  /** Between the word for a value and the value, in one run. */
  unspacedBetween: words,
  /** Behind the numbers of a date. */
  dateUnits: words,
});

/** The source of a pattern for any of some words as written. */
export function anyWordOf(list: ReadonlySet<string>): string {
  return `(?:${alternatives([...list])})`;
}

export const PERSONAL_WORDS = readLexiconFile(join(LEXICON_DIRECTORY, 'lists/personal.json'), schema);
