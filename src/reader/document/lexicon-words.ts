/**
 * All words of `lexicon/<language>/words.json`, whatever they mean there.
 *
 * Test: test/reader/document/lexicon-words.test.ts.
 */
import { LANGUAGES, type Language } from './lexicon.ts';
import { fold } from './normalise.ts';

/** Least letters of a stem and most letters of an ending; others begin unrelated words as well. */
const SHORTEST_STEM = 4;
const LONGEST_ENDING = 5;

interface Words {
  readonly whole: ReadonlySet<string>;
  /** Stems such as "kündig-", without the hyphen. */
  readonly stems: ReadonlySet<string>;
  readonly longestStem: number;
}

let words: Words | null = null;

function read(): Words {
  const whole = new Set<string>();
  const stems = new Set<string>();
  const addPhrase = (phrase: string): void => {
    for (const word of phrase.split(' '))
      if (word.endsWith('-')) stems.add(fold(word.slice(0, -1)));
      else whole.add(fold(word));
  };
  for (const language of LANGUAGES.values()) phrasesOf(language).forEach(addPhrase);
  return { whole, stems, longestStem: Math.max(0, ...[...stems].map((stem) => stem.length)) };
}

function phrasesOf(value: Language | object | string): string[] {
  if (typeof value === 'string') return [value];
  return Object.values(value).flatMap((part: unknown) =>
    Array.isArray(part) || (typeof part === 'object' && part !== null)
      ? phrasesOf(part)
      : typeof part === 'string' && Array.isArray(value)
        ? [part]
        : [],
  );
}

/** True if a folded word is in the lexicon of any language. */
export function isLexiconWord(word: string): boolean {
  words ??= read();
  return words.whole.has(word);
}

/** True if a folded word is in the lexicon of any language, or begins with one of its stems. */
export function mayBeLexiconWord(word: string): boolean {
  words ??= read();
  if (words.whole.has(word)) return true;
  const shortest = Math.max(SHORTEST_STEM, word.length - LONGEST_ENDING);
  for (let length = Math.min(word.length, words.longestStem); length >= shortest; length--)
    if (words.stems.has(word.slice(0, length))) return true;
  return false;
}
