/** The one way of a text of the conversation into the state of its session. Covered by test/conversations/session-text.test.ts. */
import { shortened } from '../language/shown/shortening.ts';

/** A sentence as it is kept and shown: at most `length` UTF-16 units. */
export function kept(sentence: string, length: number): string {
  return shortened(sentence.replace(/\s+/gu, ' '), length);
}
