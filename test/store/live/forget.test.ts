import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deepEqual, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { quoted, withDatabase } from '../../../src/store/duckdb.ts';
import { forgetIn, type Forgotten } from '../../../src/store/live/forget.ts';
import { openFixture, temporaryDirectory, uuid, VIEWS } from '../../support/fold.ts';
import { forgotten, forgettingLaw, rowsWithout } from '../../support/forgetting.ts';
import { history, readHistory } from '../../support/histories.ts';
import { holds, runsOf } from '../../support/laws.ts';
import { foldLive } from '../../support/view-laws.ts';

const END_OF_TIME = Date.UTC(2100, 0) * 1000;

describe('forgetting', () => {
  it('leaves the rows of a history in which what went was never said, in random cases', (test) =>
    holds(test, forgettingLaw(VIEWS), runsOf(1)));

  it('leaves attributes of sessions whose metadata stays alone', async () => {
    const [steps] = fc.sample(history('any'), { seed: 7, numRuns: 1 });
    const fixture = await openFixture({ views: VIEWS });
    await foldLive(fixture, readHistory(steps!).batches, VIEWS);
    const attributesWith = async (parts: Partial<Forgotten>): Promise<readonly unknown[]> => {
      const all = [1, 2].map((instance) => forgotten(instance, parts));
      return (await rowsWithout(fixture.directory, all, VIEWS))['session_attribute'] ?? [];
    };
    const { sequence } = fixture.store;
    await fixture.restart(async () => {
      const before = sequence * 2 ** 20;
      ok((await attributesWith({})).length > 0);
      deepEqual(await attributesWith({ peopleBefore: END_OF_TIME }), []);
      deepEqual(await attributesWith({ whole: { before, isSession: () => true, isInstance: false } }), []);
    });
    await fixture.close();
  });

  it('leaves out an instance of which an entry is deferred, and touches none without old messages', async () => {
    const [steps] = fc.sample(history('any'), { seed: 7, numRuns: 1 });
    const fixture = await openFixture({ views: VIEWS });
    const folder = temporaryDirectory();
    const copy = join(folder.path, 'state.duckdb');
    await foldLive(fixture, readHistory(steps!).batches, VIEWS);
    await fixture.restart(() => {
      copyFileSync(join(fixture.directory, 'state.duckdb'), copy);
      return Promise.resolve();
    });
    await fixture.close();
    const messages = (): Promise<readonly unknown[]> =>
      withDatabase({ threads: 1 }, async (connection) => {
        await connection.run(`attach ${quoted(copy)} as st`);
        const counts = 'select instance, count(*) as messages from st.message group by all order by all';
        return connection.all(counts);
      });
    const before = await messages();
    await withDatabase({ threads: 1 }, (connection) =>
      connection.run(
        `attach ${quoted(copy)} as st; insert into st.deferred values ('${uuid(1, 1)}', 1, 0, 0, 0, 'p'); detach st`,
      ),
    );
    const aged = (instance: number, countsBefore: number) =>
      forgotten(instance, { waitsFor: true, countsBefore });
    const { counts } = await forgetIn(copy, [aged(1, END_OF_TIME), aged(2, 0)]);
    deepEqual(counts, ['DEFERRED', { messages: 0, sessions: 0, texts: 0, people: 0, names: 0 }]);
    deepEqual(await messages(), before);
    const [first, second] = (await forgetIn(copy, [aged(1, END_OF_TIME), aged(2, END_OF_TIME)])).counts;
    deepEqual(first, 'DEFERRED');
    ok(second !== null && second !== 'DEFERRED' && second!.messages > 0);
    folder.remove();
  });
});
