/**
 * Reads the naming tables of one instance, and follows merges: an entity that merged answers as its heir.
 *
 * Test: test/query/curations/lives.test.ts, test/e2e/query-rules.test.ts.
 */
import type { NamesTable } from '../domain/groupings.ts';
import type { Row } from '../store/duckdb.ts';
import type { Statement } from '../store/published/segment-sql.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';

/** Returns a statement that reads each of these tables for one instance. */
export function ofInstance(instance: number, ...tables: readonly string[]): Statement {
  return { rows: Object.fromEntries(tables.map((table) => [table, { table, equal: { instance } }])) };
}

/** Returns the rows of a naming table by number, with `id` as text, in the order of ids. Cached until the table changes. */
export function cachedNames(
  snapshot: Snapshot,
  table: NamesTable,
  instance: number,
): Promise<Map<number, Row>> {
  return snapshot.cached(`${table} ${instance}`, [table], async () => {
    const rows = await snapshot.all(
      `select * replace (id::varchar as id) from @${table} t order by t.id`,
      ofInstance(instance, table),
    );
    return new Map(rows.map((row) => [row[table] as number, row]));
  });
}

/** Follows merges: returns the number of the entity that inherited this one, or the number itself. */
export function heirOf(rows: ReadonlyMap<number, Row>, number: number): number {
  let heir = number;
  for (let next = rows.get(heir)?.['heir']; typeof next === 'number'; next = rows.get(heir)?.['heir'])
    heir = next;
  return heir;
}

/** Finds an entity by id, and the one that inherited it, or itself; null if no row has the id. */
export function entityById(
  rows: ReadonlyMap<number, Row>,
  id: string,
): { readonly own: number; readonly number: number; readonly heir: Row } | null {
  for (const [own, row] of rows) {
    if (row['id'] !== id) continue;
    const number = heirOf(rows, own);
    return { own, number, heir: rows.get(number)! };
  }
  return null;
}
