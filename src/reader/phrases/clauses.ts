/**
 * Cuts a text into clauses, at sentence ends and at words of contrast. Keeps the invariant that every token is in
 * exactly one clause.
 *
 * Test: test/reader/phrases/clauses.test.ts.
 */
import { BREAK, type ReadText } from './read-text.ts';

/** A span of tokens that says one thing. */
export interface Clause {
  /** Index of its first token, and of the one after its last. */
  readonly start: number;
  readonly end: number;
  /** Index of its sentence in the text. */
  readonly sentence: number;
  /** True if it contrasts with the clause before: "thanks, but …". */
  readonly contrasts: boolean;
  readonly isQuestion: boolean;
}

/** Cuts a text. `contrasts`: spans of tokens such as "but", which begin a clause unless they end the sentence. */
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
