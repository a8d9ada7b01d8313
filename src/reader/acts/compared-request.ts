/**
 * The features by which two requests are compared when one may repeat the other.
 *
 * Test: test/reader/conversations/repeated-requests.test.ts.
 */
import { truncate } from '../../domain/truncate.ts';
import { requestParts, type RequestParts } from '../document/request-parts.ts';
import type { Word } from '../document/words.ts';
import { hashOf, isNumber, tellingWords } from './repeat-phrases.ts';

/** Length of a request's text that is kept, UTF-16 units. */
const KEPT_TEXT = 160;

/** The features of a request besides its vector and its turn. Hashes have 16 bits. */
export interface Compared {
  /** Hashes of its content words and numbers, each once, in order of appearance. */
  readonly words: readonly number[];
  /** The hashes in `words` that are of numbers and names. */
  readonly values: readonly number[];
  /** Hashes of its action, the head of its thing, and its language; 0 if there is none. */
  readonly action: number;
  readonly thing: number;
  readonly language: number;
}

/** `parts` must be of the same text. */
export function comparedBy(
  text: string,
  { action, thing, language }: RequestParts = requestParts(text),
): Compared {
  const words: number[] = [];
  const values: number[] = [];
  tellingWords(text).forEach((word, index) => {
    const hash = hashOf(word.stem);
    if (!words.includes(hash)) words.push(hash);
    if (isNumber(word) || (index > 0 && !CAPITAL_NOUNS.has(language) && isName(word))) values.push(hash);
  });
  return {
    words,
    values,
    action: action === null ? 0 : hashOf(action),
    thing: thing[0] === undefined ? 0 : hashOf(thing[0]),
    language: language === null ? 0 : hashOf(language),
  };
}

/** The part of a request's text that is kept. */
export function keptText(redacted: string): string {
  return truncate(redacted, KEPT_TEXT);
}

/** Languages that write every noun with a capital, so that a capital tells no name. */
const CAPITAL_NOUNS: ReadonlySet<string | null> = new Set(['de']);

/** True for a word with a capital that opens no sentence. */
function isName({ text, afterBreak }: Word): boolean {
  return !afterBreak && text.length > 1 && /^\p{Lu}/u.test(text);
}
