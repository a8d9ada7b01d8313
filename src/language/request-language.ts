/**
 * Whose words a request uses: short texts too, which `detect.ts` leaves open. Covered by
 * test/language/request-parts.test.ts.
 */
import { LANGUAGES, type Language } from './lexicon.ts';
import { once } from './once.ts';
import { meaningsOf } from './phrase-meanings.ts';
import { wordKey } from './spaced-phrases.ts';

/** The most telling first: Japanese also writes Chinese characters. */
const SCRIPTS: readonly RegExp[] = [
  /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  /\p{Script=Hangul}/u,
  /\p{Script=Han}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Latin}/u,
];
/** English first: where the words do not decide, it is the likeliest. */
const CODES = ['en', ...[...LANGUAGES.keys()].filter((code) => code !== 'en')];

const BY_SCRIPT = Map.groupBy(CODES, (code) =>
  scriptOf(Object.values(LANGUAGES.get(code)!.things).flat().join(' ')),
);

function scriptOf(text: string): number {
  return SCRIPTS.findIndex((script) => script.test(text));
}

/** The languages of each word that some lexicon holds, one bit each. */
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
 * The languages that a request may be in: those of its script that hold as many of its words (as `wordKey` gives
 * them) as any other, or one fewer. English is first, the others follow by code.
 */
export function languagesOfRequest(text: string, keys: readonly string[]): readonly string[] {
  const codes = BY_SCRIPT.get(scriptOf(text)) ?? [];
  if (codes.length < 2) return codes;
  const languagesOfWord = languagesOfWords();
  const counts = new Uint8Array(CODES.length);
  for (const key of keys) {
    const languages = languagesOfWord.get(key) ?? 0;
    for (let index = 0; languages >> index > 0; index++) counts[index]! += (languages >> index) & 1;
  }
  const most = Math.max(...counts);
  return codes.filter((code) => counts[CODES.indexOf(code)]! >= most - 1);
}
