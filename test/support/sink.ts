import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { deepEqual } from 'node:assert/strict';
import { SinkFolder, type FolderStep } from '../../src/doors/sink/folder.ts';
import type { SinkManifest } from '../../src/doors/sink/manifest.ts';
import { runSink, type SinkRunOptions } from '../../src/doors/sink/sink.ts';
import { SINK_TABLES } from '../../src/doors/sink/tables.ts';
import { quoted, type Connection, type Row } from '../../src/store/duckdb.ts';
import type { SnapshotReader } from '../../src/store/published/snapshot-reader.ts';

export interface Sinking extends Partial<Pick<SinkRunOptions, 'tables' | 'instances' | 'now' | 'signal'>> {
  readonly epoch?: number;
  readonly onStep?: (step: FolderStep) => Promise<void> | void;
}

/** One run of a sink over what readers see now. */
export async function sinkOnce(
  reader: SnapshotReader,
  path: string,
  options: Sinking = {},
): Promise<SinkManifest> {
  const folder = await SinkFolder.open(path);
  const snapshot = await reader.snapshot();
  if (snapshot === null) throw new Error('nothing is published');
  try {
    const { epoch = 1, ...rest } = options;
    return await runSink(
      { epoch, answeringSince: 0, snapshots: [snapshot] },
      { folder, tables: SINK_TABLES, instances: null, now: () => 0, ...rest },
    );
  } finally {
    snapshot.release();
    folder.close();
  }
}

/** Parquet files below a folder, with their names there; none when there is no folder. */
export function parquetFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** When each file was written, nanoseconds. What is on its way to its place, and may be gone by now, is none. */
export function writeTimes(folder: string): Map<string, bigint> {
  return new Map(
    parquetFiles(folder).flatMap((file) => {
      const written = statSync(join(folder, file), { bigint: true, throwIfNoEntry: false });
      return written === undefined || file.startsWith('_tmp') ? [] : [[file, written.mtimeNs] as const];
    }),
  );
}

/** A table of a sink as a reader with a glob finds it. */
export function globbed(folder: string, table: string): string {
  return `read_parquet(${quoted(`${folder}/${table}/**/*.parquet`)}, hive_partitioning = true)`;
}

export function hasTable(folder: string, table: string): boolean {
  return existsSync(join(folder, table)) && parquetFiles(join(folder, table)).length > 0;
}

/** All rows of all tables, in an order of their own. */
export async function sunkRows(
  connection: Connection,
  folder: string,
): Promise<Readonly<Record<string, readonly Row[]>>> {
  const rows: Record<string, readonly Row[]> = {};
  for (const { name } of SINK_TABLES)
    rows[name] = hasTable(folder, name)
      ? await connection.all(`select * from ${globbed(folder, name)} order by all`)
      : [];
  return rows;
}

/** Two folders have the same files with the same rows. */
export async function sameFolders(connection: Connection, one: string, other: string): Promise<void> {
  deepEqual(parquetFiles(one), parquetFiles(other));
  deepEqual(await sunkRows(connection, one), await sunkRows(connection, other));
}
