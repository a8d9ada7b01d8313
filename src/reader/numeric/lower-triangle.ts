/**
 * Values of pairs are kept as a lower triangle, row after row: entry (i, j < i) is at i(i−1)/2 + j. This is where row i
 * begins, and so the size of a triangle over i items.
 * Covered by test/reader/numeric/vector-table.test.ts.
 */
export function startOfRow(row: number): number {
  return (row * (row - 1)) / 2;
}
