/**
 * Names of public figures and brands, which stay visible: people ask about them, not as them.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import type { Piece } from './pieces.ts';

const file = z
  .strictObject({ figures: z.array(z.string()), questions: z.array(z.string()) })
  .parse(JSON.parse(readFileSync(join(LEXICON_DIRECTORY, 'figures', 'public.json'), 'utf8')));

/** Names in lower case. */
export const FIGURES: ReadonlySet<string> = new Set(file.figures);
/** Openings of a question about a public figure: "who was". */
const OPENINGS: ReadonlySet<string> = new Set(file.questions);
const LONGEST_OPENING = 4;

/** True for "Who was Konrad Adenauer?": such a question names a figure, even if no list has it. */
export function isAboutFigure(pieces: readonly Piece[]): boolean {
  let words = '';
  for (const { lower, kind } of pieces.slice(0, LONGEST_OPENING + 1)) {
    if (kind === 'mark') continue;
    words = words === '' ? lower : `${words} ${lower}`;
    if (OPENINGS.has(words)) return true;
  }
  return false;
}
