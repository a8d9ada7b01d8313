import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { AppError } from '../../../src/errors.ts';
import { DatabaseError } from '../../../src/store/duckdb.ts';
import { ReadingDatabase, type Reading } from '../../../src/store/published/reading-database.ts';
import { SnapshotReader, type Snapshot } from '../../../src/store/published/snapshot-reader.ts';
import { assignment, fact, type Fixture } from '../../support/fold.ts';
import { COUNT_SAID, openSaid, SAID_VIEWS } from '../../support/said-views.ts';

/** What DuckDB throws when it meets a fault of its own, and from then on. */
const FATAL =
  'INTERNAL Error: Attempted to access index 0 within vector of size 0\n\nStack Trace:\n\nduckdb()';

/** Two of these, one behind the other, make DuckDB 1.5.5 race with itself on several threads. */
const RACE = `with a as (select i as x from range(1) t(i)),
  b as (select * from a where x >= 5000 union all select * from a where not exists (select 1 from a where x >= 5000))
  select x, count() over () as total from b order by x desc limit 5`;
const RACE_MS = 10_000;

describe('a reader whose database DuckDB has invalidated', () => {
  let fixture: Fixture;
  let reader: SnapshotReader;
  /** The databases that were opened, the newest last. */
  let opened: { closed: boolean }[];
  /** Statements left until each database fails; by their order. */
  let failAfter: (number | undefined)[];
  let lost: DatabaseError[];

  beforeEach(async () => {
    fixture = await openSaid();
    await fixture.fold(assignment({ messages: [fact({ position: 1 })] }));
    await fixture.publish();
    opened = [];
    failAfter = [];
    lost = [];
    reader = await SnapshotReader.open({
      directory: () => fixture.directory,
      views: SAID_VIEWS,
      threads: 4,
      connections: 2,
      openDatabase: async (options) => {
        const real = await ReadingDatabase.open(options);
        const place = opened.length;
        const state = { closed: false };
        opened.push(state);
        const reading: Reading = {
          use: (file) => real.use(file),
          leave: (file) => real.leave(file),
          lend: (paths) => real.lend(paths),
          run: (work) =>
            real.run((connection) => {
              const left = failAfter[place];
              if (left === undefined) return work(connection);
              failAfter[place] = left - 1;
              return left > 0 ? work(connection) : Promise.reject(new DatabaseError(new Error(FATAL)));
            }),
          stream: (sql, bindings) => real.stream(sql, bindings),
          close: async () => {
            await real.close();
            state.closed = true;
          },
        };
        return reading;
      },
      onLost: (error) => lost.push(error),
    });
  });
  afterEach(async () => {
    await reader.close();
    await fixture.close();
  });

  const count = async (snapshot: Snapshot): Promise<unknown> =>
    (await snapshot.all(COUNT_SAID))[0]?.['messages'];
  const faultOf = async (work: () => Promise<unknown>): Promise<AppError> => {
    try {
      await work();
    } catch (error) {
      ok(error instanceof AppError, String(error));
      return error;
    }
    throw new Error('nothing was thrown');
  };

  it('is asked once more, of another database, and so is everybody else who asked', async () => {
    equal(await reader.read(count), 1);
    failAfter = [0];
    const answers = await Promise.all(Array.from({ length: 8 }, () => reader.read(count)));
    deepEqual(answers, [1, 1, 1, 1, 1, 1, 1, 1]);
    equal(opened.length, 2);
    equal(reader.failures, 1);
    deepEqual(
      lost.map(({ fault, message }) => [fault, message]),
      [['invalidated', FATAL.split('\n')[0]]],
    );
  });

  it('answers a question of several statements from one generation all the same', async () => {
    failAfter = [1];
    const seen: number[] = [];
    const both = await reader.read(async (snapshot) => {
      seen.push(snapshot.sequence);
      const first = await count(snapshot);
      if (seen.length === 1) {
        await fixture.fold(assignment({ messages: [fact({ position: 2 })] }));
        await fixture.publish();
      }
      return [first, await count(snapshot)];
    });
    deepEqual(seen, [1, 2]);
    deepEqual(both, [2, 2]);
  });

  it('keeps the old database until what runs in it has ended, then closes it', async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const slow = reader.read(async (snapshot) => {
      const first = await count(snapshot);
      await mayEnd;
      return first;
    });
    await reader.read(count);
    failAfter = [0];
    equal(await reader.read(count), 1);
    end();
    equal(await slow, 1);
    await reader.close();
    deepEqual(
      opened.map(({ closed }) => closed),
      [true, true],
    );
  });

  it('asks to try again when the next database fails, too, and works again after that', async () => {
    failAfter = [0, 0];
    const fault = await faultOf(() => reader.read(count));
    deepEqual([fault.code, fault.retryAfter], ['SERVICE_UNAVAILABLE', 1]);
    equal(await reader.read(count), 1);
    equal(reader.failures, 2);
  });

  it('goes on waiting for a position', async () => {
    await reader.read(count);
    const waiting = reader.waitFor(2, 60_000);
    failAfter = [0];
    await reader.read(count);
    await fixture.fold(assignment({ messages: [fact({ position: 2 })] }));
    await fixture.publish();
    equal(await waiting, true);
  });

  it('is what a real fault of DuckDB leads to', async (test) => {
    await reader.read(count);
    const deadline = performance.now() + RACE_MS;
    let broken = false;
    while (!broken && performance.now() < deadline) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, () => reader.read((snapshot) => snapshot.all(RACE))),
      );
      broken = reader.failures > 0;
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') equal((outcome.reason as AppError).code, 'SERVICE_UNAVAILABLE');
    }
    if (!broken) return test.skip('this time DuckDB did not race with itself');
    equal(await reader.read(count), 1);
    ok(lost.every(({ fault }) => fault === 'invalidated'));
  });
});

describe('a reader that cannot answer', () => {
  let fixture: Fixture;

  beforeEach(async () => {
    fixture = await openSaid();
  });
  afterEach(() => fixture.close());

  it('says so as long as nothing was published: an empty answer would be a wrong one', async () => {
    const read = (): Promise<number> => fixture.reader.read(async ({ sequence }) => sequence);
    equal(await fixture.reader.hasManifest(), false);
    const fault = await read().catch((error: unknown) => error as AppError);
    ok(fault instanceof AppError);
    deepEqual([fault.code, fault.retryAfter], ['SERVICE_UNAVAILABLE', 1]);
    // The first generation of a new service is empty, and answers.
    await fixture.publish();
    equal(await fixture.reader.hasManifest(), true);
    equal(await read(), 0);
  });

  it('says so for want of memory', async () => {
    await fixture.publish();
    const reader = await SnapshotReader.open({
      directory: () => fixture.directory,
      views: SAID_VIEWS,
      threads: 1,
      connections: 1,
      memoryBytes: 8e6,
      memoryBytesAlone: 16e6,
    });
    const fault = await reader
      .read((snapshot) => snapshot.all(`select list(i || 'some text') as texts from range(2000000) r(i)`))
      .catch((error: unknown) => error as AppError);
    ok(fault instanceof AppError);
    equal(fault.code, 'SERVICE_UNAVAILABLE');
    ok((fault.retryAfter ?? 0) > 0);
    equal(reader.failures, 0);
    await reader.close();
  });
});
