/** Covered by test/store/published/publication.test.ts. */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { quoted, type Connection, type Row } from '../duckdb.ts';
import type { PublishedTable } from '../view-files.ts';
import { fsyncPath, type Reached, type Segment } from './manifest.ts';

/** What is written of a table: the rows changed since the segments that stay below, about so many. */
export interface SegmentPlan {
  readonly table: PublishedTable;
  readonly below: readonly Segment[];
  readonly rows: number;
}

export interface WrittenSegments extends Reached {
  /** By the name of the table. */
  readonly segments: Readonly<Record<string, Segment>>;
}

/** `newest`: the delta segments of all tables. `merged`: compacted segments. Their files begin with this word. */
export type SegmentKind = 'newest' | 'merged';

/** Half of DuckDB's default, so that a range reads fewer rows of its first and last day that it does not want. */
const ROW_GROUP_SIZE = 61_440;
/** Files of fewer rows get small blocks, which keep them small. */
const SMALL_FILE_ROWS = 200_000;

/** Writes files of segments into a shard's folder. */
export class SegmentWriter {
  readonly #directory: string;
  #files = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Writes one file from one snapshot of the state, and syncs it. */
  async write(
    connection: Connection,
    kind: SegmentKind,
    plans: readonly SegmentPlan[],
  ): Promise<WrittenSegments> {
    const temporary = `${kind}.duckdb.tmp`;
    this.remove(temporary);
    const rows = plans.reduce((sum, plan) => sum + plan.rows, 0);
    const options = [
      'recovery_mode no_wal_writes',
      `row_group_size ${ROW_GROUP_SIZE}`,
      ...(rows < SMALL_FILE_ROWS ? ['block_size 16384'] : []),
    ];
    const catalog = `${kind}_out`;
    await connection.run(
      `attach ${quoted(join(this.#directory, temporary))} as ${catalog} (${options.join(', ')})`,
    );
    let reached: Reached = { seq: 0, sequence: 0, behind: {} };
    let described: readonly Row[] = [];
    try {
      await connection.transaction(async () => {
        reached = await readReached(connection);
        await connection.run(plans.map((plan) => copyStatement(catalog, kind, plan)).join(';\n'));
        described = await connection.all(
          plans.map(({ table }) => describeStatement(catalog, table)).join(' union all '),
        );
      });
    } finally {
      await connection.run(`detach ${catalog}`);
    }
    const { seq } = reached;
    const file = `${kind}-${seq}-${this.#nextNumber()}.duckdb`;
    fsyncPath(join(this.#directory, temporary));
    renameSync(join(this.#directory, temporary), join(this.#directory, file));
    const segments = described.map((row) => [row['name'] as string, segmentOf(row, file, seq)] as const);
    return { ...reached, segments: Object.fromEntries(segments) };
  }

  /** Deletes a file and its log. */
  remove(file: string): void {
    for (const suffix of ['', '.wal']) rmSync(join(this.#directory, `${file}${suffix}`), { force: true });
  }

  #nextNumber(): number {
    const isTaken = (): boolean =>
      readdirSync(this.#directory).some((file) => file.endsWith(`-${this.#files}.duckdb`));
    do this.#files += 1;
    while (isTaken());
    return this.#files;
  }
}

async function readReached(connection: Connection): Promise<Reached> {
  const meta = await connection.one('select sequence, revision from st.meta');
  const behind = await connection.all(
    'select instance_id, min(sequence) as sequence, min(stored_at) as stored_at, count(*) as parts from st.deferred ' +
      'group by instance_id order by instance_id',
  );
  return {
    seq: meta?.['revision'] as number,
    sequence: meta?.['sequence'] as number,
    behind: Object.fromEntries(
      behind.map((row) => [
        row['instance_id'] as string,
        {
          sequence: row['sequence'] as number,
          storedAt: row['stored_at'] as number,
          parts: row['parts'] as number,
        },
      ]),
    ),
  };
}

function copyStatement(catalog: string, kind: SegmentKind, { table, below }: SegmentPlan): string {
  const after = below.at(-1)?.seq ?? -1;
  // No segment lies below the lowest one, so a tombstone there would hide nothing.
  const alive = below.length === 0 && table.alive !== null ? ` and ${table.alive}` : '';
  const order = kind === 'merged' ? ` order by ${table.order.join(', ')}` : '';
  return `create table ${catalog}.${table.name} as select * from st.${table.name} where seq > ${after}${alive}${order}`;
}

function describeStatement(catalog: string, { name, replaces, time }: PublishedTable): string {
  const replacing = replaces === null ? 'count(*) > 0' : `coalesce(bool_or(${replaces}), false)`;
  const times =
    time === null
      ? 'null::timestamp as "from", null::timestamp as "to"'
      : `min(${time}) filter (isfinite(${time})) as "from", max(${time}) filter (isfinite(${time})) as "to"`;
  return `select ${quoted(name)} as name, count(*) as rows, ${replacing} as replaces, ${times} from ${catalog}.${name}`;
}

function segmentOf(row: Row, file: string, seq: number): Segment {
  return {
    file,
    seq,
    rows: row['rows'] as number,
    from: row['from'] as number | null,
    to: row['to'] as number | null,
    replaces: row['replaces'] as boolean,
  };
}
