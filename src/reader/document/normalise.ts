/** Longer messages are judged by this many UTF-16 units of their start and a quarter as many of their end. */
const ANALYSED_LENGTH = 6000;

/**
 * The part of a message that is analysed: all of it up to 7,500 UTF-16 units, else its start and its end.
 * The same message always gives the same part; lone surrogates become U+FFFD.
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
 * More marks on one letter than any script has (the Stream-Safe Text Format of UAX #15 knows 30): to put them in
 * order takes time with the square of their number.
 */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/** Composed: a letter and its marks are one character where there is one (NFC). */
export function composed(text: string): string {
  return NOT_ASCII.test(text) ? text.replace(TOO_MANY_MARKS, '$1').normalize('NFC') : text;
}

/**
 * Letters of Latin with their accents, and of Russian: none changes the one beside it, so each is folded by itself.
 * What else is not ASCII goes the long way.
 */
const SEPARATE = /^[\0-\u024f\u0400-\u045f‘’“”„–—…]*$/;
const TO_FOLD = /[^\0-\x7f]|`/g;
const SEPARATELY = new Map<string, string>();

/**
 * Lower case, compatibility forms unified, Latin letters without accents, ß as ss, one kind of
 * apostrophe, single spaces. Rules are written in this form.
 */
export function fold(text: string): string {
  let folded = text.toLowerCase();
  if (NOT_ASCII.test(folded))
    folded = SEPARATE.test(folded) ? folded.replace(TO_FOLD, foldedSeparately) : foldedTogether(folded);
  return (UNEVEN.test(folded) ? folded.replace(/\s+/g, ' ') : folded).trim();
}

/** A space beside another one, or one of another kind. */
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
