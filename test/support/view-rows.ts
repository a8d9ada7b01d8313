import { deepEqual } from 'node:assert/strict';
import type { Connection, Row } from '../../src/store/duckdb.ts';
import type { TableRows } from '../../src/store/published/segment-sql.ts';
import { publishedTables, type View } from '../../src/store/view-files.ts';
import type { Snapshot } from '../../src/store/published/snapshot-reader.ts';

import type { Fixture } from './fold.ts';

/**
 * The rows of every table of every view, whatever the views are: what the laws compare. A view that is added
 * needs nothing here.
 */
export type ViewRows = Readonly<Record<string, readonly Row[]>>;

interface Table {
  readonly name: string;
  readonly alive: string;
  /** Condition that a row may have taken the place of an earlier one; null: every row may have. */
  readonly replaces: string | null;
  /** Null where readers do not see the table. */
  readonly key: readonly string[] | null;
}

/** The tables that the views create, published or not, and what they show of several as one. */
function tablesOf(views: readonly View[]): Table[] {
  const published = new Map(publishedTables(views).map((table) => [table.name, table]));
  const created = views.flatMap((view) =>
    [...view.schema.matchAll(/^create (?:table|view) (\w+)/gim)].map((match) => match[1] as string),
  );
  return created.map((name) => {
    const table = published.get(name);
    return {
      name,
      alive: table?.alive ?? 'true',
      replaces: table?.replaces ?? null,
      key: table?.key ?? null,
    };
  });
}

/**
 * What every table of the state says: the rows that count, without what tells one batch from another. Rows with
 * a weight add up: those that cancel each other say nothing.
 */
export async function stateRows(connection: Connection, views: readonly View[]): Promise<ViewRows> {
  const rows: Record<string, readonly Row[]> = {};
  for (const { name, alive, replaces } of tablesOf(views)) {
    const described = await connection.all(`describe st.${name}`);
    const columns = described
      .map((row) => row['column_name'] as string)
      .filter((column) => column !== 'seq' && column !== replaces);
    const weighted = columns.includes('weight');
    const quotedColumns = columns.filter((column) => column !== 'weight').map((column) => `"${column}"`);
    rows[name] = await connection.all(
      weighted
        ? `select ${quotedColumns.join(', ')}, sum(weight)::bigint as weight from st.${name} where ${alive}
           group by all having sum(weight) <> 0 order by all`
        : `select ${quotedColumns.join(', ')} from st.${name} where ${alive} order by all`,
    );
  }
  return rows;
}

/**
 * Fails unless every published table reads, as a whole and instance by instance, as the rows of the state do, to
 * the last column, and its key names one row.
 */
export async function checkPublished(
  { store, reader }: Pick<Fixture, 'store' | 'reader'>,
  views: readonly View[],
  instances: readonly number[],
): Promise<void> {
  const snapshot = await reader.snapshot();
  if (snapshot === null) throw new Error('nothing is published');
  try {
    for (const { name, key, alive, replaces } of tablesOf(views)) {
      if (key === null) continue;
      const stored = await store.connection.all(`select * from st.${name} where ${alive} order by all`);
      const read = (equal: TableRows['equal'] = {}): Promise<Row[]> =>
        snapshot.all(`select * from @read where ${alive} order by all`, {
          rows: { read: { table: name, equal } },
        });
      same(await read(), stored, `@${name}`);
      for (const instance of instances) {
        const own = stored.filter((row) => row['instance'] === instance);
        same(await read({ instance }), own, `@${name} of instance ${instance}`);
      }
      // Rows that never take another's place need no name.
      if (replaces === 'false') continue;
      const twice = `select ${key.join(', ')} from st.${name} group by all having count(*) > 1`;
      same(await store.connection.all(twice), [], `keys of ${name} that are there twice`);
    }
  } finally {
    snapshot.release();
  }
}

/** Everything that a snapshot shows. */
export async function publishedRows(snapshot: Snapshot, views: readonly View[]): Promise<ViewRows> {
  const rows: Record<string, readonly Row[]> = {};
  for (const { name } of publishedTables(views))
    rows[name] = await snapshot.all(`select * from @${name} order by all`);
  return rows;
}

/** Fails unless each table has the same rows on both sides. */
export function sameRows(actual: ViewRows, expected: ViewRows, what: string): void {
  for (const [table, rows] of Object.entries(expected)) same(actual[table], rows, `${what}: ${table}`);
}

/** Like deepEqual, and says both what differs and how. */
export function same(actual: unknown, expected: unknown, what: string): void {
  try {
    deepEqual(actual, expected);
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
