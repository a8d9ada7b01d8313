/**
 * Writes CSV.
 *
 * Test: test/domain/csv.test.ts.
 */

export type CsvCell = string | number | null;

/** Returns rows as CSV (RFC 4180). Prefixes a text that a spreadsheet would run as a formula with an apostrophe. */
export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: CsvCell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
