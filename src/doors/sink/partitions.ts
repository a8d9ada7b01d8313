/**
 * Divides tables into partitions and writes these to files. Two versions of a partition with the same rows have the
 * same digest.
 *
 * Test: test/doors/sink/sink.test.ts.
 */
import { join } from 'node:path';
import { GRANULARITY_NUMBER } from '../../domain/kinds.ts';
import { nextBucketStart, type Granularity } from '../../domain/time.ts';
import type { Statement, TableRows } from '../../store/published/segment-sql.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import type { SinkTable } from './tables.ts';

/** Name of a partition's only file; a new version replaces it by rename. */
const FILE = 'data.parquet';

/** The rows of a table that share a file. */
export interface Partition {
  readonly table: SinkTable;
  /** Number of the instance in its shard. */
  readonly instance: number;
  readonly granularity: Granularity | null;
  /** Start of the day or month, microseconds; null without one. */
  readonly from: number | null;
  /** Path below the sink's folder. */
  readonly path: string;
  readonly rows: number;
  /** Equal for equal rows in any order. */
  readonly digest: string;
}

const GRANULARITIES = Object.entries(GRANULARITY_NUMBER) as [Granularity, number][];

/** Returns the partitions of a table with the digests of their rows, from one scan. */
export async function readPartitions(
  snapshot: Snapshot,
  table: SinkTable,
  instances: ReadonlyMap<number, string>,
  onlyThese: boolean,
): Promise<Partition[]> {
  const { division, columns } = table;
  const unit = division.by === 'none' ? null : division.by === 'day' ? 'day' : 'month';
  const period = unit === null ? 'null::timestamp' : `date_trunc('${unit}', ${pointIn(table)})::timestamp`;
  const granularity = division.by === 'granularity and month' ? 'r.granularity' : 'null::tinyint';
  // The hash of several columns is almost linear in their hashes: a sum would miss that two rows swap a value. Hence
  // the second hash.
  const hash = `hash(hash(${columns.map(({ sql }) => sql).join(', ')}))`;
  const only = onlyThese ? { and: `instance in (${[...instances.keys()].join(', ') || 'null'})` } : {};
  const found = await snapshot.all(
    `select instance, granularity, period, count(*) as rows, sum(h)::varchar as total, bit_xor(h)::varchar as mixed
from (select r.instance, ${granularity} as granularity, ${period} as period, ${hash} as h ${fromOf(table, [])})
group by all`,
    rowsOf(table, only),
  );
  return found.map((row) => {
    const instance = row['instance'] as number;
    const number = row['granularity'] as number | null;
    const name = number === null ? null : (GRANULARITIES.find(([, of]) => of === number)?.[0] ?? null);
    const from = row['period'] as number | null;
    return {
      table,
      instance,
      granularity: name,
      from,
      path: pathOf(table, instances.get(instance) as string, name, from),
      rows: row['rows'] as number,
      digest: `${row['rows'] as number}-${row['total'] as string}-${row['mixed'] as string}`,
    };
  });
}

/** Rows written by one statement, which sorts them in memory; a larger partition gets a statement of its own. */
const ROWS_AT_ONCE = 150_000;
/** Files open at once, each with a buffer. */
const PARTITIONS_AT_ONCE = 8;

/**
 * Groups partitions of one table, instance and granularity to be written together: the main cost of a small file is
 * looking up the ids of all sessions.
 */
export function grouped(partitions: readonly Partition[]): Partition[][] {
  const groups: Partition[][] = [];
  let rows = 0;
  for (const partition of partitions.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const group = groups.at(-1);
    rows += partition.rows;
    const first = group?.[0];
    if (
      group !== undefined &&
      first?.table === partition.table &&
      first.instance === partition.instance &&
      first.granularity === partition.granularity &&
      rows <= ROWS_AT_ONCE &&
      group.length < PARTITIONS_AT_ONCE
    )
      group.push(partition);
    else {
      groups.push([partition]);
      rows = partition.rows;
    }
  }
  return groups;
}

/** Writes a group into a folder, one file per partition; returns the files in the order of the group. */
export async function writeGroup(
  snapshot: Snapshot,
  group: readonly Partition[],
  folder: string,
): Promise<readonly string[]> {
  const [first] = group;
  if (first === undefined) return [];
  const { table, instance, granularity } = first;
  const { division, key } = table;
  const conditions: string[] = [];
  let part = '1';
  let range: TableRows['range'];
  if (division.by !== 'none') {
    const starts = group.map(({ from }) => from ?? 0);
    const from = Math.min(...starts);
    const to = nextBucketStart(division.by === 'day' ? 'DAY' : 'MONTH', Math.max(...starts) + 1);
    const unit = division.by === 'day' ? 'day' : 'month';
    part = `list_position([${starts.join(', ')}], epoch_us(date_trunc('${unit}', ${division.at})))`;
    conditions.push(`${part} is not null`);
    if (division.by === 'day' && division.moves)
      // This filter cannot apply to the published rows: it would take an earlier version of a row for the newest.
      conditions.push(`${division.at} >= make_timestamp(${from}) and ${division.at} < make_timestamp(${to})`);
    else range = { from, to };
  }
  const equal =
    granularity === null ? { instance } : { instance, granularity: GRANULARITY_NUMBER[granularity] };
  const written = await snapshot.writeParquet(
    `${selectOf(table, conditions, [`${part} as part`])} order by part, ${key.join(', ')}`,
    rowsOf(table, { equal, ...(range === undefined ? {} : { range }) }),
    folder,
    'part',
  );
  const expected = group.reduce((sum, { rows }) => sum + rows, 0);
  if (written !== expected) throw new Error(`${first.path}: ${written} rows, not ${expected}`);
  return group.map((_, index) => join(folder, `part=${index + 1}`, 'data_0.parquet'));
}

/** SQL that selects the rows of a table as its files contain them. */
export function selectOf(
  table: SinkTable,
  conditions: readonly string[] = [],
  more: readonly string[] = [],
): string {
  const columns = table.columns.map(({ name, type, sql }) => `(${sql})::${type} as ${name}`);
  return `select ${[...columns, ...more].join(', ')} ${fromOf(table, conditions)}`;
}

function pointIn({ division }: SinkTable): string {
  return division.by === 'none' ? '' : division.at;
}

function fromOf({ joined, where }: SinkTable, conditions: readonly string[]): string {
  const all = [...(where === undefined ? [] : [where]), ...conditions];
  return `from @r r ${joined}${all.length === 0 ? '' : ` where ${all.join(' and ')}`}`;
}

/** Rows that `@r` in that SQL refers to. */
export function rowsOf({ rows }: SinkTable, parts: Omit<TableRows, 'table'> = {}): Statement {
  const granularity =
    rows.granularity === undefined ? {} : { granularity: GRANULARITY_NUMBER[rows.granularity] };
  return { rows: { r: { table: rows.table, ...parts, equal: { ...granularity, ...parts.equal } } } };
}

function pathOf(
  { name }: SinkTable,
  instanceId: string,
  granularity: string | null,
  from: number | null,
): string {
  const parts = [name, `instance_id=${instanceId}`];
  if (granularity !== null) parts.push(`granularity=${granularity}`, `month=${dateOf(from)}`);
  else if (from !== null) parts.push(`date=${dateOf(from)}`);
  return [...parts, FILE].join('/');
}

function dateOf(micros: number | null): string {
  return new Date((micros ?? 0) / 1000).toISOString().slice(0, 10);
}
