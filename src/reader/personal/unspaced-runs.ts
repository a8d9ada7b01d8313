/**
 * Functions that the rules for scripts without spaces share.
 *
 * Test: test/reader/personal/redact.test.ts.
 */
import type { Piece } from './pieces.ts';
import type { Reading } from './reading.ts';

/** Marks a part of a piece as a name; offsets in UTF-16 units. */
export function hideIn({ spans }: Reading, piece: Piece, from: number, to: number): void {
  if (to > from) spans.push({ start: piece.start + from, end: piece.start + to, kind: 'name' });
}

const FIRST = new Map<ReadonlySet<string>, ReadonlySet<number>>();

function firstLetters(phrases: ReadonlySet<string>): ReadonlySet<number> {
  const known = FIRST.get(phrases) ?? new Set([...phrases].map((phrase) => phrase.charCodeAt(0)));
  FIRST.set(phrases, known);
  return known;
}

/**
 * Yields each index in a run after one of the phrases; the longest phrase at each place. `longest`: length of the
 * longest phrase.
 */
export function* behind(
  run: string,
  phrases: ReadonlySet<string>,
  longest: number,
): Iterable<{ at: number; phrase: string }> {
  const first = firstLetters(phrases);
  for (let from = 0; from < run.length; from += 1) {
    if (!first.has(run.charCodeAt(from))) continue;
    for (let length = Math.min(longest, run.length - from); length > 0; length -= 1) {
      const phrase = run.slice(from, from + length);
      if (!phrases.has(phrase)) continue;
      yield { at: from + length, phrase };
      break;
    }
  }
}
