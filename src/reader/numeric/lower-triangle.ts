/**
 * Index of the first entry of row i in a lower triangle, which is also the size of a triangle over i items. Values of
 * pairs are stored row after row: entry (i, j < i) is at i(i−1)/2 + j.
 *
 * Test: test/reader/numeric/vector-table.test.ts.
 */
export function startOfRow(row: number): number {
  return (row * (row - 1)) / 2;
}
