/**
 * Tells the possible languages of a request by its words, for short texts too, which `detect.ts` leaves undecided.
 *
 * Test: test/reader/document/request-parts.test.ts.
 */
import { LANGUAGES, type Language } from './lexicon.ts';
import { once } from './once.ts';
import { meaningsOf } from './phrase-meanings.ts';
import { wordKey } from './spaced-phrases.ts';

/** Scripts, the most specific first: Japanese also uses Chinese characters. */
const SCRIPTS: readonly RegExp[] = [
  /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  /\p{Script=Hangul}/u,
  /\p{Script=Han}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Latin}/u,
];
/** Codes of languages, English first: it is the likeliest where words do not decide. */
const CODES = ['en', ...[...LANGUAGES.keys()].filter((code) => code !== 'en')];

const LATIN = SCRIPTS.length - 1;
const NOT_ASCII = /[^\0-\x7f]/;
/** Indices in `CODES`, by script. */
const BY_SCRIPT = Map.groupBy(CODES.keys(), (index) =>
  scriptOf(Object.values(LANGUAGES.get(CODES[index]!)!.things).flat().join(' ')),
);

function scriptOf(text: string): number {
  if (!NOT_ASCII.test(text)) return /[a-z]/i.test(text) ? LATIN : -1;
  return SCRIPTS.findIndex((script) => script.test(text));
}

/** The languages of each lexicon word, as bits. */
const languagesOfWords = once((): ReadonlyMap<string, number> => {
  const languages = new Map<string, number>();
  for (const [index, code] of CODES.entries()) {
    for (const word of wordsIn(LANGUAGES.get(code)!)) {
      const key = wordKey(word.replace(/^-|-$/g, ''));
      languages.set(key, (languages.get(key) ?? 0) | (1 << index));
    }
  }
  return languages;
});

function wordsIn(language: Language): string[] {
  const { stopWords, stopWordsInNames, determiners, connectors, negations } = language;
  const phrases = [...meaningsOf(language).keys()].flatMap((phrase) => phrase.split(' '));
  return [...stopWords, ...stopWordsInNames, ...determiners, ...connectors, ...negations, ...phrases];
}

/**
 * Returns the possible languages of a request: those of its script whose lexicons hold the most of its words, or one
 * fewer. `keys`: the words, by `wordKey`. English comes first, the others follow by code.
 */
export function languagesOfRequest(text: string, keys: readonly string[]): readonly string[] {
  const indexes = BY_SCRIPT.get(scriptOf(text)) ?? [];
  if (indexes.length < 2) return indexes.map((index) => CODES[index]!);
  const languagesOfWord = languagesOfWords();
  const counts = new Uint8Array(CODES.length);
  for (const key of keys) {
    const languages = languagesOfWord.get(key) ?? 0;
    for (let left = languages; left !== 0; left &= left - 1) counts[31 - Math.clz32(left & -left)]! += 1;
  }
  let most = 0;
  for (const count of counts) most = Math.max(most, count);
  const codes: string[] = [];
  for (const index of indexes) if (counts[index]! >= most - 1) codes.push(CODES[index]!);
  return codes;
}
