/** Reads `lexicon/lists/personal.json`: words that the rules for personal data need of no one language. */
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../lexicon.ts';
import { readLexiconFile } from '../lexicon-file.ts';

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
  /** Before the place that a journey goes to. */
  towards: words,
  /** Begin as a surname does, and are no name. */
  noKoreanNames: words,
});

export const PERSONAL_WORDS = readLexiconFile(join(LEXICON_DIRECTORY, 'lists/personal.json'), schema);
