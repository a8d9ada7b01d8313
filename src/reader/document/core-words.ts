/**
 * Finds the core of a request: its words without openings such as "I would like to".
 *
 * Test: test/reader/topics/naming/names.test.ts.
 */
import { LEXICON } from './lexicon.ts';
import { wordsOf, type Word } from './words.ts';

/** Most words of a request that are read. */
export const WORDS_READ = 40;

type Openings = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Openings by their first word, longest first. */
function byFirstWord(openings: readonly string[]): Openings {
  const split = openings.map((opening) => opening.split(' ')).sort((x, y) => y.length - x.length);
  return Map.groupBy(split, (opening) => opening[0]!);
}

const OPENINGS = byFirstWord([...LEXICON.politeOpenings.all, ...LEXICON.questionOpenings.all]);

/** The words of a request without its opening and without the function words at its end. */
export function coreWords(text: string): readonly Word[] {
  return trimmedEnd(withoutOpenings(wordsOf(text).slice(0, WORDS_READ)));
}

/** Number of words in the opening of a request. */
export function coreStart(words: readonly Word[]): number {
  return words.length - withoutOpenings(words).length;
}

/** Cuts openings from the front, longest first, as long as a content word remains. */
function withoutOpenings(all: readonly Word[]): readonly Word[] {
  let words = all;
  for (;;) {
    const first = words[0] === undefined ? '' : spoken(words[0]);
    const opening = OPENINGS.get(first)?.find((candidate) => startsWith(words, candidate));
    const rest = opening === undefined ? words : words.slice(opening.length);
    if (rest.length === words.length || !rest.some((word) => word.content)) return words;
    words = rest;
  }
}

function trimmedEnd(words: readonly Word[]): readonly Word[] {
  let end = words.length;
  while (end > 0 && !words[end - 1]!.content) end -= 1;
  return words.slice(0, end);
}

function spoken(word: Word): string {
  return word.text.toLowerCase().replaceAll('’', "'");
}

function startsWith(words: readonly Word[], opening: readonly string[]): boolean {
  return words.length >= opening.length && opening.every((part, index) => spoken(words[index]!) === part);
}

/** Stems of a request's content words, each once. */
export function contentStems(text: string): ReadonlySet<string> {
  return new Set(coreWords(text).flatMap(({ content, stem }) => (content ? [stem] : [])));
}
