/** Words that a text quotes are not its writer's. Covered by test/reader/document/quotations.test.ts. */

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['“', '”'],
  ['„', '“”"'],
  ['«', '»'],
  ['»', '«'],
  ['「', '」'],
  ['『', '』'],
  ['`', '`'],
]);

/** A stretch of a text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What stands between quotation marks or backquotes, in order. A mark without its partner quotes nothing. */
export function quotationsOf(text: string): Span[] {
  const spans: Span[] = [];
  // For each kind of closing mark, where the next one is: a mark that none follows is looked for once.
  const next = new Map<string, number>();
  for (let at = 0; at < text.length; at++) {
    const closing = CLOSING.get(text[at]!);
    if (closing === undefined) continue;
    let end = Infinity;
    for (const mark of closing) {
      let place = next.get(mark) ?? -1;
      if (place <= at) {
        place = text.indexOf(mark, at + 1);
        if (place < 0) place = Infinity;
        next.set(mark, place);
      }
      end = Math.min(end, place);
    }
    if (end === Infinity) continue;
    spans.push({ start: at, end: end + 1 });
    at = end;
  }
  return spans;
}
