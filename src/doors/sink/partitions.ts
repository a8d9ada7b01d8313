/** Covered by test/doors/sink/sink.test.ts. */
import { join } from 'node:path';
import { GRANULARITY_NUMBER } from '../../domain/kinds.ts';
import { nextBucketStart, type Granularity } from '../../domain/time.ts';
import type { Statement, TableRows } from '../../store/published/segment-sql.ts';
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import type { SinkTable } from './tables.ts';

/** The name of the one file of a partition: a new version takes its place by rename. */
const FILE = 'data.parquet';

/** The rows of a table that are in one file. */
export interface Partition {
  readonly table: SinkTable;
  /** Number of the instance in its shard. */
  readonly instance: number;
  readonly granularity: Granularity | null;
  /** Start of its day or month, microseconds. */
  readonly from: number | null;
  /** Below the folder of the sink. */
  readonly path: string;
  readonly rows: number;
  /** Two versions of a partition have the same rows, in any order, when they have the same digest. */
  readonly digest: string;
}

const GRANULARITIES = Object.entries(GRANULARITY_NUMBER) as [Granularity, number][];

/** The partitions of a table, each with the digest of its rows, from one reading of the table. */
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
  // The hash of several columns is as good as linear in those of each: sums would not see that two rows swap a value.
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

/** Rows that are written by one statement, which memory has to sort; a larger partition has one of its own. */
const ROWS_AT_ONCE = 150_000;
/** Files that are open at a time, each with a buffer of its own. */
const PARTITIONS_AT_ONCE = 8;

/**
 * Divides partitions into groups of one table, instance and granularity that are written together: most of a small
 * file's cost is to look up the ids of all sessions.
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

/** Writes a group into a folder, each partition to a file; the files in the order of the group. */
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
      // Not among the conditions on the published rows: an earlier version of a row would be taken for the newest.
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

/** The rows of a table as its files have them. */
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

/** What `@r` stands for in it. */
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
