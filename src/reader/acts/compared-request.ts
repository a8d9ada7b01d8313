/**
 * What two requests are compared by when one may ask the other again.
 * Covered by test/reader/conversations/repeated-requests.test.ts.
 */
import { truncate } from '../../domain/truncate.ts';
import { requestParts, type RequestParts } from '../document/request-parts.ts';
import type { Word } from '../document/words.ts';
import { hashOf, isNumber, tellingWords } from './repeat-phrases.ts';

/** UTF-16 units that are kept of the text of a request. */
const KEPT_TEXT = 160;

/** What a request is compared by, but for its vector and its turn. Hashes have 16 bits. */
export interface Compared {
  /** Of its telling words and numbers, each once, in order of appearance. */
  readonly words: readonly number[];
  /** Numbers and names: hashes in `words`. */
  readonly values: readonly number[];
  /** Of its action, the head of its thing, and its language; 0: none. */
  readonly action: number;
  readonly thing: number;
  readonly language: number;
}

/** `parts`: of the same text. */
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

/** What is kept of the text of a request. */
export function keptText(shown: string): string {
  return truncate(shown, KEPT_TEXT);
}

/** Languages that write every noun with a capital. */
const CAPITAL_NOUNS: ReadonlySet<string | null> = new Set(['de']);

/** Written with a capital where no sentence begins. */
function isName({ text, afterBreak }: Word): boolean {
  return !afterBreak && text.length > 1 && /^\p{Lu}/u.test(text);
}
