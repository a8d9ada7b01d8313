/**
 * Copies a shard's database. A copy is one snapshot at one stream position.
 *
 * Test: test/cli/backup.test.ts.
 */
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { quoted, withDatabase, type Connection } from '../duckdb.ts';
import { ATTACH_OPTIONS } from './state-database.ts';
import type { StateStore } from './state-store.ts';

/** File name of a copy in the shard's folder. */
export const COPY_FILE = 'copy.duckdb';

/** The state of a finished copy. */
export interface StateCopy {
  /** Stream sequence of the copy. */
  readonly sequence: number;
  /** Definition of its rows. */
  readonly definition: string;
}

/**
 * Copies a database that this process has open to a file in its folder, by default `COPY_FILE`, from one snapshot, while
 * folding goes on.
 */
export function copyOpenState(store: StateStore, file = COPY_FILE): Promise<StateCopy> {
  return store.beside((connection) => copyTo(connection, join(store.directory, file)));
}

/**
 * Copies a shard's database that no process has open; null if there is none.
 *
 * @throws DatabaseError when another process has it open (`held`), among others
 */
export async function copyClosedState(directory: string): Promise<StateCopy | null> {
  const file = join(directory, 'state.duckdb');
  if (!existsSync(file)) return null;
  return withDatabase({ threads: 1 }, async (connection) => {
    await connection.run(`attach ${quoted(file)} as st`);
    const copy = await copyTo(connection, join(directory, COPY_FILE));
    await connection.run('detach st');
    return copy;
  });
}

async function copyTo(connection: Connection, to: string): Promise<StateCopy> {
  const name = `${basename(to, '.duckdb')}_out`;
  remove(to);
  await connection.run(`attach ${quoted(to)} as ${name} ${ATTACH_OPTIONS}`);
  let done = false;
  try {
    const meta = await connection.transaction(async () => {
      await connection.run(`copy from database st to ${name}`);
      return connection.one(`select sequence, definition from ${name}.meta`);
    });
    await connection.run(`checkpoint ${name}`);
    done = true;
    return { sequence: meta?.['sequence'] as number, definition: meta?.['definition'] as string };
  } finally {
    await connection.run(`detach ${name}`).catch(() => undefined);
    if (!done) remove(to);
  }
}

function remove(file: string): void {
  for (const suffix of ['', '.wal']) rmSync(`${file}${suffix}`, { force: true });
}
