/**
 * Formats rows as aligned columns under a heading. Cells are made printable, because their text may come from outside.
 *
 * Test: test/cli/keys.test.ts.
 */
import { printable } from '../domain/printable.ts';

export function tableOf(heading: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = [heading, ...cells.map((row) => row.map(printable))];
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => {
      const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
      return `${line.trimEnd()}\n`;
    })
    .join('');
}
