/**
 * Reads dialogue acts from tables: rules in order, the first that holds gives the act. Keeps the invariant that every
 * rule is reachable: each has an example, and the test runs it against the whole table. Names follow ISO 24617-2 where
 * it has one.
 *
 * Test: test/reader/acts/tables/act-tables.test.ts.
 */

/** One rule of a table. `Example`: a text, or the properties in which a read differs from the default one. */
export interface ActRule<Read, Act extends string, Example = string> {
  readonly act: Act;
  /** The condition; a rule without one always holds. */
  readonly when?: (read: Read) => boolean;
  /** An input for which this rule is the first that holds. */
  readonly example: Example;
}

/**
 * Returns the first rule that holds. Throws Error if none does, which a table without a final unconditional rule
 * allows.
 */
export function firstRule<Read, Act extends string, Example>(
  table: readonly ActRule<Read, Act, Example>[],
  read: Read,
): ActRule<Read, Act, Example> {
  for (let at = 0; at < table.length; at++) {
    const rule = table[at]!;
    if (rule.when === undefined || rule.when(read)) return rule;
  }
  throw new Error('a table of acts ends in a rule without a condition');
}
