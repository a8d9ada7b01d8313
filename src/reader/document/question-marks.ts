/**
 * The question marks of all scripts. Keeps the invariant that no other file knows them.
 *
 * Test: test/reader/document/question-marks.test.ts.
 */

/**
 * Marks at the end of a question, one character each: Latin, full width and small, Greek, Arabic, Ethiopic, Limbu, Vai,
 * Bamum, Coptic, Chakma and Adlam; doubled, with an exclamation mark, turned.
 */
export const QUESTION_ENDS = '?？﹖︖\u037e؟፧᥅꘏꛷⳺⳻𑅃𞥟⁇⁈⁉‽⸮⹔';
/** The Armenian mark stands inside the word that asks. */
const ARMENIAN = '՞';

/** Longest distance between a Greek letter and its semicolon, UTF-16 units. */
const GREEK_BEFORE = 16;

const GREEK = `(?<=\\p{Script=Greek}[^;\\p{Script=Latin}\\n]{0,${GREEK_BEFORE}});`;

/** Pattern source (flag `u`) of a question mark at its place. The semicolon counts only after Greek. */
export const QUESTION_MARK = `(?:[${QUESTION_ENDS}${ARMENIAN}]|${GREEK})`;

const ANYWHERE = new RegExp(QUESTION_MARK, 'u');
const FROM = new RegExp(QUESTION_MARK, 'gu');
const AT_END = new RegExp(`${QUESTION_MARK}$`, 'u');
const CLOSED = new RegExp(`${QUESTION_MARK}["'”»)\\]]*$`, 'u');
/** Matches a question mark, except one in an address: "shop.example/?q=1". */
const OF_SENTENCE = new RegExp(`${QUESTION_MARK}(?<!\\?(?=[\\p{L}\\p{N}=&/]))`, 'u');

/** True if a text contains a question mark anywhere. */
export function holdsQuestionMark(text: string): boolean {
  return ANYWHERE.test(text);
}

/** True if the range from `from` to `to` contains a question mark. */
export function holdsQuestionMarkIn(text: string, from: number, to: number): boolean {
  const start = Math.max(0, from - GREEK_BEFORE - 1);
  FROM.lastIndex = from - start;
  return FROM.test(text.slice(start, to));
}

/** True if a text contains a question mark that ends a sentence or a part of one. */
export function asksByMark(text: string): boolean {
  return OF_SENTENCE.test(text);
}

/** True if a sentence ends in a question mark, apart from quotes and brackets after it. */
export function isMarkedQuestion(sentence: string): boolean {
  return CLOSED.test(sentence) || sentence.includes(ARMENIAN);
}

/** True if nothing follows the question mark. */
export function endsInQuestionMark(sentence: string): boolean {
  return AT_END.test(sentence) || sentence.includes(ARMENIAN);
}
