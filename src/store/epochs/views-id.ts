/** Covered by test/worker/workers.test.ts. */
import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';

/** Names the views of a data directory; made once. Workers of the same views share their shards. */
export function viewsId(dataDir: string): string {
  const directory = join(dataDir, 'views');
  const file = join(directory, 'ID');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, randomUUID(), { mode: 0o600 });
    try {
      // Unlike a rename it fails when another worker was first.
      linkSync(temporary, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(temporary, { force: true });
    }
  }
  const id = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f-]{36}$/.test(id))
    throw new SetupError(
      `${file} is damaged. Stop all workers and delete it: the next start makes a new one.`,
    );
  return id;
}
