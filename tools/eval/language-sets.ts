/** What the language of texts is measured on. Covered by test/tools/eval/language-sets.test.ts. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { collect, dataSetPath, isHeldOut, readAs, readLanguages } from './data.ts';

const GOLD_DIRECTORY = resolve(import.meta.dirname, '../../test/gold');

/** What sets and libraries call varieties of a language that we tell as one. */
const VARIETIES = new Map([
  ['arq', 'ar'],
  ['arz', 'ar'],
  ['fil', 'tl'],
  ['nb', 'no'],
  ['nn', 'no'],
  ['wuu', 'zh'],
  ['yue', 'zh'],
]);

/** ISO 639-1 where there is one, of any ISO 639 code; both Norwegian standards are `no`. */
export function languageOf(code: string): string {
  const canonical = Intl.getCanonicalLocales(code)[0] ?? code;
  return VARIETIES.get(canonical) ?? canonical;
}

/** Whether a sentence measures, and so never trains: nearly one in five. Case and punctuation do not matter. */
export function isMeasured(sentence: string): boolean {
  const key = sentence
    .toLowerCase()
    .replace(/[^\p{L}\p{M}]+/gu, ' ')
    .trim();
  return isHeldOut(key) || isHeldOut(` ${key}`);
}

/** A text and the languages that are right for it; null where none need be told. */
export interface LanguageCase {
  readonly text: string;
  readonly language: string | null;
  readonly also: readonly string[];
}

const goldSchema = z.object({ text: z.string(), lang: z.string().nullable(), also: z.array(z.string()) });

/** Requests of our own. The sealed half is only scored. */
export async function goldRequests(half: 'tuned' | 'sealed'): Promise<LanguageCase[]> {
  const name = half === 'sealed' ? 'request-languages.sealed' : 'request-languages';
  const lines = await collect(readAs(dataSetPath(GOLD_DIRECTORY, name), goldSchema));
  return lines.map(({ text, lang, also }) => ({ text, language: lang, also }));
}

/** Of English there are 70 times as many sentences as of any other language. */
const ENGLISH_IN = 60;

/** Sentences on which nothing was trained, their first `words` words. */
export async function measuredSentences(dataDirectory: string, words: number): Promise<LanguageCase[]> {
  const cases: LanguageCase[] = [];
  let english = 0;
  for await (const { text, lang } of readLanguages(
    dataSetPath(dataDirectory, 'language/tatoeba-sentences'),
  )) {
    if (!isMeasured(text) || (lang === 'en' && english++ % ENGLISH_IN > 0)) continue;
    const cut = text.split(/\s+/).slice(0, words).join(' ');
    cases.push({ text: cut, language: languageOf(lang), also: [] });
  }
  return cases;
}

/** All sentences of a file, whole. */
export async function sentencesOf(file: string): Promise<LanguageCase[]> {
  const lines = await collect(readLanguages(file));
  return lines.map(({ text, lang }) => ({ text, language: languageOf(lang), also: [] }));
}
