/**
 * Reads `lexicon/<language>/words.json`: our knowledge of each language, as data.
 *
 * Test: test/reader/document/lexicon.test.ts.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import { languageFiles, listOf, readLexiconFile } from './lexicon-file.ts';

/** Directory of the shipped files: one folder per language, named by its ISO 639-1 code. */
export const LEXICON_DIRECTORY = resolve(import.meta.dirname, '../../../lexicon');

/** Schema of words or phrases as people write them: lower case, no duplicates, sorted by code point. */
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
  /** Articles and possessives, which names omit. */
  determiners: entries,
  /** Prepositions and "not", which may stand between the words of a name: "proof of insurance". */
  connectors: entries,
  /** Words without meaning of their own. */
  stopWords: entries,
  /** Further stop words of names: days and months, courtesies. The time of a wish is not the wish. */
  stopWordsInNames: entries,
  /** Further stop words for deciding whether a turn says anything. */
  stopWordsInTurns: entries,
  /** Openings that ask without naming the matter. */
  politeOpenings: entries,
  /** Openings that only tell the expected kind of answer. */
  questionOpenings: entries,
  /** Phrases before the request in a long turn; a title begins at such a sentence. */
  requestLeads: entries,
  /** Words for "please", anywhere in a turn. */
  please: entries,
  /** Adverbs and courtesies, which names omit: "order still not delivered". */
  adverbs: entries,
  /** Forms of be, have and do, which names omit: "payment was declined". */
  auxiliaries: entries,
  /** Phrases for not being able to. */
  inabilities: entries,
  /** Subject pronouns; a verb follows or precedes them. */
  subjects: entries,
  /** Words that never tell what is wanted. */
  fillers: entries,
  /** Verbs of requests: the base form, then its irregular forms. */
  verbs: entries,
  /** Verbs of events that happen to people, in the same form. */
  eventVerbs: entries,
  /** Words that count or place units of time: "few days ago". */
  quantifiers: entries,
  /** Prepositions that belong to the noun before them: "status of order". */
  genitives: entries,
  /** The verb of a question about something on its way: "where is my parcel". */
  tracking: entries,
  /** The word that joins two names: "orders and refunds". */
  and: entries,
  /** Nouns that announce a request without saying it. */
  announcements: entries,
  /** Conjunctions at which a long sentence is cut into clauses. */
  conjunctions: entries,
  /** Digits as words, as people spell numbers. */
  digits: entries,
  /** Words between the name of a value and the value: "my number is 12345". */
  valueMarkers: entries,
  /** Words that name neither action nor thing: light verbs, vague nouns, "new", "last". */
  lightWords: entries,
  /** Words for "not". In `troubles` each of them stands for all: "not work" finds "doesn't work". */
  negations: entries,
  /** The last word of a verb, which may stand apart: "turn the light off". */
  particles: entries,
  /** Words after which a verb names a past act or a try, not the wish: "I tried to pay". */
  pastSigns: entries,
  /** Words after which a word is a verb, where nouns and verbs look alike: "to order", not "my order". */
  verbLeads: entries,
  /** Phrases that close a letter: "kind regards". */
  signOffs: entries,
  /** Beginnings of the line that mail programs add: "sent from my". */
  sentFrom: entries,
  /** Reactions: how something went or how one feels, on any matter ("still not working", "ridiculous"). */
  reactions: entries,
  /** Words beside a reaction that name nothing: "for three days", "the same error again". */
  reactionFillers: entries,
};

/** The actions that a request may ask for, in words of every support desk. */
export const ACTION_CLASSES = [
  'cancel',
  'change',
  'create',
  'delete',
  /** To track or check a state. */
  'track',
  'pay',
  /** To get money or goods back. */
  'refund',
  'complain',
  /** To reach a person. */
  'human',
  /** To search, or get a recommendation. */
  'find',
  /** To buy, book, rent or reserve. */
  'order',
  /** To get something working again. */
  'fix',
  /** To get access, or a lost document, back. */
  'recover',
  'subscribe',
  /** To send money, or keep a number at a move. */
  'transfer',
  /** To get a document or a copy. */
  'document',
  /** To turn on or install. */
  'activate',
  /** To turn off. */
  'deactivate',
  /** To block something lost, stolen or abused. */
  'block',
  'ask-price',
  'apply',
  'renew',
  /** To confirm, or prove an identity. */
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

/** Phrases by meaning. "kündig-" is a prefix, "-karte" a suffix, as in a dictionary. */
const meanings = {
  /** Verbs, and nouns made of them. */
  actions: z.strictObject(perAction),
  /** Phrases of questions about a state, a place or a price. */
  questions: z.strictObject(perAction).partial(),
  /** Phrases for what went wrong, by the action that they ask for. */
  troubles: z.strictObject(perAction).partial(),
  /** Phrases that stand for an action if the request names no other: "I need a" for order, "problem" for fix. */
  hints: z.strictObject(perAction).partial(),
  /** Things by key, which is equal in every language. */
  things: z.record(z.string().regex(/^[a-z]+(?:-[a-z]+)*$/, 'is not kebab-case'), entries),
};

const languageSchema = z.strictObject({
  /** Name of the language in English, for people. */
  name: z.string().min(1),
  /** True if spaces separate words. If not, as in Chinese, a phrase may begin anywhere. */
  spaced: z.boolean(),
  /** True if the noun precedes its modifiers: "dirección de envío". */
  headFirst: z.boolean(),
  /** True if the verb may follow its object: "meine Bestellung stornieren". */
  verbFinal: z.boolean(),
  ...sections,
  ...meanings,
});

export type Language = z.infer<typeof languageSchema>;
export type Section = keyof typeof sections;

/** A section of all languages together. */
export interface Entries {
  readonly all: readonly string[];
  /** Entries of languages with spaces between words. */
  readonly spaced: readonly string[];
  readonly unspaced: readonly string[];
}

export type Lexicon = Readonly<Record<Section, Entries>>;

/** Loads the languages of a directory, by code. Throws SetupError, naming file and place, if a file is faulty. */
export function loadLanguages(directory = LEXICON_DIRECTORY): ReadonlyMap<string, Language> {
  return new Map(
    languageFiles(directory, 'words').map(({ language, path }) => [
      language,
      readLexiconFile(path, languageSchema),
    ]),
  );
}

/** Merges the sections of all languages. */
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

/** The shipped languages. */
export const LANGUAGES: ReadonlyMap<string, Language> = loadLanguages();
export const LEXICON: Lexicon = lexiconOf(LANGUAGES);
