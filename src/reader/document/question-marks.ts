/**
 * The marks of questions, of all scripts: the one place that knows them. Covered by
 * test/reader/document/question-marks.test.ts.
 */

/**
 * Marks that stand where a question ends, each a character: Latin, full width and small, Greek of its own, Arabic,
 * Ethiopic, Limbu, Vai, Bamum, Coptic, Chakma and Adlam; doubled, with an exclamation, turned.
 */
export const QUESTION_ENDS = '?？﹖︖\u037e؟፧᥅꘏꛷⳺⳻𑅃𞥟⁇⁈⁉‽⸮⹔';
/** Armenian sets it within the word that asks. */
const ARMENIAN = '՞';

/** Between a Greek letter and its semicolon, UTF-16 units. */
const GREEK_BEFORE = 16;

const GREEK = `(?<=\\p{Script=Greek}[^;\\p{Script=Latin}\\n]{0,${GREEK_BEFORE}});`;

/** The source of a pattern with the flag `u`: a mark at its place. Greek has a semicolon, which is none elsewhere. */
export const QUESTION_MARK = `(?:[${QUESTION_ENDS}${ARMENIAN}]|${GREEK})`;

const ANYWHERE = new RegExp(QUESTION_MARK, 'u');
const FROM = new RegExp(QUESTION_MARK, 'gu');
const AT_END = new RegExp(`${QUESTION_MARK}$`, 'u');
const CLOSED = new RegExp(`${QUESTION_MARK}["'”»)\\]]*$`, 'u');
/** Not one in an address: "shop.example/?q=1". */
const OF_SENTENCE = new RegExp(`${QUESTION_MARK}(?<!\\?(?=[\\p{L}\\p{N}=&/]))`, 'u');

/** Whether a question mark stands anywhere in a text. */
export function holdsQuestionMark(text: string): boolean {
  return ANYWHERE.test(text);
}

/** The same of the part from `from` up to `to`. */
export function holdsQuestionMarkIn(text: string, from: number, to: number): boolean {
  const start = Math.max(0, from - GREEK_BEFORE - 1);
  FROM.lastIndex = from - start;
  return FROM.test(text.slice(start, to));
}

/** The same, of marks that end a sentence or a part of one. */
export function asksByMark(text: string): boolean {
  return OF_SENTENCE.test(text);
}

/** Whether a sentence has the mark of a question, quotes and brackets behind it left out. */
export function isMarkedQuestion(sentence: string): boolean {
  return CLOSED.test(sentence) || sentence.includes(ARMENIAN);
}

/** Whether nothing stands behind the question mark. */
export function endsInQuestionMark(sentence: string): boolean {
  return AT_END.test(sentence) || sentence.includes(ARMENIAN);
}
