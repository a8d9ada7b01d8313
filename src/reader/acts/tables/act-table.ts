/**
 * Dialogue acts are read from tables: rules in order, of which the first that holds tells the act. Each rule has an
 * example, and test/reader/acts/tables/act-tables.test.ts tries every one of them against the whole table, so that no rule can
 * stand behind another that takes all that it is for. Names are those of ISO 24617-2 where it has one.
 */

/** One rule of a table. `Example`: a text, or what a read holds beside what it holds mostly. */
export interface ActRule<Read, Act extends string, Example = string> {
  readonly act: Act;
  /** Without: it holds for whatever no rule before it takes. */
  readonly when?: (read: Read) => boolean;
  /** Something for which this rule is the first that holds. */
  readonly example: Example;
}

/** The first rule that holds. Throws Error for a table whose last rule has a condition, when none holds. */
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
