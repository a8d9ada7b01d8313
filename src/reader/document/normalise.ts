/**
 * Normalises text: the part that is analysed, its composed form, its folded form. Takes linear time, whatever the text.
 *
 * Test: test/reader/document/normalise.test.ts.
 */

/** Length of the beginning of a long message that is analysed, UTF-16 units; a quarter as much of its end is too. */
const ANALYSED_LENGTH = 6000;

/**
 * The part of a message that is analysed: all of it up to 7,500 UTF-16 units, else its beginning and its end. Lone
 * surrogates become U+FFFD.
 */
export function analysedPart(content: string): string {
  const limit = ANALYSED_LENGTH + ANALYSED_LENGTH / 4;
  if (content.length <= limit) return content.toWellFormed();
  const start = content.slice(0, ANALYSED_LENGTH);
  const end = content.slice(content.length - ANALYSED_LENGTH / 4);
  return `${start}\n${end}`.toWellFormed();
}

const NOT_ASCII = /[^ -~\s]/u;
/**
 * More marks on one letter than any script has (the Stream-Safe Text Format of UAX #15 allows 30). Sorting them takes
 * quadratic time.
 */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/** The text in NFC: a letter and its marks are one character if there is one. */
export function composed(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(TOO_MANY_MARKS, '$1').normalize('NFC') : text;
}

/**
 * Texts of Latin letters with accents and of Russian: each letter folds independently of its neighbours. Other
 * non-ASCII texts fold as a whole.
 */
const SEPARATE = /^[\0-\u024f\u0400-\u045f‘’“”„–—…]*$/;
const TO_FOLD = /[^\0-\x7f]|`/g;
const SEPARATELY = new Map<string, string>();

/**
 * The folded text: lower case, compatibility forms unified, Latin letters without accents, ß as ss, one kind of
 * apostrophe, single spaces. Rules are written in this form.
 */
export function fold(text: string): string {
  let folded = text.toLowerCase();
  if (NOT_ASCII.test(folded))
    folded = SEPARATE.test(folded) ? folded.replace(TO_FOLD, foldedSeparately) : foldedTogether(folded);
  return (UNEVEN.test(folded) ? folded.replace(/\s+/g, ' ') : folded).trim();
}

/** Two spaces in a row, or a space other than U+0020. */
const UNEVEN = / \s|[^\S ]/;

function foldedSeparately(letter: string): string {
  const known = SEPARATELY.get(letter);
  if (known !== undefined) return known;
  const folded = foldedTogether(letter);
  SEPARATELY.set(letter, folded);
  return folded;
}

function foldedTogether(lower: string): string {
  return lower
    .replace(TOO_MANY_MARKS, '$1')
    .normalize('NFKD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .replaceAll('ı', 'i')
    .replace(/[’‘ʼ´`]/g, "'");
}
