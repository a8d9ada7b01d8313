/**
 * The one way of a text of the conversation into the state of its session. Covered by
 * test/conversations/session-text.test.ts.
 */
import { shortened } from '../text/shown/shortening.ts';
import { isUnspaced } from '../text/words.ts';

/** Scripts without spaces say in a character what others say in two, and take three bytes for it. */
const DENSE = 0.6;

/** A sentence as it is kept and shown: at most `length` UTF-16 units, fewer of scripts without spaces. */
export function kept(sentence: string, length: number): string {
  const line = sentence.replace(/\s+/gu, ' ');
  return shortened(line, isUnspaced(line) ? Math.floor(length * DENSE) : length);
}
