/** Cuts a text at the ends of sentences and at words of contrast. Covered by test/reader/document/clauses.test.ts. */
import { BREAK, type ReadText } from './read-text.ts';

/** A stretch of tokens that says one thing. */
export interface Clause {
  /** Its first token, and the one behind its last. */
  readonly start: number;
  readonly end: number;
  /** Place of its sentence in the text. */
  readonly sentence: number;
  /** It counters the clause before: "thanks, but …". */
  readonly contrasts: boolean;
  readonly isQuestion: boolean;
}

/** `contrasts`: tokens of words such as "but", which begin a clause where more follows in the sentence. */
export function cutIntoClauses(
  { tokens, closings }: ReadText,
  contrasts: readonly { readonly start: number; readonly end: number }[],
): Clause[] {
  const isFollowed = (end: number): boolean => end < tokens.length && tokens[end]!.before !== BREAK.end;
  const begins = new Set(contrasts.filter(({ end }) => isFollowed(end)).map(({ start }) => start));
  const clauses: Clause[] = [];
  let start = 0;
  let sentence = 0;
  for (let at = 1; at <= tokens.length; at++) {
    const ends = at === tokens.length || tokens[at]!.before === BREAK.end;
    if (!ends && !begins.has(at)) continue;
    const isQuestion = closings[start] === '?';
    clauses.push({ start, end: at, sentence, contrasts: begins.has(start), isQuestion });
    if (ends) sentence += 1;
    start = at;
  }
  return clauses;
}
