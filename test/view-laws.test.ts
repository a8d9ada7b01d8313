import { describe, it } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import fc from 'fast-check';
import { bucketStart } from '../src/domain/time.ts';
import { openDatabase } from '../src/store/duckdb.ts';
import { VIEWS } from './support/fold.ts';
import { holds, keptCases, runsOf, shortCases, type Law } from './support/laws.ts';
import { sinkLaw } from './support/sink-law.ts';
import { plainCountLaw, replayLaw } from './support/view-laws.ts';
import { deliveryLaw } from './support/worker-laws.ts';

/**
 * What must hold of the views whatever the messages are. `npm run laws` is the long form (20 to 45 minutes);
 * `VIEW_LAW_RUNS` says how many cases, `VIEW_LAW_SEED` which ones, `VIEW_LAW_PATH` which one of them. Shrunk failures
 * are kept in test/fixtures/view-laws/ and come first: in the short form every other one; histories that it leaves out
 * test/store/live/refold.test.ts has.
 */
describe('laws of the views', { concurrency: 2 }, () => {
  function law<Case>(what: string, share: number, of: Law<Case>): void {
    describe(what, { concurrency: 1 }, () => {
      for (const { name, given } of shortCases(keptCases(of))) it(name, () => of.check(given));
      it('for random cases', (test) => holds(test, of, runsOf(share)));
    });
  }

  law(
    'every question has the answer of a plain count over all messages, and pages never overlap or miss',
    0.4,
    plainCountLaw(VIEWS),
  );
  law(
    'batches, restarts, publications and merges end in the rows of a replay in one go',
    0.3,
    replayLaw('stream', VIEWS),
  );
  law('the order in which facts arrive makes no difference', 0.2, replayLaw('any', VIEWS));
  law(
    'what is delivered again changes nothing, in any batches, restarts and number of shards',
    0.1,
    deliveryLaw(VIEWS),
  );

  law('what a sink leaves is what queries say, and only what changed is written again', 0.1, sinkLaw(VIEWS));

  it('the start of a bucket in the views is the start of a bucket in TypeScript', async () => {
    const database = await openDatabase({ threads: 1 });
    const connection = await database.connect();
    const instants = fc.tuple(
      fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }),
      fc.constantFrom('HOUR' as const, 'DAY' as const, 'WEEK' as const, 'MONTH' as const),
    );
    const cases = fc.sample(instants, 200);
    const starts = cases.map(
      ([second, granularity]) =>
        `date_trunc('${granularity.toLowerCase()}', make_timestamp(${second} * 1000000::bigint))::timestamp`,
    );
    const rows = await connection.all(`select unnest([${starts.join()}]) as start`);
    deepEqual(
      rows.map(({ start }, place) => [...cases[place]!, start]),
      cases.map(([second, granularity]) => [second, granularity, bucketStart(granularity, second * 1e6)]),
    );
    connection.close();
    database.close();
  });
});
