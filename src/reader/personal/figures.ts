/** Names that stand for public figures and brands: what is asked about, not who asks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LEXICON_DIRECTORY } from '../document/lexicon.ts';
import type { Piece } from './pieces.ts';

const file = z
  .strictObject({ figures: z.array(z.string()), questions: z.array(z.string()) })
  .parse(JSON.parse(readFileSync(join(LEXICON_DIRECTORY, 'figures', 'public.json'), 'utf8')));

/** In lower case. */
export const FIGURES: ReadonlySet<string> = new Set(file.figures);
/** How a question about a public figure opens: "who was". */
const OPENINGS: ReadonlySet<string> = new Set(file.questions);
const LONGEST_OPENING = 4;

/** "Who was Konrad Adenauer?" asks about a figure that no list needs to know. */
export function isAboutFigure(pieces: readonly Piece[]): boolean {
  let words = '';
  for (const { lower, kind } of pieces.slice(0, LONGEST_OPENING + 1)) {
    if (kind === 'mark') continue;
    words = words === '' ? lower : `${words} ${lower}`;
    if (OPENINGS.has(words)) return true;
  }
  return false;
}
