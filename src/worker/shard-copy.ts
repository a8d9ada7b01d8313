/**
 * Copies a shard's live database. At most one copy is made at a time.
 *
 * Test: test/cli/backup.test.ts, test/cli/rebuild.test.ts.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import { lockDataDirectory } from '../store/data-directory.ts';
import { DatabaseError } from '../store/duckdb.ts';
import { shardDirectory, type Epoch } from '../store/epochs/epochs.ts';
import { viewsId } from '../store/epochs/views-id.ts';
import { copyClosedState, COPY_FILE, type StateCopy } from '../store/live/state-copy.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { requestAnswer } from '../stream/request-reply.ts';
import { copySubject } from '../stream/subjects.ts';

/** Time for a worker to copy a shard's database. */
const COPY_MS = 30 * 60_000;
/** A shard that moves between workers has no owner for a moment. */
const ATTEMPTS = 50;
const PAUSE_MS = 200;

/**
 * Copies a shard's database, as it is at one position, to the file `to`. The worker that has it open makes the copy, or
 * this process when none has. A function instead of `to` reads the copy, which is then deleted. Returns null if there
 * is no database.
 *
 * @throws SetupError when the process that has it open does not answer, or another copy is in progress
 */
export async function copyShard(
  connection: StreamConnection,
  dataDir: string,
  { epoch }: Pick<Epoch, 'epoch'>,
  shard: number,
  to: string | ((copy: string) => Promise<void>),
): Promise<StateCopy | null> {
  // All copies use the same file at first: a second one would replace it before it is moved.
  const lock = await lockDataDirectory(dataDir, {
    name: 'copy',
    taken: `Another command copies the views in ${dataDir}, a backup or a rebuild: let it end, and try again.`,
  });
  try {
    const directory = shardDirectory(dataDir, epoch, shard);
    const copy = await copyInPlace(connection, dataDir, { epoch, shard }, directory);
    if (copy === null) return null;
    const file = join(directory, COPY_FILE);
    if (typeof to === 'string') {
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
      move(file, to);
      return copy;
    }
    try {
      await to(file);
    } finally {
      rmSync(file, { force: true });
    }
    return copy;
  } finally {
    lock.release();
  }
}

async function copyInPlace(
  connection: StreamConnection,
  dataDir: string,
  { epoch, shard }: { readonly epoch: number; readonly shard: number },
  directory: string,
): Promise<StateCopy | null> {
  const subject = copySubject(viewsId(dataDir), epoch, shard);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await requestAnswer(connection, subject, COPY_MS);
    if (answer !== null) return answer as StateCopy;
    try {
      return await copyClosedState(directory);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.file !== 'held') throw error;
      if (attempt === ATTEMPTS) {
        throw new SetupError(
          `The views of shard ${shard} are open in a process that does not answer. Stop it, or try again.`,
          { cause: error },
        );
      }
      await sleep(PAUSE_MS);
    }
  }
}

/** Moves a file, also to another disk. */
function move(from: string, to: string): void {
  if (!existsSync(from))
    throw new SetupError(`${from} is missing: does this DATA_DIR belong to the service?`);
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyFileSync(from, to);
    rmSync(from);
  }
}
