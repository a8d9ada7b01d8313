/** That one caller with many answers, statements or exports leaves places to others. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Turns } from '../../../src/domain/turns.ts';
import { ReadingDatabase } from '../../../src/store/published/reading-database.ts';
import { SnapshotReader } from '../../../src/store/published/snapshot-reader.ts';
import { tooManyAnswers } from '../../../src/store/published/unanswerable.ts';
import { assignment, fact, type Fixture } from '../../support/fold.ts';
import { openSaid, SAID_VIEWS } from '../../support/said-views.ts';

/** Work that goes on until it is let go, and how many of it have begun. */
function blockedWork() {
  const gate = Promise.withResolvers<void>();
  const blocked = {
    begun: 0,
    work: async (): Promise<void> => {
      blocked.begun += 1;
      await gate.promise;
    },
    release: gate.resolve,
  };
  return blocked;
}

describe('a database that is read', () => {
  let database: ReadingDatabase;
  before(async () => {
    database = await ReadingDatabase.open({ threads: 1, connections: 3, connectionsPerCaller: 2 });
  });
  after(() => database.close());

  const one = (caller: string): Promise<unknown> =>
    database.run((connection) => connection.one('select 1 as x'), caller);

  it('leaves connections to others, however many statements one caller has', async () => {
    const greedy = blockedWork();
    const all = Array.from({ length: 20 }, () => database.run(greedy.work, 'greedy'));
    deepEqual(await one('other'), { x: 1 });
    deepEqual(await one('third'), { x: 1 });
    equal(greedy.begun, 2);
    greedy.release();
    await Promise.all(all);
    equal(greedy.begun, 20);
  });

  it('makes the parts of a stream by turns; who does not read on holds no connection', async () => {
    const SQL = 'select i from range(100000) t(i)';
    const streams = ['greedy', 'greedy', 'other'].map((caller) => database.stream(SQL, {}, caller));
    const first = await Promise.all(streams.map((rows) => rows.next()));
    ok(first.every(({ done }) => done !== true));
    const greedy = blockedWork();
    const all = Array.from({ length: 20 }, () => database.run(greedy.work, 'greedy'));
    let rows = first[2]?.value?.length ?? 0;
    for await (const part of streams[2] ?? []) rows += part.length;
    equal(rows, 100_000);
    deepEqual(await one('third'), { x: 1 });
    greedy.release();
    await Promise.all(all);
    for (const rest of streams) await rest.return(undefined);
  });

  it('reads no more than two streams of one caller; the next is refused, and those of others are not', async () => {
    const open = async (caller: string) => {
      const rows = database.stream('select i from range(10000) t(i)', {}, caller);
      await rows.next();
      return rows;
    };
    const opened = [await open('greedy'), await open('greedy')];
    await rejects(open('greedy'), { code: 'SERVICE_UNAVAILABLE', retryAfter: 5 });
    opened.push(await open('other'));
    await opened[0]?.return(undefined);
    opened.push(await open('greedy'));
    for (const rows of opened) await rows.return(undefined);
  });
});

describe('answers in work', () => {
  let fixture: Fixture;
  let reader: SnapshotReader;
  before(async () => {
    fixture = await openSaid();
    await fixture.fold(assignment({ messages: [fact({ position: 1 })] }));
    await fixture.publish();
    reader = await SnapshotReader.open({
      directory: () => fixture.directory,
      views: SAID_VIEWS,
      threads: 1,
      connections: 1,
      answerTurns: new Turns({
        most: 12,
        mostPerCaller: 8,
        waitingPerCaller: { most: 3, refusal: tooManyAnswers },
      }),
    });
  });
  after(async () => {
    await reader.close();
    await fixture.close();
  });

  it('take places: one caller has two long ones or some short ones, and others find places', async () => {
    const greedy = blockedWork();
    const long = Array.from({ length: 3 }, () => reader.read(greedy.work, 'greedy', 4));
    equal(await reader.read(async ({ sequence }) => sequence, 'other', 4), 1);
    equal(await reader.inTurn('third', async () => 'a part'), 'a part');
    equal(greedy.begun, 2);
    greedy.release();
    await Promise.all(long);
    const short = blockedWork();
    const many = Array.from({ length: 10 }, () => reader.read(short.work, 'busy'));
    equal(await reader.read(async ({ sequence }) => sequence, 'other'), 1);
    equal(short.begun, 8);
    short.release();
    await Promise.all(many);
  });

  it('of one caller wait up to a bound; the next one is refused, and nobody else is', async () => {
    const greedy = blockedWork();
    const long = Array.from({ length: 5 }, () => reader.read(greedy.work, 'greedy', 4));
    await rejects(reader.read(greedy.work, 'greedy', 4), { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 });
    equal(await reader.read(async ({ sequence }) => sequence, 'other'), 1);
    greedy.release();
    await Promise.all(long);
  });
});
