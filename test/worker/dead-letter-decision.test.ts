import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { DatabaseError } from '../../src/store/duckdb.ts';
import type { Batch } from '../../src/store/live/batch.ts';
import { LeaseLostError } from '../../src/stream/kv/lease.ts';
import { AnalysisPool, type ShardAnalysis } from '../../src/reader/threads/pool.ts';
import { AnalysisFailure } from '../../src/reader/threads/stages.ts';
import { RecordError } from '../../src/worker/batch.ts';
import { causeOf, SurroundingsError, TooMuchState } from '../../src/worker/dead-letter-decision.ts';
import { openFixture, temporaryDirectory, uuid, VIEWS } from '../support/fold.ts';
import { sampled } from '../support/long.ts';
import { dialogues, LoopFixture, request, rows } from '../support/worker-loop.ts';

describe('worker loop among faults', () => {
  let loop: LoopFixture;
  beforeEach(async () => {
    loop = await LoopFixture.open();
  });
  afterEach(() => loop.close());

  it('dead-letters what is no record, and goes on', async () => {
    await loop.work([dialogues[0] as RecordedRequest[], 'no record', dialogues[1] as RecordedRequest[]]);
    deepEqual(await loop.totals(), [{ sessions: 2, users: 2, messages: 6 }]);
    deepEqual(loop.aside, [{ sequence: 2, reason: 'not a record' }]);
    equal(loop.fixture.store.sequence, 3);
  });

  it('dead-letters a request that cannot be processed, and counts its neighbours, in its entry too', async () => {
    const stranger = { ...request({ request: 50, contents: ['hello'] }), instanceId: 'no UUID' };
    await loop.work([
      dialogues[0] as RecordedRequest[],
      [stranger],
      [stranger, ...(dialogues[2] as RecordedRequest[])],
    ]);
    deepEqual(await loop.totals(), [{ sessions: 2, users: 2, messages: 6 }]);
    deepEqual(
      loop.aside.map((entry) => entry.sequence),
      [2, 3],
    );
    equal(loop.fixture.store.sequence, 3);
  });

  it('counts a message that cannot be enriched without findings, and notes it', async () => {
    const poison = request({ request: 51, contents: ['poison for enrich', 'on its way', 'thanks'] });
    await loop.work([dialogues[0] as RecordedRequest[], [...(dialogues[1] as RecordedRequest[]), poison]]);
    deepEqual(await loop.totals(), [{ sessions: 3, users: 3, messages: 9 }]);
    deepEqual([loop.aside, ...loop.notes.noted], [[], [`${uuid(8, 51)} 0`, 'cannot be enriched']]);
  });

  describe('with messages at which the analysis hangs', () => {
    const outOfTime = 'its analysis took more than 0.2 s of processor time';
    const entries = [
      ...dialogues.slice(0, 2),
      [
        request({ request: 60, session: 1, contents: ['where is my parcel', 'on its way', 'please HANG'] }),
        ...(dialogues[2] as RecordedRequest[]),
      ],
      [request({ request: 61, session: 9, contents: ['where is my parcel', 'on its way', 'HANG LATER'] })],
      ...dialogues.slice(3),
    ];
    /** What the same stream says without the texts: nothing is found in them. */
    const known = [`${uuid(8, 60)} 2`, `${uuid(8, 61)} 2`] as const;
    let pool: AnalysisPool;

    async function open(textMs: number): Promise<ShardAnalysis> {
      const script = join(import.meta.dirname, '../support/hanging-analysis.ts');
      const patience = { textMs, lookEveryMs: 40 };
      pool = await AnalysisPool.open({ threads: 1, model: '', modelsDirectory: '', script, patience });
      return pool.forShard(0);
    }
    afterEach(() => pool.close());

    it('counts them without findings, and notes them first', async () => {
      const whole = await LoopFixture.open({ views: VIEWS });
      const counters = await whole.work(entries, { analysis: await open(200) });
      deepEqual(whole.aside, []);
      deepEqual(
        [...whole.notes.noted],
        known.map((name) => [name, outOfTime]),
      );
      equal(counters.analysisTimeouts, 2);
      deepEqual(await whole.totals(), [{ sessions: 6, users: 3, messages: 42 }]);

      // By a clock that allows anything: what is noted is not analysed again.
      const again = temporaryDirectory();
      const fold = await openFixture({ directory: again.path });
      await pool.close();
      await whole.work(entries, { fold, analysis: await open(1e9), perBatch: 3 });
      deepEqual(await rows(fold), await rows(whole.fixture));
      await fold.close();
      await whole.close();
      again.remove();
    });

    it('goes by the note when it ended between note and commit', async () => {
      const guard = (): Promise<void> =>
        loop.notes.noted.size === 2
          ? Promise.reject(new Error('the lease is lost (another worker)'))
          : Promise.resolve();
      await rejects(loop.work(entries, { analysis: await open(200), guard }), /lease is lost/);
      equal(loop.fixture.store.sequence, 0);
      await pool.close();
      await loop.work(entries, { analysis: await open(1e9) });
      deepEqual(await loop.totals(), [{ sessions: 6, users: 3, messages: 42 }]);
      deepEqual([...loop.notes.noted.keys()], known);
    });
  });

  it('counts a record for which the usual memory does not suffice', async () => {
    const small = await LoopFixture.open({ memoryBytes: 24e6, views: VIEWS });
    const huge = {
      ...request({ request: 50, contents: ['hello'] }),
      metadata: { session: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n, 'x'.repeat(1e6)])) },
    };
    await small.work([...dialogues, [huge, request({ request: 51, contents: ['thanks'] })], ...dialogues]);
    deepEqual(await small.totals(), [{ sessions: 7, users: 3, messages: 38 }]);
    deepEqual(small.aside, []);
    equal(small.fixture.publication.sequence, 25);
    await small.close();
  });

  describe('with too little memory', () => {
    const short = new DatabaseError(
      new Error('Out of Memory Error: failed to allocate data of size 16.0 MiB'),
    );

    it('applies in smaller parts what does not fit, and dead-letters nothing', async () => {
      const sizes: number[] = [];
      const sabotage = ({ requests }: Batch): void => {
        sizes.push(requests.length);
        if (requests.length > 3) throw short;
      };
      await loop.work(dialogues, { sabotage });
      // Once more with the same in a database that was opened anew, then in halves.
      deepEqual(sizes, [12, 12, 6, 3, 3, 6, 6, 3, 3]);
      deepEqual(await loop.totals(), [{ sessions: 5, users: 3, messages: 36 }]);
      deepEqual([loop.aside, [...loop.notes.noted]], [[], []]);
    });

    it('ends with an entry that does not fit alone, however often, and counts it when it does', async () => {
      const huge = request({ request: 50, contents: ['hello'] });
      const entries = [...dialogues, [huge, request({ request: 51, contents: ['thanks'] })], [huge]];
      let isShort = true;
      const sabotage = ({ requests }: Batch): void => {
        if (isShort && requests.some(({ id }) => id === huge.requestId)) throw short;
      };
      for (let end = 0; end < 6; end += 1) await rejects(loop.work(entries, { sabotage }), short);
      // What is before it is counted.
      deepEqual(await loop.totals(), [{ sessions: 5, users: 3, messages: 36 }]);
      isShort = false;
      await loop.work(entries, { sabotage });
      deepEqual(await loop.totals(), [{ sessions: 7, users: 3, messages: 38 }]);
      deepEqual([loop.aside, loop.marks.mark], [[], null]);
    });

    it('assigns in smaller parts what the thread has no memory for, and blames no text', async () => {
      const sizes: number[] = [];
      await loop.work(dialogues, {
        onAssign: ({ length }) => {
          sizes.push(length);
          if (length > 9) throw new AnalysisFailure('memory', 4, 'its analysis needed more than 1 MB');
        },
      });
      deepEqual(sizes, [36, 18, 9, 9, 18, 9, 9]);
      deepEqual(await loop.totals(), [{ sessions: 5, users: 3, messages: 36 }]);
      deepEqual([loop.aside, [...loop.notes.noted]], [[], []]);
    });
  });

  it('restores the states of instances in smaller parts when all are too much to have at once', async () => {
    const entriesOf = (round: number): RecordedRequest[][] =>
      Array.from({ length: 12 }, (_, number) => [
        {
          ...request({ request: round * 12 + number + 1, session: number, contents: ['thanks'] }),
          instanceId: uuid(9, number + 1),
        },
      ]);
    const entries = entriesOf(0);
    await loop.work(entries);
    // Rows of a kind that nobody reads.
    await loop.fixture.store.connection.run(
      `insert into assign_state select instance, 'more', i, ''::blob from st.instance, range(2000) r(i)`,
    );
    const sizes: number[] = [];
    entries.push(...entriesOf(1));
    await loop.work(entries, { onAssign: ({ length }) => sizes.push(length) });
    deepEqual(sizes, [6, 6]);
    deepEqual(await loop.totals(), [{ sessions: 12, users: 12, messages: 24 }]);
    deepEqual(loop.aside, []);
  });

  it('tells what a failure means', () => {
    const thrown = (message: string): DatabaseError => new DatabaseError(new Error(message));
    const table: readonly (readonly [unknown, ReturnType<typeof causeOf>])[] = [
      [new RecordError('instanceId is no UUID'), 'entries'],
      [thrown("Conversion Error: Could not convert string 'x' to UUID"), 'entries'],
      [new AnalysisFailure('time', null, 'it took too long'), 'entries'],
      [new AnalysisFailure('ended', null, 'its thread ended'), 'entries'],
      [new AnalysisFailure('memory', null, 'it needed too much'), 'surroundings'],
      [new TooMuchState(1), 'surroundings'],
      [thrown('Out of Memory Error: could not allocate block of size 256.0 KiB'), 'surroundings'],
      [thrown('Failed to append: could not allocate block of size 256.0 KiB'), 'surroundings'],
      [thrown('IO Error: Checkpoint failed for database "st": could not allocate block'), 'surroundings'],
      [thrown('IO Error: Could not write file: No space left on device'), 'surroundings'],
      [new SurroundingsError(new LeaseLostError(0)), 'surroundings'],
      [new AnalysisFailure('error', null, 'x is not a function'), 'unknown'],
      [thrown('INTERNAL Error: unreachable'), 'unknown'],
      [new TypeError('x is not a function'), 'unknown'],
    ];
    for (const [error, cause] of table) equal(causeOf(error), cause, String(error));
  });

  it('dead-letters what is nested too deeply to be written again', async () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    const nested = { ...request({ request: 50, contents: ['hello'] }), metadata: { session: { deep } } };
    await loop.work([dialogues[0] as RecordedRequest[], [nested]]);
    deepEqual(await loop.totals(), [{ sessions: 1, users: 1, messages: 3 }]);
    deepEqual(loop.aside, [
      { sequence: 2, reason: 'its metadata is nested too deeply, or too long, to be stored' },
    ]);
  });

  it('ends when the database cannot write its log into its tables, and blames no entry', async () => {
    const error = new DatabaseError(
      new Error(
        'IO Error: Transaction COMMIT succeeded and is durable, but the autocheckpoint failed. Detach and ' +
          'reattach the database to recover. ' +
          'Checkpoint failed for database "st". The database has been invalidated. Original error: could not ' +
          'allocate block of size 256.0 KiB',
      ),
    );
    let failing = true;
    const sabotage = (): void => {
      if (failing) throw error;
    };
    for (let end = 0; end < 5; end += 1) await rejects(loop.work(dialogues, { sabotage }), error);
    equal(loop.fixture.store.sequence, 0);
    failing = false;
    await loop.work(dialogues, { sabotage });
    deepEqual(await loop.totals(), [{ sessions: 5, users: 3, messages: 36 }]);
    deepEqual(loop.aside, []);
  });

  const unknown = [
    ['the database gives up', new DatabaseError(new Error('FATAL Error: the database has been invalidated'))],
    ['something unknown happens', new TypeError('x is not a function')],
  ] as const;
  for (const [what, error] of sampled(unknown, 2)) {
    it(`ends when ${what}, and dead-letters an entry at which process after process ends`, async () => {
      const fatal = request({ request: 50, contents: ['hello'] });
      const sabotage = ({ requests }: Batch): void => {
        if (requests.some(({ id }) => id === fatal.requestId)) throw error;
      };
      const entries = [...dialogues.slice(0, 7), [fatal], ...dialogues.slice(7)];
      let deaths = 0;
      for (;;) {
        try {
          await loop.work(entries, { sabotage });
          break;
        } catch (thrown) {
          equal(thrown, error);
          deepEqual(loop.aside, []);
          deaths += 1;
          ok(deaths < 10);
        }
      }
      // Once in the batch, three times alone.
      equal(deaths, 4);
      deepEqual(loop.aside, [
        {
          sequence: 8,
          reason: `the worker ended 3 times while it worked on this entry alone; the last time: ${error.message}`,
        },
      ]);
      deepEqual(await loop.totals(), [{ sessions: 5, users: 3, messages: 36 }]);
      equal(loop.marks.mark, null);
    });
  }

  it('suspects no entry when the disk is full or the shard is lost', async () => {
    const full = new DatabaseError(new Error('IO Error: Could not write file: No space left on device'));
    const sabotage = (): void => {
      throw full;
    };
    await rejects(loop.work(dialogues, { sabotage }), full);
    equal(loop.marks.mark, null);
    const guard = (): Promise<void> => Promise.reject(new LeaseLostError(0));
    await rejects(loop.work(dialogues, { guard }), LeaseLostError);
    equal(loop.marks.mark, null);
  });

  it('ends with the error when the views cannot be written, so that nothing is skipped', async () => {
    await loop.work(dialogues.slice(0, 3));
    await loop.fixture.store.connection.run('update meta set sequence = 1');
    await rejects(loop.work(dialogues), /another worker/);
    deepEqual(await loop.totals(), [{ sessions: 3, users: 3, messages: 9 }]);
  });
});
