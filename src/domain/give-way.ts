/** Long work on the main thread that lets others go first. Covered by test/domain/give-way.test.ts. */
/** Rows, elements or lines that are worked on in one piece: less than a millisecond. */
export const PIECE = 128;

let line: Promise<void> = Promise.resolve();

const nextRound = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Waits until what has come in meanwhile was begun. Those who give way go on one by one, each in a round of the event
 * loop of its own: however many there are, what comes in waits for one piece of one of them.
 */
export function giveWay(): Promise<void> {
  line = line.then(nextRound);
  return line;
}

/** What `work` makes of each item, in their order; gives way after each piece of so many. */
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

/** A list in pieces of so many items. */
export function* piecesOf<T>(items: readonly T[], size: number = PIECE): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
