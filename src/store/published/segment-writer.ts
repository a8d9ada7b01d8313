/**
 * Writes files of segments into a shard's folder. A file appears under its final name only when it is complete and
 * synced.
 *
 * Test: test/store/published/publication.test.ts.
 */
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Connection, Row } from '../duckdb.ts';
import { fsyncPath, type Reached, type Segment } from './manifest.ts';
import {
  copyStatement,
  describe,
  sortedCopyStatement,
  sortInto,
  withFiles,
  type AttachedFile,
  type SegmentPlan,
  type Sorting,
} from './segment-copy.ts';

/** The content of a file. */
export interface SegmentFile {
  readonly kind: SegmentKind;
  readonly plans: readonly SegmentPlan[];
  /** Settings for a large `merged` file; null: it is sorted like a small one. */
  readonly sorting: Sorting | null;
}

/** The segments of a written file, and the position of its rows. */
export interface WrittenSegments extends Reached {
  /** Segments by table name. */
  readonly segments: Readonly<Record<string, Segment>>;
}

/** `newest`: the delta segments of all tables. `merged`: compacted segments. File names begin with this word. */
export type SegmentKind = 'newest' | 'merged';

/** Half of DuckDB's default, so that a range reads fewer unwanted rows of its first and last day. */
const ROW_GROUP_SIZE = 61_440;
/** Files with fewer rows get small blocks, which keep them small. */
const SMALL_FILE_ROWS = 200_000;

/** Writes files of segments. */
export class SegmentWriter {
  readonly #directory: string;
  #files = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Writes and syncs one file from one snapshot of the state, which it reads on the connection of `within`. */
  async write(
    within: <T>(work: (connection: Connection) => Promise<T>) => Promise<T>,
    { kind, plans, sorting }: SegmentFile,
  ): Promise<WrittenSegments> {
    const rows = plans.reduce((sum, plan) => sum + plan.rows, 0);
    const written = this.#temporary(`${kind}.duckdb.tmp`, `${kind}_out`, rows);
    const unsorted = this.#temporary(`${kind}.unsorted.duckdb.tmp`, `${kind}_unsorted`, rows);
    const isLarge = sorting !== null && rows > sorting.fromRows;
    // A transaction can write into one file only.
    const target = isLarge ? unsorted : written;
    const copy = kind === 'newest' || isLarge ? copyStatement : sortedCopyStatement;
    const tables = plans.map(({ table }) => table);
    const copied = await within((connection) =>
      withFiles(connection, [target], () =>
        connection.transaction(async () => {
          const reached = await readReached(connection);
          await connection.run(plans.map((plan) => copy(target.catalog, plan)).join(';\n'));
          const described = isLarge ? [] : await describe(connection, target.catalog, tables);
          return { reached, described };
        }),
      ),
    );
    const { reached } = copied;
    const { seq } = reached;
    const described = isLarge ? await sortInto(written, unsorted, tables, sorting) : copied.described;
    if (isLarge) this.remove(basename(unsorted.path));
    const file = `${kind}-${seq}-${this.#nextNumber()}.duckdb`;
    fsyncPath(written.path);
    renameSync(written.path, join(this.#directory, file));
    const segments = described.map((row) => [row['name'] as string, segmentOf(row, file, seq)] as const);
    return { ...reached, segments: Object.fromEntries(segments) };
  }

  /** Describes a temporary file for about so many rows, and deletes remains of an earlier one. */
  #temporary(name: string, catalog: string, rows: number): AttachedFile {
    this.remove(name);
    const options = [
      'recovery_mode no_wal_writes',
      `row_group_size ${ROW_GROUP_SIZE}`,
      ...(rows < SMALL_FILE_ROWS ? ['block_size 16384'] : []),
    ];
    return { path: join(this.#directory, name), catalog, options };
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
    'select instance_id, min(sequence) as sequence, min(stored_at) as stored_at from st.deferred ' +
      'group by instance_id order by instance_id',
  );
  const deferred = await connection.one('select count(distinct sequence) as entries from st.deferred');
  return {
    seq: meta?.['revision'] as number,
    sequence: meta?.['sequence'] as number,
    behind: Object.fromEntries(
      behind.map((row) => [
        row['instance_id'] as string,
        {
          sequence: row['sequence'] as number,
          storedAt: row['stored_at'] as number,
        },
      ]),
    ),
    deferred: deferred?.['entries'] as number,
  };
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
