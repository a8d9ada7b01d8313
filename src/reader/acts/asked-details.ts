/**
 * Reads `lexicon/lists/asked-details.json`: what an assistant asks for when it needs a name or a number, and how it
 * asks what a user wants. Covered by test/reader/conversations/answering-turns.test.ts.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { readLexiconFile } from '../document/lexicon-file.ts';
import { anyOf } from '../document/patterns.ts';

/** Folded words: "telefon-" for what begins so, "-nummer" for what ends so. */
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

/** Both are for folded text. */
export const ASKED_DETAILS = {
  details: anyOf(lists.details.map(patternOf), lists.unspacedDetails),
  help: anyOf(lists.help.map(patternOf), lists.unspacedHelp),
};
