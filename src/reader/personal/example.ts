/** Covered by test/e2e/why-rules.test.ts. */
import { readable } from '../../domain/printable.ts';
import { truncate } from '../../domain/truncate.ts';
import { wordsOfId } from './known-words.ts';
import { redact } from './redact.ts';

/** UTF-16 units of a message that are read, and of an example that is shown. */
const [READ, SHOWN] = [2000, 280];

/** A message as an example: in one line, without personal data and the words of its author's id, shortened. */
export function exampleOf(content: string, userId: string | undefined): string {
  const known = userId === undefined ? [] : wordsOfId(userId);
  const line = redact(readable(truncate(content, READ)), { known })
    .replace(/\s+/gu, ' ')
    .trim();
  return line.length <= SHOWN ? line : `${truncate(line, SHOWN - 1).trimEnd()}…`;
}
