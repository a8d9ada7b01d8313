/** Reads `lexicon/`: what we know of each language, as data. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { languageFiles, listOf, readLexiconFile } from './lexicon-file.ts';

/** Where the files that ship lie: a folder for each language, named by its ISO 639-1 code. */
export const LEXICON_DIRECTORY = resolve(import.meta.dirname, '../../../lexicon');

/** Words or phrases as people write them, in lower case, each once, sorted by code point. */
const entries = listOf((list, tell) => {
  list.forEach((entry, place) => {
    const fault = faultOf(entry, list[place - 1]);
    if (fault !== null) tell(place, fault);
  });
});

const PHRASE = /^[\p{L}\p{M}\p{N}'-]+(?: [\p{L}\p{M}\p{N}'-]+)*$/u;

function faultOf(entry: string, before: string | undefined): string | null {
  if (!PHRASE.test(entry))
    return `"${entry}" is more than letters, digits, ' and - with single spaces between words`;
  if (entry !== entry.toLowerCase()) return `"${entry}" is not in lower case`;
  if (before === entry) return `"${entry}" stands twice`;
  if (before !== undefined && before > entry)
    return `"${entry}" is not sorted: it belongs before "${before}"`;
  return null;
}

const sections = {
  /** Articles and possessives, which a name leaves out. */
  determiners: entries,
  /** Prepositions and "not", which may stand between the words of a name: "proof of insurance". */
  connectors: entries,
  /** Words without a meaning of their own. */
  stopWords: entries,
  /** Further stop words of names: days and months, courtesies. When something is wanted is not what is wanted. */
  stopWordsInNames: entries,
  /** Further stop words where it is decided whether a turn says anything. */
  stopWordsInTurns: entries,
  /** Openings that ask without saying what for. */
  politeOpenings: entries,
  /** Openings that only say what kind of answer is wanted. */
  questionOpenings: entries,
  /** What precedes the request within a long turn; a title begins at such a sentence. */
  requestLeads: entries,
  /** Please, anywhere in a turn. */
  please: entries,
  /** Adverbs and courtesies, which a name leaves out: "order still not delivered". */
  adverbs: entries,
  /** Forms of be, have and do, which a name leaves out: "payment was declined". */
  auxiliaries: entries,
  /** Say that somebody is not able to do something. */
  inabilities: entries,
  /** Subject pronouns: a verb follows, or precedes them. */
  subjects: entries,
  /** Words that tell nothing of what is wanted, whatever stands beside them. */
  fillers: entries,
  /** Verbs that people ask with: the base form, and behind it the forms that no rule makes. */
  verbs: entries,
  /** Verbs of what happens to people, in the same way. */
  eventVerbs: entries,
  /** Words that count or place units of time: "few days ago". */
  quantifiers: entries,
  /** Prepositions that belong to the noun before them: "status of order". */
  genitives: entries,
  /** The verb for a question after something that is on its way: "where is my parcel". */
  tracking: entries,
  /** The word that joins two names: "orders and refunds". */
  and: entries,
  /** Nouns that announce a request without saying it. */
  announcements: entries,
  /** Conjunctions at which a long sentence is cut into clauses. */
  conjunctions: entries,
  /** Digits, and what stands for them, as people spell numbers. */
  digits: entries,
  /** What stands between the name of a value and the value: "my number is 12345". */
  valueMarkers: entries,
  /** Words that name neither what to do nor the thing: light verbs, vague nouns, "new", "last". */
  lightWords: entries,
  /** "Not" and its like. In `troubles` each of them stands for all: "not work" finds "doesn't work". */
  negations: entries,
  /** The last word of a verb that may stand apart from it: "turn the light off". */
  particles: entries,
  /** The verb after these was tried or done: "I tried to pay". It is not what the user asks for. */
  pastSigns: entries,
  /** A word after these is a verb, where nouns and verbs look alike: "to order", "my order". */
  verbLeads: entries,
  /** What closes a letter: "kind regards". */
  signOffs: entries,
  /** How programs that send mail begin the line that they add: "sent from my". */
  sentFrom: entries,
  /** What says how something went or how one feels, of whatever it is about: "still not working", "ridiculous". */
  reactions: entries,
  /** Words that name nothing beside a reaction: "for three days", "the same error again". */
  reactionFillers: entries,
};

/** What a request asks to do, in words that every support desk knows. */
export const ACTION_CLASSES = [
  'cancel',
  'change',
  'create',
  'delete',
  /** To track a state, or check one. */
  'track',
  'pay',
  /** Money or goods back. */
  'refund',
  'complain',
  /** To reach a person. */
  'human',
  /** To search, or get a recommendation. */
  'find',
  /** To buy, book, rent or reserve. */
  'order',
  /** Something does not work. */
  'fix',
  /** To get access, or a lost document, back. */
  'recover',
  'subscribe',
  /** To send money, or take a number along. */
  'transfer',
  /** To get a document or a copy. */
  'document',
  /** To turn on or install. */
  'activate',
  /** To turn off. */
  'deactivate',
  /** To block what was lost, stolen or abused. */
  'block',
  'ask-price',
  'apply',
  'renew',
  /** To confirm, or prove who one is. */
  'verify',
  'top-up',
  'withdraw',
  'play',
  'rate',
] as const;

export type ActionClass = (typeof ACTION_CLASSES)[number];

const perAction = Object.fromEntries(ACTION_CLASSES.map((name) => [name, entries])) as Record<
  ActionClass,
  typeof entries
>;

/**
 * Words by what they mean. As in a dictionary, "kündig-" stands for any word that begins so, "-karte" for any
 * that ends so.
 */
const meanings = {
  /** Verbs, and nouns made of them. */
  actions: z.strictObject(perAction),
  /** How a question after a state, a place or a price begins or says it. */
  questions: z.strictObject(perAction).partial(),
  /** What went wrong, by what it asks for. */
  troubles: z.strictObject(perAction).partial(),
  /** Says an action where the request names no other: "I need a" an order, "problem" that something is to be fixed. */
  hints: z.strictObject(perAction).partial(),
  /** The same key in every language. */
  things: z.record(z.string().regex(/^[a-z]+(?:-[a-z]+)*$/, 'is not kebab-case'), entries),
};

const languageSchema = z.strictObject({
  /** In English, for readers. */
  name: z.string().min(1),
  /** Spaces stand between words. Where they do not, as in Chinese, a phrase may begin anywhere. */
  spaced: z.boolean(),
  /** The noun precedes what describes it: "dirección de envío". */
  headFirst: z.boolean(),
  /** The verb follows its object, always or in part: "meine Bestellung stornieren". */
  verbFinal: z.boolean(),
  ...sections,
  ...meanings,
});

export type Language = z.infer<typeof languageSchema>;
export type Section = keyof typeof sections;

/** A section, of all languages together. */
export interface Entries {
  readonly all: readonly string[];
  /** Those of languages with spaces between words. */
  readonly spaced: readonly string[];
  readonly unspaced: readonly string[];
}

export type Lexicon = Readonly<Record<Section, Entries>>;

/**
 * The languages of a directory, by code. Throws SetupError, naming file and place, when a file cannot be used.
 */
export function loadLanguages(directory = LEXICON_DIRECTORY): ReadonlyMap<string, Language> {
  return new Map(
    languageFiles(directory, 'words').map(({ language, path }) => [
      language,
      readLexiconFile(path, languageSchema),
    ]),
  );
}

/** The sections of all languages together. */
export function lexiconOf(all: ReadonlyMap<string, Language>): Lexicon {
  const languages = [...all.values()];
  const gather = (section: Section): Entries => {
    const of = (spaced: boolean): string[] =>
      languages.flatMap((language) => (language.spaced === spaced ? language[section] : []));
    const [spaced, unspaced] = [of(true), of(false)];
    return { spaced, unspaced, all: [...spaced, ...unspaced] };
  };
  const names = Object.keys(sections) as Section[];
  return Object.fromEntries(names.map((section) => [section, gather(section)])) as Record<Section, Entries>;
}

/** The files that ship. */
export const LANGUAGES: ReadonlyMap<string, Language> = loadLanguages();
export const LEXICON: Lexicon = lexiconOf(LANGUAGES);
