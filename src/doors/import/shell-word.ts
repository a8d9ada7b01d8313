/**
 * Quotes a text for a shell.
 *
 * Test: test/cli/import-plan.test.ts.
 */
export function shellWord(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
