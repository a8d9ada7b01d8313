/** Covered by test/sink/sink.test.ts. */
import { GRANULARITY_NUMBER } from '../domain/kinds.ts';
import { nextBucketStart, type Granularity } from '../domain/time.ts';
import type { Statement, TableRows } from '../store/published/segment-sql.ts';
import type { Snapshot } from '../store/published/snapshot-reader.ts';
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

/** Writes the rows of a partition to a new file; how many they are. */
export function writePartition(snapshot: Snapshot, partition: Partition, file: string): Promise<number> {
  const { table, instance, granularity, from } = partition;
  const { division, key } = table;
  const conditions: string[] = [];
  let range: TableRows['range'];
  if (division.by !== 'none' && from !== null) {
    const to = nextBucketStart(division.by === 'day' ? 'DAY' : 'MONTH', from + 1);
    if (division.by === 'day' && division.moves)
      // Not among the conditions on the published rows: an earlier version of a row would be taken for the newest.
      conditions.push(`${division.at} >= make_timestamp(${from}) and ${division.at} < make_timestamp(${to})`);
    else range = { from, to };
  }
  const equal =
    granularity === null ? { instance } : { instance, granularity: GRANULARITY_NUMBER[granularity] };
  return snapshot.writeParquet(
    `${selectOf(table, conditions)} order by ${key.join(', ')}`,
    rowsOf(table, { equal, ...(range === undefined ? {} : { range }) }),
    file,
  );
}

/** The rows of a table as its files have them. */
export function selectOf(table: SinkTable, conditions: readonly string[] = []): string {
  const list = table.columns.map(({ name, type, sql }) => `(${sql})::${type} as ${name}`).join(', ');
  return `select ${list} ${fromOf(table, conditions)}`;
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
