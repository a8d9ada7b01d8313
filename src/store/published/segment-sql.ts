/**
 * Expands statements over published tables to SQL over segments. A row in a later segment replaces the same row in all
 * earlier ones.
 *
 * Test: test/store/published/segment-sql.test.ts.
 */
import type { Bindings, BindValue } from '../duckdb.ts';
import type { PublishedTable } from '../view-files.ts';
import type { Segment } from './manifest.ts';

/** The rows of a published table that a statement reads. */
export interface TableRows {
  readonly table: string;
  /** Columns with one value. They must never change for a row: key columns, or columns that the key determines. */
  readonly equal?: Readonly<Record<string, number>>;
  /** Range `[from, to)` of the table's time column, microseconds or ±Infinity. Default: all times. */
  readonly range?: { readonly from: number; readonly to: number };
  /** A further condition in SQL, on columns that never change for a row. */
  readonly and?: string;
}

/** A SELECT in which `@name` stands for rows of a published table. */
export interface Statement {
  /** Rows by `@name`. A missing name is a table, and stands for all of its rows. */
  readonly rows?: Readonly<Record<string, TableRows>>;
  /** Without bindings, the statement is not prepared, and the values of `equal` are written into it. */
  readonly bindings?: Bindings;
}

/** The segments of a manifest and the catalogs of their files. */
export interface NamedSegments {
  /** Segments of a published table, oldest first. */
  segmentsOf(table: string): readonly Segment[];
  /** Catalog of the attached file of a segment. */
  catalogOf(segment: Segment): string;
}

/** Replaces each `@name` by the rows of all segments, without rows that a later segment replaces. */
export function expandTables(
  sql: string,
  { rows = {}, bindings }: Statement,
  tables: ReadonlyMap<string, PublishedTable>,
  named: NamedSegments,
): { readonly sql: string; readonly bindings: Bindings | undefined } {
  const bound: Record<string, BindValue> = { ...bindings };
  const expanded = sql.replaceAll(/@(\w+)/g, (_, name: string) => {
    const read = rows[name] ?? { table: name };
    const table = tables.get(read.table);
    if (table === undefined) throw new Error(`no view publishes ${read.table}`);
    const bind = (part: string, value: BindValue): string => {
      if (bindings === undefined && typeof value === 'number') return String(value);
      bound[`${name}_${part}`] = value;
      return `$${name}_${part}`;
    };
    return unionOf(table, read, conditionOf(table, read, bind), named);
  });
  return { sql: expanded, bindings: Object.keys(bound).length === 0 ? bindings : bound };
}

function conditionOf(
  table: PublishedTable,
  { equal = {}, range, and }: TableRows,
  bind: (part: string, value: BindValue) => string,
): string {
  const conditions = Object.entries(equal).map(([column, value]) => `${column} = ${bind(column, value)}`);
  if (range !== undefined) {
    if (table.time === null) throw new Error(`${table.name} has no time column to bound`);
    conditions.push(`${table.time} >= ${bind('from', { at: range.from })}`);
    conditions.push(`${table.time} < ${bind('to', { at: range.to })}`);
  }
  if (and !== undefined) conditions.push(and);
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
}

function unionOf(table: PublishedTable, read: TableRows, where: string, named: NamedSegments): string {
  // The planner pays for each column of a join; a column with one value needs no comparison.
  const compared = table.key.filter((column) => !(column in (read.equal ?? {})));
  const key = (compared.length === 0 ? table.key : compared).join(', ');
  const segments = holding(named.segmentsOf(table.name), read);
  const rowsOf = (segment: Segment): string => `${named.catalogOf(segment)}.${table.name}${where}`;
  const parts = segments.map((segment, index) => {
    const later = segments.slice(index + 1).filter(({ replaces }) => replaces);
    if (later.length === 0) return `from ${rowsOf(segment)}`;
    const replacing = later.map((other) => `select ${key} from ${rowsOf(other)}`).join(' union all ');
    return `from (from ${rowsOf(segment)}) anti join (${replacing}) using (${key})`;
  });
  return `(${parts.join(' union all ')})`;
}

/** The segments that may hold rows of a range. The lowest is always included, as it has the table's columns. */
export function holding(segments: readonly Segment[], read: Pick<TableRows, 'range'>): Segment[] {
  return segments.filter((segment, index) => index === 0 || mayHold(segment, read));
}

function mayHold(segment: Segment, { range }: Pick<TableRows, 'range'>): boolean {
  // The bounds of a segment do not include infinite times.
  if (range === undefined || !Number.isFinite(range.from) || segment.from === null || segment.to === null)
    return true;
  return segment.from < range.to && segment.to >= range.from;
}
