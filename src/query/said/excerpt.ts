/** Finds a text in messages, and shows where. Covered by test/query/said/excerpt.test.ts. */

/** Writes a text so that those that people take for the same are equal; takes time in proportion to it. */
export type Fold = (text: string) => string;

/** UTF-16 units that an excerpt shows before and after what was found. */
const AROUND = 60;
/** A match is looked for in pieces of a text, so that its place takes time in proportion to it. */
const PIECE = 2048;

/** What finds a text: the excerpt of a message that contains it, else null. Null itself: the text says nothing. */
export function finderOf(said: string, fold: Fold): ((content: string) => string | null) | null {
  const needle = fold(said);
  if (needle === '') return null;
  return (content) => (fold(content).includes(needle) ? excerptOf(content, needle, fold) : null);
}

function excerptOf(content: string, needle: string, fold: Fold): string {
  const { start, end } = placeOf(content, needle, fold);
  const from = Math.max(0, start - AROUND);
  const to = Math.min(content.length, end + AROUND);
  const shown = content
    .slice(from, to)
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
    .replaceAll(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${shown.toWellFormed().trim()}${to < content.length ? '…' : ''}`;
}

/** Where the first match is. One that is longer than a piece, by marks or spaces, is said to be at the beginning. */
function placeOf(
  content: string,
  needle: string,
  fold: Fold,
): { readonly start: number; readonly end: number } {
  const holds = (text: string): boolean => fold(text).includes(needle);
  for (let from = 0; from < content.length; from += PIECE) {
    const piece = content.slice(from, from + 2 * PIECE);
    if (!holds(piece)) continue;
    // The shortest beginning that holds it ends with it; of that, the shortest end begins with it.
    const end = least(piece.length, (length) => holds(piece.slice(0, length)));
    const length = least(end, (units) => holds(piece.slice(end - units, end)));
    return { start: from + end - length, end: from + end };
  }
  return { start: 0, end: 0 };
}

/** The least number up to `most` for which something is true that stays true. */
function least(most: number, isTrue: (value: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}
