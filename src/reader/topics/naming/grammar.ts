/**
 * The roles that words can play in a name, by language: "i" is an article in Italian and a subject in English. Function
 * words also tell the language of a request, however short it is.
 *
 * Test: test/reader/topics/naming/grammar.test.ts.
 */
import { LANGUAGES, type Language } from '../../document/lexicon.ts';

const SECTIONS = {
  determiners: ['determiners'],
  connectors: ['connectors'],
  auxiliaries: ['auxiliaries'],
  negations: ['negations'],
  inabilities: ['inabilities'],
  adverbs: ['adverbs'],
  subjects: ['subjects'],
  fillers: ['fillers'],
  verbLeads: ['verbLeads'],
  particles: ['particles'],
  stopWords: ['determiners', 'stopWords', 'stopWordsInNames'],
} as const satisfies Record<string, readonly (keyof Language)[]>;
type Role = keyof typeof SECTIONS;
const NAMES = Object.keys(SECTIONS) as Role[];

/** The bit of each role. */
export const ROLE = Object.fromEntries(NAMES.map((role, bit) => [role, 1 << bit])) as Readonly<
  Record<Role, number>
>;

/** The function words of one language, or of all: word → bits of its roles. */
export interface RequestGrammar {
  /** ISO 639-1; null for all languages together. */
  readonly language: string | null;
  readonly roles: ReadonlyMap<string, number>;
}

function grammarOf(languages: readonly Language[], language: string | null): RequestGrammar {
  const roles = new Map<string, number>();
  for (const role of NAMES)
    for (const words of languages.flatMap((one) => SECTIONS[role].map((section) => one[section])))
      for (const word of words) roles.set(word, (roles.get(word) ?? 0) | ROLE[role]);
  return { language, roles };
}

/** Codes of languages, English first: it is the likeliest where words do not decide. */
const CODES = ['en', ...[...LANGUAGES.keys()].filter((code) => code !== 'en')];
const GRAMMARS = CODES.map((code) => grammarOf([LANGUAGES.get(code)!], code));
const OF_ALL = grammarOf([...LANGUAGES.values()], null);
const LANGUAGES_OF_WORD = languagesOfWords();

/** Function word → indices in `CODES` of the languages that use it. */
function languagesOfWords(): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [place, { roles }] of GRAMMARS.entries())
    for (const word of roles.keys()) {
      const known = places.get(word);
      if (known === undefined) places.set(word, [place]);
      else known.push(place);
    }
  return places;
}

/**
 * The grammar of the language of most function words in a request; that of all languages if it has none. Words must be
 * in lower case. A word of several languages counts less.
 */
export function grammarOfWords(lowers: readonly string[]): RequestGrammar {
  const counts = new Float64Array(CODES.length);
  for (const lower of lowers) {
    const places = LANGUAGES_OF_WORD.get(lower);
    if (places !== undefined) for (const place of places) counts[place]! += 1 / places.length;
  }
  return GRAMMARS[mostUsed(counts)] ?? OF_ALL;
}

/** The most frequent of some languages; null stands for an unknown one. */
export function mostOften(languages: readonly (string | null)[]): string | null {
  const votes = new Float64Array(CODES.length);
  for (const language of languages) if (language !== null) votes[CODES.indexOf(language)]! += 1;
  return CODES[mostUsed(votes)] ?? null;
}

function mostUsed(counts: Float64Array): number {
  let best = -1;
  for (let place = 0; place < counts.length; place += 1) {
    if (counts[place]! > (best < 0 ? 0 : counts[best]!)) best = place;
  }
  return best;
}

/** The joint between two names: a word of the language, or a comma. */
export function wordForAnd(language: string | null): string {
  return (language === null ? undefined : LANGUAGES.get(language)?.and[0]) ?? ', ';
}
