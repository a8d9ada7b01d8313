/**
 * Which parts words can play in a name, by language: "i" is an article in Italian and a subject in English. Function
 * words tell the language of a request, however short it is. Covered by test/topics/naming/grammar.test.ts.
 */
import { LANGUAGES, type Language } from '../../text/lexicon.ts';

const SECTIONS = [
  'determiners',
  'connectors',
  'auxiliaries',
  'negations',
  'inabilities',
  'adverbs',
  'subjects',
  'fillers',
  'verbLeads',
  'particles',
  'timeUnits',
  'quantifiers',
] as const;

/** The words of one language, or of all. */
export type RequestGrammar = Readonly<Record<(typeof SECTIONS)[number] | 'stopWords', ReadonlySet<string>>>;

function grammarOf(languages: readonly Language[]): RequestGrammar {
  const words = (sections: readonly (keyof Language)[]): Set<string> =>
    new Set(
      languages.flatMap((language) => sections.flatMap((section) => language[section] as readonly string[])),
    );
  const sets = Object.fromEntries(SECTIONS.map((section) => [section, words([section])]));
  return {
    ...(sets as Record<(typeof SECTIONS)[number], Set<string>>),
    stopWords: words(['determiners', 'stopWords', 'stopWordsInNames']),
  };
}

/** English first: where the words do not decide, it is the likeliest. */
const CODES = ['en', ...[...LANGUAGES.keys()].filter((code) => code !== 'en')];
const GRAMMARS = CODES.map((code) => grammarOf([LANGUAGES.get(code)!]));
const OF_ALL = grammarOf([...LANGUAGES.values()]);
const LANGUAGES_OF_WORD = languagesOfWords();

/** Function word → the places in `CODES` of the languages that use it. */
function languagesOfWords(): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  GRAMMARS.forEach((grammar, place) => {
    for (const word of new Set(Object.values(grammar).flatMap((words) => [...words]))) {
      const known = places.get(word);
      if (known === undefined) places.set(word, [place]);
      else known.push(place);
    }
  });
  return places;
}

/** How many of some words each language uses as function words, by its place in `CODES`; a shared word counts less. */
function countsOf(lowers: readonly string[]): Float64Array {
  const counts = new Float64Array(CODES.length);
  for (const lower of lowers) {
    const places = LANGUAGES_OF_WORD.get(lower);
    if (places !== undefined) for (const place of places) counts[place]! += 1 / places.length;
  }
  return counts;
}

function mostUsed(counts: Float64Array): number {
  let best = -1;
  for (let place = 0; place < counts.length; place += 1) {
    if (counts[place]! > (best < 0 ? 0 : counts[best]!)) best = place;
  }
  return best;
}

/** The grammar of the language whose function words a request uses most, in lower case; of all when it uses none. */
export function grammarOfWords(lowers: readonly string[]): RequestGrammar {
  return GRAMMARS[mostUsed(countsOf(lowers))] ?? OF_ALL;
}

/** ISO 639-1 code of the language that most of some texts, as words in lower case, are in; null when none is known. */
export function languageOfWords(texts: readonly (readonly string[])[]): string | null {
  return mostOften(texts.map((lowers) => CODES[mostUsed(countsOf(lowers))] ?? null));
}

/** Of the languages of some texts, null for those that are not known, the most frequent one. */
export function mostOften(languages: readonly (string | null)[]): string | null {
  const votes = new Float64Array(CODES.length);
  for (const language of languages) if (language !== null) votes[CODES.indexOf(language)]! += 1;
  return CODES[mostUsed(votes)] ?? null;
}
