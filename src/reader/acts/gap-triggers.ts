/**
 * Tells soon that a text holds no phrase of a gap: every such phrase holds a negation, or one of a few words
 * (`lexicon/lists/gap-triggers.json`). Most turns hold none. Covered by test/reader/acts/gap-triggers.test.ts, which tries
 * all examples of the lexicon.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import { readLexiconFile } from '../document/lexicon-file.ts';

/** By languages: words, "fail-" for what begins so, "-karte" for what ends so, "-kein-" for what holds it. */
const schema = z.record(
  z.string(),
  z.array(z.string().regex(/^-?[^\s\-.*+?^$(){}|[\]\\]+(?: [^\s\-.*+?^$(){}|[\]\\]+)*-?$/u)),
);

/** A trigger as a pattern. Any apostrophe stands for all. */
function patternOf(trigger: string): string {
  const start = trigger.startsWith('-') ? '' : String.raw`\b`;
  const end = trigger.endsWith('-') ? '' : String.raw`\b`;
  const letters = trigger.replace(/^-|-$/g, '').replaceAll("'", String.raw`['’‘ʼ´\u0060]`);
  return `${start}${letters}${end}`;
}

const triggers = Object.values(
  readLexiconFile(join(LEXICON_DIRECTORY, 'lists/gap-triggers.json'), schema),
).flat();

/** Matches whatever may say that something is missing, and much else. */
export const MAY_CLAIM = new RegExp([...new Set(triggers)].map(patternOf).join('|'), 'iu');
