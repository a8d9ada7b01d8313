/** Covered by test/query/query-runner.test.ts. */

/** What a long answer takes of the places for answers in work. Its rows are in memory, and take much of a processor. */
export const LONG_ANSWER = 4;

/** An answer with more rows is a long one. */
const SHORT_ROWS = 1000;

/** How many places the answer with so many rows takes. */
export function placesFor(rows: number): number {
  return rows > SHORT_ROWS ? LONG_ANSWER : 1;
}
