/**
 * The id of a data directory's views. It is created once, however many workers start together.
 *
 * Test: test/worker/workers.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';

/**
 * The id of the views; created if missing. Workers with the same id share the shards.
 *
 * @throws SetupError when the file is damaged
 */
export function viewsId(dataDir: string): string {
  const directory = join(dataDir, 'views');
  const file = join(directory, 'ID');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) {
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, randomUUID(), { mode: 0o600 });
    try {
      // A link fails when another worker was first; a rename would not.
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
