import { after, describe, it } from 'node:test';
import { deepEqual, rejects } from 'node:assert/strict';
import { mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { quoted, withDatabase } from '../../../src/store/duckdb.ts';
import { readDefinition } from '../../../src/store/epochs/definition.ts';
import { forgetIn, type Forgotten } from '../../../src/store/live/forget.ts';
import { keepInstances } from '../../../src/store/live/keep-instances.ts';
import { copyClosedState } from '../../../src/store/live/state-copy.ts';
import { openStateDatabase } from '../../../src/store/live/state-database.ts';
import { temporaryDirectory } from '../../support/fold.ts';

describe('the database of a shard', { skip: process.platform !== 'linux' }, () => {
  const temporary = temporaryDirectory();
  after(() => temporary.remove());

  const openFiles = (directory: string): string[] =>
    readdirSync('/proc/self/fd').flatMap((descriptor) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${descriptor}`);
        return path.startsWith(directory) ? [path] : [];
      } catch {
        // The descriptor of the listing itself.
        return [];
      }
    });

  const works: Readonly<Record<string, (directory: string) => Promise<unknown>>> = {
    forgetIn: (directory) =>
      forgetIn(join(directory, 'state.duckdb'), [{ instanceId: 'x' } as Partial<Forgotten> as Forgotten]),
    keepInstances: (directory) => keepInstances(join(directory, 'state.duckdb'), new Set(['x'])),
    copyClosedState,
    openStateDatabase: (directory) => openStateDatabase({ directory, views: [], analysis: 'x', threads: 1 }),
  };
  for (const [name, work] of Object.entries(works))
    it(`is closed when ${name} fails`, async () => {
      const directory = join(temporary.path, name);
      mkdirSync(directory);
      await withDatabase({ threads: 1 }, (connection) =>
        connection.run(
          `attach ${quoted(join(directory, 'state.duckdb'))} as other;
           create table other.meta (nothing integer);
           detach other`,
        ),
      );
      deepEqual(openFiles(directory), []);
      await rejects(work(directory));
      deepEqual(openFiles(directory), []);
    });

  it('is closed when its definition cannot be read', async () => {
    const directory = join(temporary.path, 'definition');
    mkdirSync(directory);
    await withDatabase({ threads: 1 }, (connection) =>
      connection.run(`attach ${quoted(join(directory, 'state.duckdb'))} as other; detach other`),
    );
    deepEqual(await readDefinition(directory), null);
    deepEqual(openFiles(directory), []);
  });
});
