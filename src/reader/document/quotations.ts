/**
 * Finds quotations, whose words are not the writer's. Takes linear time.
 *
 * Test: test/reader/document/quotations.test.ts.
 */

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

/** A span of a text, UTF-16 units, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the spans between quotation marks or backquotes, marks included, in order. A mark without its partner quotes
 * nothing.
 */
export function quotationsOf(text: string): Span[] {
  const spans: Span[] = [];
  // Index of the next closing mark of each kind, so that a missing one is searched for only once.
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
