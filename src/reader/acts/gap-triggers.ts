/**
 * Rules out quickly that a text holds a gap phrase. Every gap phrase holds a negation or one of a few other words
 * (`lexicon/lists/gap-triggers.json`), and most turns hold none of them.
 *
 * Test: test/reader/acts/gap-triggers.test.ts, which tries all examples of the lexicon.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { readLexiconFile } from '../document/lexicon-file.ts';

/** Words by language: "fail-" is a prefix, "-karte" a suffix, "-kein-" a part. */
const schema = z.record(
  z.string(),
  z.array(z.string().regex(/^-?[^\s\-.*+?^$(){}|[\]\\]+(?: [^\s\-.*+?^$(){}|[\]\\]+)*-?$/u)),
);

/** A trigger as a pattern; its apostrophe matches any apostrophe. */
function patternOf(trigger: string): string {
  const start = trigger.startsWith('-') ? '' : String.raw`\b`;
  const end = trigger.endsWith('-') ? '' : String.raw`\b`;
  const letters = trigger.replace(/^-|-$/g, '').replaceAll("'", String.raw`['’‘ʼ´\u0060]`);
  return `${start}${letters}${end}`;
}

const triggers = Object.values(
  readLexiconFile(join(LEXICON_DIRECTORY, 'lists/gap-triggers.json'), schema),
).flat();

/** Matches every text that may hold a gap phrase, and many others. */
export const MAY_CLAIM = new RegExp([...new Set(triggers)].map(patternOf).join('|'), 'iu');
