import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { Assigner } from '../../src/assign/assigner.ts';
import type { Enrichment } from '../../src/domain/facts.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { silentLogger } from '../../src/logger.ts';
import { DatabaseError } from '../../src/store/duckdb.ts';
import type { Batch, StateStore } from '../../src/store/state-store.ts';
import { LeaseLostError } from '../../src/stream/lease.ts';
import { AnalysisPool, type ShardAnalysis } from '../../src/worker/analysis-pool.ts';
import type { WorkCounters } from '../../src/worker/counters.ts';
import { WorkerLoop } from '../../src/worker/loop.ts';
import type { EnrichStage, Unanalysed } from '../../src/worker/stages.ts';
import { MarksInMemory, NotesInMemory } from '../support/notes.ts';
import { openFixture, temporaryDirectory, uuid, type Fixture } from '../support/fold.ts';

const DIMENSIONS = 16;
const AT = Date.UTC(2026, 0, 1) * 1000;
const INSTANCE = uuid(9, 1);

/** One axis for each of a few words; enough for equal texts to be equal and others not. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const letter of text) vector[(letter.codePointAt(0) ?? 0) % DIMENSIONS]! += 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const enricher: EnrichStage = {
  enrich: (messages) =>
    Promise.resolve(
      messages.map(({ role, content }): Enrichment | Unanalysed => {
        if (content === 'poison for enrich') return { unanalysed: 'cannot be enriched' };
        const request = role === 'user' && content !== 'thanks';
        return {
          kind: request ? 'request' : role === 'user' ? 'reply' : 'none',
          request: request ? content : '',
          vector: request ? vectorOf(content) : null,
          signals: content === 'thanks' ? ['gratitude'] : [],
          gap: null,
        };
      }),
    ),
};

interface Given {
  readonly request: number;
  readonly session?: number;
  readonly contents: readonly string[];
}

function request({ request: number, session = number, contents }: Given): RecordedRequest {
  return {
    requestId: uuid(8, number),
    projectId: uuid(0, 1),
    instanceId: INSTANCE,
    sessionId: uuid(7, session),
    acceptedAt: AT,
    messages: contents.map((content, index) => ({
      content,
      role: index % 2 === 0 ? 'user' : 'assistant',
      userId: `user ${session % 3}`,
      at: AT + number * 1e6 + index,
    })),
  };
}

/** The store, of which a commit may be made to fail. */
function sabotaged(store: StateStore, sabotage: (batch: Batch) => void = () => undefined): StateStore {
  return new Proxy(store, {
    get: (target, name): unknown => {
      if (name === 'commit')
        return async (batch: Batch, how?: { rehearsal?: boolean }) => {
          sabotage(batch);
          await target.commit(batch, how);
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

describe('worker loop', () => {
  let directory: { path: string; remove: () => void };
  let fixture: Fixture;
  let aside: { sequence: number; reason: string }[];
  let notes: NotesInMemory;
  let marks: MarksInMemory;

  beforeEach(async () => {
    directory = temporaryDirectory();
    fixture = await openFixture({ directory: directory.path });
    aside = [];
    notes = new NotesInMemory();
    marks = new MarksInMemory();
  });
  afterEach(async () => {
    await fixture.close();
    directory.remove();
  });

  /** Runs a loop over entries behind the store's position, `perBatch` at a time, until they are applied. */
  async function work(
    entries: readonly (readonly RecordedRequest[] | 'no record')[],
    options: {
      perBatch?: number;
      fold?: Fixture;
      analysis?: ShardAnalysis;
      guard?: () => Promise<void>;
      /** Throws in place of a commit. */
      sabotage?: (batch: Batch) => void;
    } = {},
  ): Promise<WorkCounters> {
    const { store: whole, publication } = options.fold ?? fixture;
    const store = sabotaged(whole, options.sabotage);
    let next = store.sequence;
    const loop: WorkerLoop = new WorkerLoop({
      source: {
        next: ({ maxMessages }) => {
          const size = Math.min(options.perBatch ?? 100, maxMessages);
          const batch = entries.slice(next, next + size).map((_, index) => ({
            sequence: next + index + 1,
            subject: 's',
            timestamp: next + index + 1,
            bytes: new Uint8Array([next + index]),
          }));
          next += batch.length;
          if (batch.length === 0) loop.stop();
          return Promise.resolve(batch);
        },
      },
      decode: (bytes) => {
        const entry = entries[bytes[0] as number];
        if (entry === undefined || entry === 'no record') throw new Error('not a record');
        return entry;
      },
      enricher: options.analysis ?? enricher,
      store,
      publication,
      assigner:
        options.analysis ??
        new Assigner({
          thresholds: { micro: 0.9, topic: 0.8, cluster: 0.5, repeated: 0.95 },
          dimensions: DIMENSIONS,
          detectLanguage: () => null,
        }),
      ...(options.guard === undefined ? {} : { guard: options.guard }),
      setAside: ({ sequence }, reason) => {
        aside.push({ sequence, reason });
        return Promise.resolve();
      },
      notes,
      marks,
      logger: silentLogger(),
      now: () => AT,
      maxEntries: 100,
      maxBytes: 1e9,
      waitMs: 0,
      publishEveryMs: 0,
    });
    await loop.run();
    return loop.counters;
  }

  async function totals(of: Fixture = fixture): Promise<unknown> {
    const snapshot = await of.reader.snapshot();
    try {
      return await snapshot?.all(`select
        (select count(*) from @session_rollup[granularity = 4]) as sessions,
        (select count(*) from @end_user_rollup[granularity = 4]) as users,
        (select sum(messages) from @session_rollup[granularity = 4]) as messages`);
    } finally {
      snapshot?.release();
    }
  }

  const dialogues = Array.from({ length: 12 }, (_, number) => [
    request({
      request: number + 1,
      session: (number % 5) + 1,
      contents: [`where is parcel ${number % 3}`, 'on its way', 'thanks'],
    }),
  ]);

  it('counts every message of every entry, and shows it when it is done', async () => {
    await work(dialogues);
    deepEqual(await totals(), [{ sessions: 5, users: 3, messages: 36 }]);
    equal(fixture.publication.sequence, 12);
  });

  it('counts what it did', async () => {
    const broken = { ...request({ request: 50, contents: ['hello'] }), instanceId: 'no UUID' };
    const counters = await work([...dialogues, [broken], ...dialogues.slice(3, 6)], { perBatch: 4 });
    deepEqual(counters, {
      sequence: 16,
      appliedEntryAt: 16,
      batches: 6,
      messages: 36,
      entriesSetAside: 1,
      analysisTimeouts: 0,
      lastProgressAt: AT,
    });
  });

  it('applies a request once, however often it is in the stream', async () => {
    await work([
      ...dialogues,
      ...dialogues.slice(3, 6),
      [...(dialogues[0] as RecordedRequest[]), request({ request: 99, contents: ['hello there'] })],
    ]);
    deepEqual(await totals(), [{ sessions: 6, users: 3, messages: 37 }]);
  });

  it('knows a request again however its id is written', async () => {
    const plain = request({ request: 1, contents: ['hello'] });
    await work([[plain], [{ ...plain, requestId: plain.requestId.replaceAll('-', '').toUpperCase() }]], {
      perBatch: 1,
    });
    deepEqual(await totals(), [{ sessions: 1, users: 1, messages: 1 }]);
  });

  const tables = [
    'message_fact',
    'hour_fact',
    'entity_rollup',
    'session_rollup',
    'end_user_rollup',
    'session',
    'end_user',
    'topic',
    'micro',
    'signal',
    'cluster',
    'repeated_request',
  ];
  async function rows(of: Fixture): Promise<unknown[]> {
    const result = [];
    for (const table of tables) {
      const gone =
        table === 'message_fact'
          ? 'where not gone'
          : table === 'hour_fact' || table === 'entity_rollup'
            ? 'where messages > 0'
            : '';
      result.push(
        await of.store.connection.all(
          `select * exclude (seq ${table === 'message_fact' ? ', gone, revised' : ''}) from ${table} ${gone} order by all`,
        ),
      );
    }
    return result;
  }

  it('ends in the same rows whatever the batches and wherever it was restarted', async () => {
    await work(dialogues);
    const whole = await rows(fixture);
    const other = temporaryDirectory();
    for (const until of [2, 3, 7, 12]) {
      const fold = await openFixture({ directory: other.path });
      await work(dialogues.slice(0, until), { perBatch: 2, fold });
      if (until === 12) deepEqual(await rows(fold), whole);
      await fold.close();
    }
    other.remove();
  });

  it('keeps sessions of several instances apart that bear the same id', async () => {
    const [first, second] = [1, 2].map((instance) => ({
      ...request({ request: instance, session: 1, contents: ['where is my parcel', 'on its way'] }),
      instanceId: uuid(9, instance),
    })) as [RecordedRequest, RecordedRequest];
    const again = { ...second, requestId: uuid(8, 3) };
    // In one entry, in entries of one batch, and by a worker that reads the ids back from its database.
    await work([[first, second]]);
    await fixture.restart();
    await work([[first, second], [again], [{ ...first, requestId: uuid(8, 4) }]]);
    deepEqual(aside, []);
    const sessions = `select instance, messages from session_rollup where granularity = 4 order by instance`;
    deepEqual(await fixture.store.connection.all(sessions), [
      { instance: 1, messages: 4 },
      { instance: 2, messages: 4 },
    ]);
  });

  it('sets aside what is no record, and goes on', async () => {
    await work([dialogues[0] as RecordedRequest[], 'no record', dialogues[1] as RecordedRequest[]]);
    deepEqual(await totals(), [{ sessions: 2, users: 2, messages: 6 }]);
    deepEqual(aside, [{ sequence: 2, reason: 'not a record' }]);
    equal(fixture.store.sequence, 3);
  });

  it('sets aside a request that cannot be processed, and counts its neighbours, in its entry too', async () => {
    const stranger = { ...request({ request: 50, contents: ['hello'] }), instanceId: 'no UUID' };
    await work([
      dialogues[0] as RecordedRequest[],
      [stranger],
      [stranger, ...(dialogues[2] as RecordedRequest[])],
    ]);
    deepEqual(await totals(), [{ sessions: 2, users: 2, messages: 6 }]);
    deepEqual(
      aside.map((entry) => entry.sequence),
      [2, 3],
    );
    equal(fixture.store.sequence, 3);
  });

  it('counts a message that cannot be enriched without findings, and notes it', async () => {
    const poison = request({ request: 51, contents: ['poison for enrich', 'on its way', 'thanks'] });
    await work([dialogues[0] as RecordedRequest[], [...(dialogues[1] as RecordedRequest[]), poison]]);
    deepEqual(await totals(), [{ sessions: 3, users: 3, messages: 9 }]);
    deepEqual([aside, ...notes.noted], [[], [`${uuid(8, 51)} 0`, 'cannot be enriched']]);
  });

  describe('with messages at which the analysis hangs', () => {
    const outOfTime = 'its analysis took more than 0.3 s of processor time';
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
      const counters = await work(entries, { analysis: await open(300) });
      deepEqual(aside, []);
      deepEqual(
        [...notes.noted],
        known.map((name) => [name, outOfTime]),
      );
      equal(counters.analysisTimeouts, 2);
      deepEqual(await totals(), [{ sessions: 6, users: 3, messages: 42 }]);

      // By a clock that allows anything: what is noted is not analysed again.
      const again = temporaryDirectory();
      const fold = await openFixture({ directory: again.path });
      await pool.close();
      await work(entries, { fold, analysis: await open(1e9), perBatch: 3 });
      deepEqual(await rows(fold), await rows(fixture));
      await fold.close();
      again.remove();
    });

    it('goes by the note when it ended between note and commit', async () => {
      const guard = (): Promise<void> =>
        notes.noted.size === 2
          ? Promise.reject(new Error('the lease is lost (another worker)'))
          : Promise.resolve();
      await rejects(work(entries, { analysis: await open(300), guard }), /lease is lost/);
      equal(fixture.store.sequence, 0);
      await pool.close();
      await work(entries, { analysis: await open(1e9) });
      deepEqual(await totals(), [{ sessions: 6, users: 3, messages: 42 }]);
      deepEqual([...notes.noted.keys()], known);
    });
  });

  it('shows what came right after a publication without waiting for more', async () => {
    const { store, publication } = fixture;
    let calls = 0;
    const loop: WorkerLoop = new WorkerLoop({
      source: {
        next: async () => {
          calls += 1;
          if (calls <= 2)
            return [{ sequence: calls, subject: 's', timestamp: 0, bytes: new Uint8Array([calls - 1]) }];
          // A quiet stream: nothing more comes until the second entry is visible.
          while (publication.sequence < 2) await new Promise((resolve) => setImmediate(resolve));
          loop.stop();
          return [];
        },
      },
      decode: (bytes) => dialogues[bytes[0] as number] as RecordedRequest[],
      enricher,
      store,
      publication,
      assigner: new Assigner({
        thresholds: { micro: 0.9, topic: 0.8, cluster: 0.5, repeated: 0.95 },
        dimensions: DIMENSIONS,
        detectLanguage: () => null,
      }),
      setAside: () => Promise.resolve(),
      notes,
      marks,
      logger: silentLogger(),
      now: () => AT,
      maxEntries: 100,
      maxBytes: 1e9,
      waitMs: 1e9,
      publishEveryMs: 20,
    });
    await loop.run();
    equal(publication.sequence, 2);
  });

  it('splits what does not fit into the memory, down to the request, and sets that aside', async () => {
    const huge = { ...request({ request: 50, contents: ['hello'] }), metadata: { session: { huge: 'x' } } };
    const sabotage = ({ metadata }: Batch): void => {
      if (metadata.some(({ member }) => member === 'huge'))
        throw new DatabaseError(new Error('Out of Memory Error: failed to allocate data of size 16.0 MiB'));
    };
    await work([...dialogues, [huge, request({ request: 51, contents: ['thanks'] })], [huge]], { sabotage });
    deepEqual(await totals(), [{ sessions: 6, users: 3, messages: 37 }]);
    deepEqual(aside, [
      {
        sequence: 13,
        reason: `request ${uuid(8, 50)}: Out of Memory Error: failed to allocate data of size 16.0 MiB`,
      },
      { sequence: 14, reason: 'Out of Memory Error: failed to allocate data of size 16.0 MiB' },
    ]);
  });

  it('sets aside what is nested too deeply to be written again', async () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    const nested = { ...request({ request: 50, contents: ['hello'] }), metadata: { session: { deep } } };
    await work([dialogues[0] as RecordedRequest[], [nested]]);
    deepEqual(await totals(), [{ sessions: 1, users: 1, messages: 3 }]);
    deepEqual(aside, [
      { sequence: 2, reason: 'its metadata is nested too deeply, or too long, to be stored' },
    ]);
  });

  for (const [what, error] of [
    ['the database gives up', new DatabaseError(new Error('FATAL Error: the database has been invalidated'))],
    ['something unknown happens', new TypeError('x is not a function')],
  ] as const) {
    it(`ends when ${what}, and sets an entry aside at which process after process ends`, async () => {
      const fatal = request({ request: 50, contents: ['hello'] });
      const sabotage = ({ requests }: Batch): void => {
        if (requests.some(({ id }) => id === fatal.requestId)) throw error;
      };
      const entries = [...dialogues.slice(0, 7), [fatal], ...dialogues.slice(7)];
      let deaths = 0;
      for (;;) {
        try {
          await work(entries, { sabotage });
          break;
        } catch (thrown) {
          equal(thrown, error);
          deepEqual(aside, []);
          deaths += 1;
          ok(deaths < 10);
        }
      }
      // Once in the batch, three times alone.
      equal(deaths, 4);
      deepEqual(aside, [
        {
          sequence: 8,
          reason: `the worker ended 3 times while it worked on this entry alone; the last time: ${error.message}`,
        },
      ]);
      deepEqual(await totals(), [{ sessions: 5, users: 3, messages: 36 }]);
      equal(marks.mark, null);
    });
  }

  it('suspects no entry when the disk is full or the shard is lost', async () => {
    const full = new DatabaseError(new Error('IO Error: Could not write file: No space left on device'));
    const sabotage = (): void => {
      throw full;
    };
    await rejects(work(dialogues, { sabotage }), full);
    equal(marks.mark, null);
    const guard = (): Promise<void> => Promise.reject(new LeaseLostError(0));
    await rejects(work(dialogues, { guard }), LeaseLostError);
    equal(marks.mark, null);
  });

  it('ends with the error when the views cannot be written, so that nothing is skipped', async () => {
    await work(dialogues.slice(0, 3));
    await fixture.store.connection.run('update meta set sequence = 1');
    await rejects(work(dialogues), /another worker/);
    deepEqual(await totals(), [{ sessions: 3, users: 3, messages: 9 }]);
  });
});
