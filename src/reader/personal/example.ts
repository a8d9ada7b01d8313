/**
 * Makes an example of a message that may be shown. Keeps the invariant that it holds no personal data.
 *
 * Test: test/e2e/why-rules.test.ts.
 */
import { readable } from '../../domain/printable.ts';
import { truncate } from '../../domain/truncate.ts';
import { wordsOfId } from './known-words.ts';
import { redact } from './redact.ts';

/** Longest part of a message that is read, and longest example, UTF-16 units. */
const [READ_LENGTH, EXAMPLE_LENGTH] = [2000, 280];

/** A message as an example: on one line, shortened, without personal data and the words of its author's id. */
export function exampleOf(content: string, userId: string | undefined): string {
  const known = userId === undefined ? [] : wordsOfId(userId);
  const line = redact(readable(truncate(content, READ_LENGTH)), { known })
    .replace(/\s+/gu, ' ')
    .trim();
  return line.length <= EXAMPLE_LENGTH ? line : `${truncate(line, EXAMPLE_LENGTH - 1).trimEnd()}…`;
}
