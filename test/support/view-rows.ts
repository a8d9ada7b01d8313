import { deepEqual } from 'node:assert/strict';
import type { Connection, Row } from '../../src/store/duckdb.ts';
import { publishedTables } from '../../src/store/publication.ts';
import type { Snapshot } from '../../src/store/snapshot-reader.ts';
import type { View } from '../../src/store/view-files.ts';
import type { Fixture } from './fold.ts';

/**
 * The rows of every table of every view, whatever the views are: what the laws compare. A view that is added
 * needs nothing here.
 */
export type ViewRows = Readonly<Record<string, readonly Row[]>>;

/** Columns that say when a row was written, not what it says. */
const BOOKKEEPING: readonly string[] = ['seq', 'revised', 'gone'];

interface Table {
  readonly name: string;
  readonly alive: string;
  readonly key: readonly string[] | null;
}

/** The tables that the views create, published or not. */
function tablesOf(views: readonly View[]): Table[] {
  const published = new Map(publishedTables(views).map((table) => [table.name, table]));
  const created = views.flatMap((view) =>
    [...view.schema.matchAll(/^create table (\w+)/gim)].map((match) => match[1] as string),
  );
  return created.map((name) => {
    const table = published.get(name);
    return { name, alive: table?.alive ?? 'true', key: table?.key ?? null };
  });
}

/** What every table of the state says: rows that count, without what tells one batch from another. */
export async function stateRows(connection: Connection, views: readonly View[]): Promise<ViewRows> {
  const rows: Record<string, readonly Row[]> = {};
  const kept = BOOKKEEPING.map((column) => `'${column}'`).join(', ');
  for (const { name, alive } of tablesOf(views))
    rows[name] = await connection.all(
      `select columns(c -> c not in (${kept})) from st.${name} where ${alive} order by all`,
    );
  return rows;
}

/**
 * Fails unless every published table reads, as a whole and instance by instance, as the rows of the state do, to
 * the last column; its key names one row; and each row says its instance.
 */
export async function checkPublished(
  { store, reader }: Pick<Fixture, 'store' | 'reader'>,
  views: readonly View[],
  instances: readonly number[],
): Promise<void> {
  const snapshot = await reader.snapshot();
  if (snapshot === null) throw new Error('nothing is published');
  try {
    for (const { name, key, alive } of tablesOf(views)) {
      if (key === null) continue;
      const stored = await store.connection.all(`select * from st.${name} where ${alive} order by all`);
      const read = (condition: string): Promise<Row[]> =>
        snapshot.all(`select * from @${name}[${condition}] where ${alive} order by all`);
      same(await read(''), stored, `@${name}[]`);
      for (const instance of instances) {
        const own = stored.filter((row) => row['instance'] === instance);
        same(await read(`instance = ${instance}`), own, `@${name}[instance = ${instance}]`);
      }
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
    rows[name] = await snapshot.all(`select * from @${name}[] order by all`);
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
