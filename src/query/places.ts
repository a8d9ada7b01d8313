/**
 * Weighs answers by size, so that long ones take more of the places for concurrent answers.
 *
 * Test: test/query/query-runner.test.ts.
 */

/** Places of a long answer: its rows are held in memory and cost processor time. */
export const LONG_ANSWER = 4;

/** Limit of rows of a short answer. */
const SHORT_ROWS = 1000;

/** Returns the number of places of an answer with at most `rows` rows. */
export function placesFor(rows: number): number {
  return rows > SHORT_ROWS ? LONG_ANSWER : 1;
}
