/**
 * Copies rows of the state into a file of segments.
 *
 * Test: test/store/published/segment-sort.test.ts.
 */
import { quoted, withDatabase, type Connection, type Row } from '../duckdb.ts';
import type { PublishedTable } from '../view-files.ts';
import type { Segment } from './manifest.ts';

/** The rows of a table to write: those that changed since the segments below, about `rows`. */
export interface SegmentPlan {
  readonly table: PublishedTable;
  readonly below: readonly Segment[];
  readonly rows: number;
}

/**
 * Settings for the sort of a large file. It runs in a separate database, as a sort takes all memory it can get, and the
 * fold beside it would lack it.
 */
export interface Sorting {
  /** A file with more rows is large. */
  readonly fromRows: number;
  /** Memory limit of the database, bytes; the rest is spilled. */
  readonly memoryBytes: number;
  readonly spillDirectory: string;
}

/** A file of segments, finished or not, as ATTACH takes it. */
export interface AttachedFile {
  readonly path: string;
  /** Catalog name in statements. */
  readonly catalog: string;
  readonly options: readonly string[];
}

/** Copies the rows unsorted. */
export function copyStatement(catalog: string, { table, below }: SegmentPlan): string {
  const after = below.at(-1)?.seq ?? -1;
  // No segment lies below the lowest one, so a tombstone would hide nothing there.
  const alive = below.length === 0 && table.alive !== null ? ` and ${table.alive}` : '';
  return `create table ${catalog}.${table.name} as from st.${table.name} where seq > ${after}${alive}`;
}

/** Copies the rows sorted. */
export function sortedCopyStatement(catalog: string, plan: SegmentPlan): string {
  return `${copyStatement(catalog, plan)} ${orderOf(plan.table)}`;
}

/** Runs work with files attached. Detaching them writes them. */
export async function withFiles<T>(
  connection: Connection,
  files: readonly AttachedFile[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    for (const { path, catalog, options } of files)
      await connection.run(`attach ${quoted(path)} as ${catalog} (${options.join(', ')})`);
    return await work();
  } finally {
    for (const { catalog } of files) await connection.run(`detach database if exists ${catalog}`);
  }
}

/** Copies tables from one file into another, sorted, in a separate database. Returns descriptions of the copies. */
export async function sortInto(
  to: AttachedFile,
  from: AttachedFile,
  tables: readonly PublishedTable[],
  { memoryBytes, spillDirectory }: Sorting,
): Promise<Row[]> {
  return withDatabase({ threads: 1, memoryBytes, spillDirectory }, (connection) =>
    withFiles(connection, [{ ...from, options: ['read_only'] }, to], async () => {
      for (const table of tables)
        await connection.run(
          `create table ${to.catalog}.${table.name} as from ${from.catalog}.${table.name} ${orderOf(table)}`,
        );
      return describe(connection, to.catalog, tables);
    }),
  );
}

/** Returns a row for each table: `name`, `rows`, `replaces`, and `from` and `to`, its range of times. */
export async function describe(
  connection: Connection,
  catalog: string,
  tables: readonly PublishedTable[],
): Promise<Row[]> {
  if (tables.length === 0) return [];
  return connection.all(tables.map((table) => describeStatement(catalog, table)).join(' union all '));
}

function describeStatement(catalog: string, { name, replaces, time }: PublishedTable): string {
  const replacing = replaces === null ? 'count(*) > 0' : `coalesce(bool_or(${replaces}), false)`;
  const times =
    time === null
      ? 'null::timestamp as "from", null::timestamp as "to"'
      : `min(${time}) filter (isfinite(${time})) as "from", max(${time}) filter (isfinite(${time})) as "to"`;
  return `select ${quoted(name)} as name, count(*) as rows, ${replacing} as replaces, ${times} from ${catalog}.${name}`;
}

function orderOf({ order }: PublishedTable): string {
  return `order by ${order.join(', ')}`;
}
