/**
 * Digests the rows of published tables by instance. The digest does not depend on row order or on the numbers that a
 * shard gives out.
 *
 * Test: test/worker/rebuild/digest.test.ts.
 */
import type { Snapshot } from '../../store/published/snapshot-reader.ts';
import { KINDS } from '../../domain/kinds.ts';
import type { PublishedTable } from '../../store/view-files.ts';

/**
 * The columns that are digested. `rows`: all. `stream`: messages, sessions, end users and times, which follow from the
 * stream alone, whatever the model and rules.
 */
export type DigestScope = 'rows' | 'stream';

/** The rows of one instance in one table. */
export interface RowsDigest {
  /** Number of rows; where rows carry a weight, its sum. */
  readonly rows: number;
  /** Equal for the same rows in any order. Different rows collide with probability 2^−64. */
  readonly digest: string;
}

/** Columns about the writing of a row, not its content. */
const BOOKKEEPING: ReadonlySet<string> = new Set(['seq', 'processed_at', 'weight']);
/** Numbers that a shard gives out. They differ between shards, so the UUIDs behind them are compared. */
const NUMBERED = ['session', 'end_user'] as const;
/** Columns that follow from the stream alone, in rows about all messages. */
const STREAM_COLUMNS: ReadonlySet<string> = new Set(
  (
    'instance session end_user kind entity id external_id project last_sequence fact_id position ' +
    'granularity bucket hour event_at first_at last_at messages sessions'
  ).split(' '),
);

/**
 * Digests a published table of a snapshot by instance id (lower case). Returns null if the scope covers nothing of the
 * table.
 */
export async function digestTable(
  snapshot: Snapshot,
  table: PublishedTable,
  scope: DigestScope,
): Promise<ReadonlyMap<string, RowsDigest> | null> {
  const described = await snapshot.all(`describe select * from @${table.name}`);
  const present = new Set(described.map((row) => row['column_name'] as string));
  const ofKind = present.has('kind') && present.has('entity');
  const columns = [...present].filter(
    (column) =>
      !BOOKKEEPING.has(column) &&
      column !== table.replaces &&
      (scope === 'rows' || STREAM_COLUMNS.has(column)),
  );
  if (scope === 'stream') {
    // The existence of rows with other key columns depends on the analysis.
    const rowsFollowStream = table.key.every((column) => STREAM_COLUMNS.has(column));
    if (!rowsFollowStream || (table.key.includes('entity') && !present.has('end_user'))) return null;
  }
  const values = columns
    .filter((column) => column !== 'instance')
    .toSorted()
    .map((column) => {
      if (isNumbered(column)) return `${column}_name.id`;
      if (column === 'entity' && ofKind)
        return `case when t.kind = ${KINDS.all} then hash(entity_name.id) else hash(t.entity) end`;
      return `t.${column}`;
    });
  const conditions = [
    ...(table.alive === null ? [] : [table.alive]),
    ...(scope === 'stream' && ofKind ? [`kind = ${KINDS.all}`] : []),
  ];
  const weight = present.has('weight') ? 't.weight' : '1';
  const joins = [
    ...NUMBERED.filter((column) => columns.includes(column)).map(
      (column) =>
        `left join (select ${column}, id from @${column}) ${column}_name on ${column}_name.${column} = t.${column}`,
    ),
    // An entity of kind "all" is an end user.
    ...(columns.includes('entity') && ofKind
      ? [
          'left join (select end_user, id from @end_user) entity_name on entity_name.end_user = case when ' +
            `t.kind = ${KINDS.all} then t.entity end`,
        ]
      : []),
  ];
  const rows = await snapshot.all(`
    select i.id::varchar as instance, sum(${weight})::bigint as row_count,
      (sum(${weight} * hash(${values.join(', ')})::hugeint) % 18446744073709551616)::varchar as digest
    from (select * from @${table.name}${conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`}) t
    join (select instance, id from @instance) i on i.instance = t.instance
    ${joins.join('\n')}
    group by i.id`);
  return new Map(
    rows.map((row) => [
      row['instance'] as string,
      { rows: row['row_count'] as number, digest: row['digest'] as string },
    ]),
  );
}

/** The newest stream entry of each instance in a snapshot, by id. */
export async function positionsOf(snapshot: Snapshot): Promise<ReadonlyMap<string, number>> {
  const rows = await snapshot.all('select id::varchar as id, last_sequence from @instance');
  return new Map(rows.map((row) => [row['id'] as string, row['last_sequence'] as number]));
}

function isNumbered(column: string): boolean {
  return (NUMBERED as readonly string[]).includes(column);
}
