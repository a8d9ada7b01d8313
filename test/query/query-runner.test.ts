import { describe, it } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { AppError } from '../../src/errors.ts';
import { PIECE } from '../../src/domain/give-way.ts';
import { Turns } from '../../src/domain/turns.ts';
import { parseQueryParameters } from '../../src/query/parameters.ts';
import { LONG_ANSWER } from '../../src/query/places.ts';
import { PositionWaits } from '../../src/query/position-waits.ts';
import { QueryRunner } from '../../src/query/query-runner.ts';
import type { Row } from '../../src/store/duckdb.ts';
import type { Snapshot, SnapshotReader } from '../../src/store/published/snapshot-reader.ts';
import { uuid, VIEWS } from '../support/fold.ts';
import { watchRounds, type Rounds } from '../support/rounds.ts';

/** A snapshot that answers every statement with these rows, some at a time where it is streamed. */
function snapshotOf(rows: readonly Row[]): Snapshot {
  return {
    sequence: 1,
    behind: new Set(),
    all: async () => [...rows],
    async *stream() {
      for (let from = 0; from < rows.length; from += 2048) yield rows.slice(from, from + 2048);
    },
    writeParquet: () => Promise.reject(new Error('nothing is written')),
    rowsPerDay: () => 0,
    held: async () => null,
    cached: (_name, _tables, read) => read(),
    release: () => undefined,
  };
}

describe('long answers', () => {
  const COUNT = 20 * PIECE;
  const counts = { messages: 2, sat: 0, dsat: 0, repeated_requests: 0, first_at: 0, last_at: 1 };
  /** Counts the rows that become elements. */
  const rowsOf = (rounds: Rounds): Row[] =>
    Array.from({ length: COUNT }, (_, number) => ({
      get id() {
        rounds.count();
        return uuid(3, number);
      },
      instance: 1,
      processed_at: 0,
      number,
      session: number,
      total: COUNT,
      ...counts,
    }));
  const parameters = parseQueryParameters({
    instanceId: uuid(1, 1),
    groupBy: 'SESSION',
    fields: 'messages,netSat',
    limit: '10000',
  });
  const runnerOf = (snapshot: Snapshot, answerTurns = new Turns({ most: 4 })): QueryRunner => {
    const inTurn: SnapshotReader['inTurn'] = (caller, work, places) => answerTurns.run(caller, work, places);
    return new QueryRunner({
      views: VIEWS,
      readerOf: () => ({
        read: (work, caller = '', places) => inTurn(caller, () => work(snapshot), places),
        snapshot: async () => snapshot,
        inTurn,
        waitFor: async () => true,
      }),
    });
  };

  it('are put together a piece at a time', async () => {
    const rounds = watchRounds();
    const { elements } = await runnerOf(snapshotOf(rowsOf(rounds))).run(parameters);
    rounds.stop();
    equal(elements.length, COUNT);
    deepEqual(elements.at(-1), {
      dimensions: { session: { id: uuid(3, COUNT - 1) } },
      fields: { messages: 2, netSat: 0 },
    });
    ok(rounds.most <= PIECE, `${rounds.most} elements in one round`);
  });

  it('as files have a turn for each part, and none while their reader waits', async () => {
    const rounds = watchRounds();
    const runner = runnerOf(snapshotOf(rowsOf(rounds)));
    rounds.stop();
    const slow = runner.stream(parameters, 'slow');
    ok(((await slow.next()).value?.length ?? 0) > 0);
    equal((await runner.run(parameters, 'other')).elements.length, COUNT);
    let left = 0;
    for await (const part of runner.stream(parameters, 'third')) left += part.length;
    equal(left, COUNT);
    await slow.return(undefined);
  });

  it('take more places than short ones', async () => {
    const taken: (number | undefined)[] = [];
    const snapshot = snapshotOf([]);
    const runner = new QueryRunner({
      views: VIEWS,
      readerOf: () => ({
        read: (work, _caller, places) => {
          taken.push(places);
          return work(snapshot);
        },
        snapshot: async () => snapshot,
        inTurn: (_caller, work, places) => {
          taken.push(places);
          return work();
        },
        waitFor: async () => true,
      }),
    });
    for (const limit of [50, 1000, 1001, 10_000]) await runner.run({ ...parameters, limit });
    for await (const _ of runner.stream(parameters));
    deepEqual(taken, [1, 1, LONG_ANSWER, LONG_ANSWER, LONG_ANSWER]);
  });
});

describe('queries that wait for a position', () => {
  const notRead = (): Promise<never> => Promise.reject(new Error('nothing is read'));

  it('are a few hundred at most; the next must come again, and one that need not wait is let through', async () => {
    const { promise: reaching, resolve: reach } = Promise.withResolvers<boolean>();
    const runner = new QueryRunner({
      views: VIEWS,
      waits: new PositionWaits({ most: 4, isIssued: async () => true }),
      readerOf: () => ({
        read: notRead,
        snapshot: notRead,
        inTurn: notRead,
        waitFor: async (position, timeoutMs) => (position <= 1 ? true : timeoutMs > 0 && reaching),
      }),
    });
    const waiting = [runner.waitFor(uuid(1, 1), 2, 5000), runner.waitFor(uuid(1, 2), 2, 5000)];
    // Both have looked once by now.
    await new Promise((resolve) => setImmediate(resolve));
    const fault = await runner.waitFor(uuid(1, 1), 2, 5000).catch((error: unknown) => error);
    ok(fault instanceof AppError);
    deepEqual([fault.code, fault.retryAfter], ['SERVICE_UNAVAILABLE', 1]);
    equal(await runner.waitFor(uuid(1, 1), 1, 5000), true);
    reach(true);
    deepEqual(await Promise.all(waiting), [true, true]);
    equal(await runner.waitFor(uuid(1, 1), 2, 5000), true);
  });
});
