/**
 * Finds a text in messages and cuts excerpts around it. Folding a text and finding a match take time in proportion to
 * its length.
 *
 * Test: test/query/text-search/excerpt.test.ts.
 */

/** Normalizes a text, so that texts which people take for the same become equal; linear in its length. */
export type Fold = (text: string) => string;

/** UTF-16 units of an excerpt before and after the match. */
const AROUND = 60;
/** A text is searched in pieces of this many UTF-16 units, so that finding a match takes linear time. */
const PIECE = 2048;

/**
 * Returns a function that finds the text and returns an excerpt, or null if the message lacks it. Null if the text
 * folds to ''.
 */
export function finderOf(text: string, fold: Fold): ((content: string) => string | null) | null {
  const needle = fold(text);
  if (needle === '') return null;
  return (content) => (fold(content).includes(needle) ? excerptOf(content, needle, fold) : null);
}

function excerptOf(content: string, needle: string, fold: Fold): string {
  const { start, end } = placeOf(content, needle, fold);
  const from = Math.max(0, start - AROUND);
  const to = Math.min(content.length, end + AROUND);
  const cut = content
    .slice(from, to)
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
    .replaceAll(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${cut.toWellFormed().trim()}${to < content.length ? '…' : ''}`;
}

/** Finds the first match. A match that is longer than a piece, because of marks or spaces, is placed at the start. */
function placeOf(
  content: string,
  needle: string,
  fold: Fold,
): { readonly start: number; readonly end: number } {
  const holds = (text: string): boolean => fold(text).includes(needle);
  for (let from = 0; from < content.length; from += PIECE) {
    const piece = content.slice(from, from + 2 * PIECE);
    if (!holds(piece)) continue;
    // The shortest prefix with a match ends with it; the shortest suffix of that prefix begins with it.
    const end = least(piece.length, (length) => holds(piece.slice(0, length)));
    const length = least(end, (units) => holds(piece.slice(end - units, end)));
    return { start: from + end - length, end: from + end };
  }
  return { start: 0, end: 0 };
}

/** Binary search: returns the least number up to `most` for which a monotonic condition holds. */
function least(most: number, isTrue: (value: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}
