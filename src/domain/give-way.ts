/**
 * Splits long work on the main thread into pieces and runs pending events between them.
 *
 * Test: test/domain/give-way.test.ts.
 */

/** Rows, elements or lines in one piece: less than a millisecond of work. */
export const PIECE = 128;

let line: Promise<void> = Promise.resolve();

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Resolves after one round of the event loop. Callers resume one at a time, each in its own round, so an incoming event
 * waits for one piece at most, whatever their number.
 */
export function giveWay(): Promise<void> {
  line = line.then(nextRound);
  return line;
}

/** Maps items in order, and gives way after each piece of `size` items. */
export async function mapInPieces<In, Out>(
  items: readonly In[],
  work: (item: In, index: number) => Out,
  size: number = PIECE,
): Promise<Out[]> {
  const made: Out[] = [];
  for (const piece of piecesOf(items, size)) {
    if (made.length > 0) await giveWay();
    for (const item of piece) made.push(work(item, made.length));
  }
  return made;
}

/** Yields a list in pieces of at most `size` items. */
export function* piecesOf<T>(items: readonly T[], size: number = PIECE): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
