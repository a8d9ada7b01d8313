/** A text as somebody types it in a shell. Covered by test/cli/import-plan.test.ts. */
export function shellWord(text: string): string {
  return /^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
