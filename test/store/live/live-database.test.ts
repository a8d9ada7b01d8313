import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { cpSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseError, isOutOfMemory } from '../../../src/store/duckdb.ts';
import { StateStore } from '../../../src/store/live/state-store.ts';
import { assignment, fact, temporaryDirectory, type Fixture } from '../../support/fold.ts';
import { openSaid, SAID_VIEWS } from '../../support/said-views.ts';

/** What this SELECT needs lies between the usual memory and four times as much, and cannot be spilled. */
const NEEDS_MORE = 'select len(list(i)) as length from range(3000000) r(i)';
const USUAL_BYTES = 40e6;

describe('the database of the state', () => {
  let fixture: Fixture;
  const turn = (position: number): Promise<void> =>
    fixture.fold(assignment({ messages: [fact({ position, session: position })] }));
  const messages = async (): Promise<unknown> =>
    (await fixture.store.connection.one('select count(*) as messages from st.said_at'))?.['messages'];

  beforeEach(async () => {
    fixture = await openSaid({ memoryBytes: USUAL_BYTES });
    await turn(1);
  });
  afterEach(() => fixture.close());

  it('is opened anew, and then given more memory, for work that had too little', async () => {
    const connections = new Set();
    const limits: unknown[] = [];
    const work = async (): Promise<unknown> => {
      const { connection } = fixture.store;
      connections.add(connection);
      limits.push((await connection.one(`select current_setting('memory_limit') as bytes`))?.['bytes']);
      return (await connection.one(NEEDS_MORE))?.['length'];
    };
    equal(await fixture.store.withMemory(work, { raise: true }), 3_000_000);
    deepEqual([connections.size, limits], [2, ['38.1 MiB', '38.1 MiB', '152.5 MiB']]);
    await turn(2);
    equal(await messages(), 2);
    limits.length = 0;
    await rejects(fixture.store.withMemory(work, { raise: false }), isOutOfMemory);
    // Opened anew before, and lowered again.
    deepEqual([connections.size, limits], [3, ['38.1 MiB', '38.1 MiB']]);
    await turn(3);
    equal(await messages(), 3);
  });

  it('is not opened anew for other faults', async () => {
    let tries = 0;
    const work = (): Promise<void> => {
      tries += 1;
      return Promise.reject(new DatabaseError(new Error('IO Error: No space left on device')));
    };
    await rejects(fixture.store.withMemory(work, { raise: true }), /No space left/);
    equal(tries, 1);
  });

  it('lets what is done beside come to its end before it is opened anew', async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const reported: string[] = [];
    const beside = fixture.store.beside(async (connection) => {
      await mayEnd;
      reported.push(
        `beside: ${String((await connection.one('select sequence from st.meta'))?.['sequence'])}`,
      );
    });
    const again = fixture.store.withMemory(
      async () => {
        reported.push('work');
        if (reported.length === 1) await fixture.store.connection.one(NEEDS_MORE);
      },
      { raise: false },
    );
    while (reported.length === 0) await new Promise(setImmediate);
    end();
    await Promise.all([beside, again]);
    deepEqual(reported, ['work', 'beside: 1', 'work']);
  });

  it('takes a commit for done when only its log could not be written into the tables', async () => {
    const { store } = fixture;
    const { connection } = store;
    const transaction = connection.transaction.bind(connection);
    connection.transaction = async (work) => {
      await transaction(work);
      throw new DatabaseError(
        new Error(
          'IO Error: Transaction COMMIT succeeded, but the autocheckpoint failed. Checkpoint failed for database "st"',
        ),
      );
    };
    await turn(2);
    equal(store.sequence, 2);
    await turn(3);
    deepEqual([store.sequence, await messages()], [3, 3]);
  });

  it('is opened with a log that is larger than the memory', async () => {
    // The log takes more than this and less than what a second try may take.
    const MEMORY_BYTES = 3e6;
    const { path, remove } = temporaryDirectory();
    const large = await openSaid();
    const value = new Uint8Array(1000);
    for (const batch of [1, 2, 3]) {
      const keys = Array.from({ length: 5000 }, (_, place) => batch * 5000 + place);
      const state = keys.map((key) => ({ instance: 1, kind: 'micro', key, value }));
      await large.fold(assignment({ messages: keys.map((position) => fact({ position })) }), state);
    }
    ok(statSync(join(large.directory, 'state.duckdb.wal')).size > MEMORY_BYTES);
    for (const file of ['state.duckdb', 'state.duckdb.wal'])
      cpSync(join(large.directory, file), join(path, file));
    await large.close();
    const store = await StateStore.open({
      directory: path,
      views: SAID_VIEWS,
      analysis: 'test',
      threads: 1,
      memoryBytes: MEMORY_BYTES,
      spillDirectory: join(path, 'spill'),
    });
    equal(store.sequence, 3);
    for (const table of ['said_at', 'assign_state'])
      deepEqual(await store.connection.one(`select count(*) as rows from st.${table}`), { rows: 15_000 });
    await store.close();
    remove();
  });
});
