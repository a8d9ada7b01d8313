import type { PhraseFile } from '../../src/reader/phrases/phrase-files.ts';
import type { PhraseMatcher } from '../../src/reader/phrases/phrase-matcher.ts';
import type { Item } from '../../src/reader/phrases/syntax.ts';
import { sequencesOf } from './spelled-phrases.ts';

const SAMPLE = 150;
const WORST = 2;

/** Beginnings of the phrases of a file, all but their last word, as texts that begin every phrase and end none. */
export function prefixesOf(file: PhraseFile<string>): string[] {
  const { grammar, kinds } = file;
  const { contrast, negation } = grammar;
  const kindPhrases = Object.values(kinds).flatMap((kind) => [...kind!.phrases, ...(kind!.unless ?? [])]);
  const phrases = [...kindPhrases, ...contrast, ...negation.before, ...negation.after];
  const prefixes = new Set<string>();
  for (const phrase of phrases) {
    for (const items of sequencesOf(file.read(phrase)).slice(0, 2)) {
      const printedItems = items.slice(0, Math.max(1, items.length - 1)).map((item) => printedItem(item));
      prefixes.add(`${printedItems.join('')} `.replace(/^ /, ''));
    }
  }
  return [...prefixes];
}

function printedItem(item: Item): string {
  switch (item.kind) {
    case 'word':
      return item.glue === 'glued' ? item.text : ` ${item.text}`;
    case 'stem':
      return ` ${item.text}en`;
    case 'ending':
      return ` un${item.text}`;
    case 'set':
      return printedItem(item.members[0]!);
    case 'gap':
      return ' x'.repeat(item.most);
  }
}

/**
 * The texts that cost the most: all beginnings in a row, and (a tenth as long, as they are many) those alone that take
 * the most steps a character.
 */
export function worstTexts(
  file: PhraseFile<string>,
  matcher: PhraseMatcher<string>,
  length: number,
): string[] {
  const prefixes = prefixesOf(file);
  const cost = (prefix: string): number => matcher.match(filled(prefix, SAMPLE)).steps;
  const costs = prefixes.map((prefix) => ({ prefix, steps: cost(prefix) }));
  costs.sort((a, b) => b.steps - a.steps || (a.prefix < b.prefix ? -1 : 1));
  const worst = costs.slice(0, WORST).map(({ prefix }) => prefix);
  return [prefixes.join(''), ...worst].map((body, place) => filled(body, place < 1 ? length : length / 10));
}

function filled(body: string, length: number): string {
  return body.repeat(Math.ceil(length / body.length)).slice(0, length);
}
