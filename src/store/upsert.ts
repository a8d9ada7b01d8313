/**
 * `upsert into table [, other] from source key (…) …`, a statement of view files, expanded to MERGE. For each row of
 * the source, it updates the row of the table with the same key, or inserts a new one:
 *
 *   key       columns that identify a row
 *   once      columns that are set when the row is new
 *   set       columns that take the new value
 *   add       columns that the new value is added to
 *   least     columns that keep the smaller value
 *   greatest  columns that keep the larger value
 *   apart     a condition on the source: a second statement upserts its rows, after the rest and into the second table
 *             if there are two
 *
 * `seq` becomes the revision of the commit. The source is a table, or a SELECT in parentheses.
 *
 * Test: test/store/upsert.test.ts.
 */
/** An expanded upsert. */
export interface Upsert {
  /** The temporary table that supplies the rows; null for a SELECT. */
  readonly source: string | null;
  readonly merges: readonly string[];
}

/** New value of a column, from the stored row `t` and the row `d` of the source. */
const CHANGES: Readonly<Record<string, (column: string) => string>> = {
  set: (column) => `d.${column}`,
  add: (column) => `t.${column} + d.${column}`,
  least: (column) => `least(t.${column}, d.${column})`,
  greatest: (column) => `greatest(t.${column}, d.${column})`,
};
const WORDS: ReadonlySet<string> = new Set(['key', 'once', ...Object.keys(CHANGES), 'apart']);

/** Expands an upsert; null for another statement. Throws Error with the fault. */
export function expandUpsert(statement: string): Upsert | null {
  if (!/^upsert\b/i.test(statement)) return null;
  const into = /^upsert\s+into\s+(\w+)(?:\s*,\s*(\w+))?\s+from\s+/i.exec(statement);
  const source = into === null ? undefined : sourceAt(statement, into[0].length);
  if (into === null || source === undefined)
    throw new Error('it does not begin with "upsert into table from source"');
  const [, table = '', other = table] = into;
  const clauses = clausesOf(statement.slice(into[0].length + source.length));
  if (!clauses.has('key')) throw new Error('it names no key');
  const apart = clauses.get('apart');
  const merge = (target: string, condition: string): string =>
    mergeStatement(target, `(from ${source}${condition})`, clauses);
  return {
    source: source.startsWith('(') ? null : source,
    merges:
      apart === undefined
        ? [merge(table, '')]
        : [merge(table, ` where not (${apart})`), merge(other, ` where ${apart}`)],
  };
}

/** Returns a word, or the text from a parenthesis to its closing one. */
function sourceAt(text: string, start: number): string | undefined {
  if (text[start] !== '(') return /^\w+/.exec(text.slice(start))?.[0];
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    if (text[index] === '(') depth += 1;
    else if (text[index] === ')') depth -= 1;
    if (depth === 0) return text.slice(start, index + 1);
  }
  return undefined;
}

function clausesOf(text: string): ReadonlyMap<string, string> {
  const clauses = new Map<string, string>();
  const left = text.replaceAll(/(\w+)\s*\(([^()]*)\)/g, (clause, word: string, content: string) => {
    if (!WORDS.has(word) || clauses.has(word)) return clause;
    clauses.set(word, content.trim());
    return '';
  });
  if (left.trim() !== '') throw new Error(`"${left.trim()}" is not known or stands twice`);
  return clauses;
}

function mergeStatement(table: string, source: string, clauses: ReadonlyMap<string, string>): string {
  const columnsOf = (word: string): string[] => clauses.get(word)?.split(/\s*,\s*/) ?? [];
  const key = columnsOf('key');
  const changes = Object.entries(CHANGES).flatMap(([word, change]) =>
    columnsOf(word).map((column) => [column, change(column)] as const),
  );
  const columns = [...key, ...columnsOf('once'), ...changes.map(([column]) => column)];
  const updates = changes.map(([column, value]) => `${column} = ${value}`);
  return `merge into ${table} t using ${source} d
on ${key.map((column) => `t.${column} = d.${column}`).join(' and ')}
when matched then update set ${updates.join(', ')}, seq = getvariable('seq')
when not matched then insert (${columns.join(', ')}, seq)
  values (${columns.map((column) => `d.${column}`).join(', ')}, getvariable('seq'))`;
}
