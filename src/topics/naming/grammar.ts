/** Which language texts are in, and what its grammar asks of names. Covered by test/topics/naming/grammar.test.ts. */
import { LRUCache } from 'lru-cache';
import { LANGUAGES } from '../../text/lexicon.ts';
import { wordsOf } from '../../text/words.ts';
import { nameFrom } from './phrases.ts';
import { languageOfWords, mostOften } from './request-grammar.ts';
import type { ReadSample } from './truth.ts';

/** By text: samples are read again whenever their topic is named. */
const READ = new LRUCache<string, { readonly language: string | null }>({ max: 4096 });

/** ISO 639-1 code of the language that most of the texts are in; null when no function word tells. */
export function languageOf(texts: readonly string[]): string | null {
  return mostOften(texts.map(languageOfText));
}

function languageOfText(text: string): string | null {
  const known = READ.get(text);
  if (known !== undefined) return known.language;
  const language = languageOfWords([wordsOf(text).map(({ text: word }) => word.toLowerCase())]);
  READ.set(text, { language });
  return language;
}

/** What joins two names: a word of the language, or a comma. */
export function wordForAnd(language: string | null): string {
  return (language === null ? undefined : LANGUAGES.get(language)?.and[0]) ?? ', ';
}

/**
 * A word as a heading: the plural, where the samples use it often enough to show that it has one; else its usual form.
 * null when no sample holds it: a stem is no word.
 */
export function pluralOf(stem: string, samples: readonly ReadSample[]): string | null {
  const counts = new Map<string, number>();
  for (const { read } of samples) {
    for (const token of read.tokens)
      if (token.part === 'content' && token.stem === stem)
        counts.set(token.shown, (counts.get(token.shown) ?? 0) + 1);
  }
  const forms = [...counts].sort(([x, a], [y, b]) => b - a || x.length - y.length || (x < y ? -1 : 1));
  const usual = forms[0]?.[0];
  if (usual === undefined) return null;
  const plural = forms.find(
    ([form]) => form === `${usual}s` || form === `${usual}es` || `${usual.slice(0, -1)}ies` === form,
  );
  return nameFrom([plural?.[0] ?? usual], true);
}
