/**
 * Reads `lexicon/lists/asked-details.json`: the words with which an assistant asks for a name or a number, and those
 * with which it asks what the user wants.
 *
 * Test: test/reader/acts/answering-turns.test.ts.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { readLexiconFile } from '../document/lexicon-file.ts';
import { anyOf } from '../document/patterns.ts';

/** Folded words: "telefon-" is a prefix, "-nummer" a suffix. */
const words = z.array(z.string().regex(/^-?[\p{L} -]*\p{L}-?$/u)).min(1);
const unspaced = z.array(z.string().regex(/^\p{L}+$/u)).min(1);

const schema = z.strictObject({
  details: words,
  unspacedDetails: unspaced,
  help: words,
  unspacedHelp: unspaced,
});

function patternOf(word: string): string {
  return word.replace(/^-/, '[a-z]*').replace(/-$/, String.raw`\p{L}*`);
}

const lists = readLexiconFile(join(LEXICON_DIRECTORY, 'lists/asked-details.json'), schema);

/** Patterns for folded text. */
export const ASKED_DETAILS = {
  details: anyOf(lists.details.map(patternOf), lists.unspacedDetails),
  help: anyOf(lists.help.map(patternOf), lists.unspacedHelp),
};
