/** The short form of the fault `memory`: `npm run faults -- memory`. */
import { deepEqual, ok } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readManifest } from '../../src/store/published/manifest.ts';
import { VIEWS } from '../support/fold.ts';
import { AT, LoopFixture, request } from '../support/worker-loop.ts';

/** In proportion to the rows, as much as a worker has for six million users. */
const MEMORY_BYTES = 24e6;
const ENTRIES = 8;
const USERS = 3000;

describe('more users than fit into the memory', () => {
  let loop: LoopFixture;
  before(async () => {
    loop = await LoopFixture.open({ memoryBytes: MEMORY_BYTES, views: VIEWS });
  });
  after(() => loop.close());

  it('are counted, and no entry is set aside', async () => {
    const entries = Array.from({ length: ENTRIES }, (_, entry) => [
      {
        ...request({ request: entry + 1, contents: [] }),
        messages: Array.from({ length: USERS }, (__, user) => ({
          content: 'thanks',
          role: 'user',
          userId: `user ${entry * USERS + user}`,
          at: AT + entry * 1e6 + user,
        })),
      },
    ]);
    await loop.work(entries, { perBatch: 2 });
    const { store, publication } = loop.fixture;
    await publication.settle();
    await store.withMemory(() => publication.publish(), { raise: true });
    const users = ENTRIES * USERS;
    deepEqual(await loop.totals(), [{ sessions: ENTRIES, users, messages: users }]);
    deepEqual([loop.aside, [...loop.notes.noted]], [[], []]);
    const rows = readManifest(loop.fixture.directory)?.tables['end_user_rollup'];
    ok(
      rows?.some(({ file }) => file.startsWith('merged')),
      JSON.stringify(rows),
    );
  });
});
