import { Assigner } from '../../src/reader/threads/assigner.ts';
import type { Enrichment, Turn } from '../../src/domain/facts.ts';
import type { RecordedRequest } from '../../src/domain/records.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Batch } from '../../src/store/live/batch.ts';
import type { StateStore } from '../../src/store/live/state-store.ts';
import { parseView, type View } from '../../src/store/view-files.ts';
import type { ShardAnalysis } from '../../src/reader/threads/pool.ts';
import type { WorkCounters } from '../../src/worker/counters.ts';
import { WorkerLoop, type WorkerLoopOptions } from '../../src/worker/loop.ts';
import type { EnrichStage, Unanalysed } from '../../src/reader/threads/stages.ts';
import { openFixture, temporaryDirectory, uuid, VIEWS, type Fixture } from './fold.ts';
import { MarksInMemory, NotesInMemory } from './notes.ts';
import { certain } from './signals.ts';

const DIMENSIONS = 16;
/** The clock of these tests. */
export const AT = Date.UTC(2026, 0, 1) * 1000;
const INSTANCE = uuid(9, 1);

/** One axis for each of a few words; enough for equal texts to be equal and others not. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const letter of text) vector[(letter.codePointAt(0) ?? 0) % DIMENSIONS]! += 1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

export const enricher: EnrichStage = {
  enrich: (messages) =>
    Promise.resolve(
      messages.map(({ role, content }): Enrichment | Unanalysed => {
        if (content === 'poison for enrich') return { unanalysed: 'cannot be enriched' };
        const request = role === 'user' && content !== 'thanks';
        return {
          kind: request ? 'request' : role === 'user' ? 'reply' : 'none',
          request: request ? content : '',
          vector: request ? vectorOf(content) : null,
          sentences: [],
          signals: content === 'thanks' ? certain('gratitude') : [],
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

export function request({ request: number, session = number, contents }: Given): RecordedRequest {
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

function newAssigner(onAssign: (turns: readonly Turn[]) => void = () => undefined): Assigner {
  const assigner = new Assigner({
    thresholds: { micro: 0.9, topic: 0.8, cluster: 0.5, repeated: 0.95 },
    dimensions: DIMENSIONS,
    detectLanguage: () => null,
  });
  const assign = assigner.assign.bind(assigner);
  assigner.assign = (turns, enrichments, interludes) => {
    onAssign(turns);
    return assign(turns, enrichments, interludes);
  };
  return assigner;
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

/**
 * What the worker reads back, and what `totals` reads, in place of all views that ship. Tests that compare rows, or need
 * what the views take of memory, open those.
 */
export const COUNTING_VIEWS: readonly View[] = [
  ...VIEWS.filter(({ name }) => ['dimensions', 'feedback', 'label', 'fact'].includes(name)),
  parseView(
    'counting.sql',
    `-- view: counting
-- version: 1
-- after: fact, dimensions
-- publish: session_rollup key(instance, session) order(instance, session)
-- publish: end_user_rollup key(instance, end_user) order(instance, end_user)
-- @schema
create table session_rollup (
  instance integer, session integer, granularity integer, messages integer, seq bigint
);
create table end_user_rollup (
  instance integer, end_user integer, granularity integer, messages integer, seq bigint
);
-- @fold
upsert into session_rollup
from (select instance, session, 4 as granularity, count(*)::integer as messages from batch_message group by all)
key (instance, session, granularity) add (messages);
upsert into end_user_rollup
from (select instance, end_user, 4 as granularity, count(*)::integer as messages from batch_message
  where end_user is not null group by all)
key (instance, end_user, granularity) add (messages);
-- @read
select session, messages from @session_rollup
`,
  ),
];

/** A worker's loop over real files, run as often as a test wants. */
export class LoopFixture {
  readonly aside: { sequence: number; reason: string }[] = [];
  readonly notes = new NotesInMemory();
  readonly marks = new MarksInMemory();
  readonly fixture: Fixture;
  readonly #directory: { remove: () => void };

  private constructor(fixture: Fixture, directory: { remove: () => void }) {
    this.fixture = fixture;
    this.#directory = directory;
  }

  /** With `COUNTING_VIEWS`, unless others are given. */
  static async open(
    options: { readonly memoryBytes?: number; readonly views?: readonly View[] } = {},
  ): Promise<LoopFixture> {
    const directory = temporaryDirectory();
    const fixture = await openFixture({ views: COUNTING_VIEWS, ...options, directory: directory.path });
    return new LoopFixture(fixture, directory);
  }

  async close(): Promise<void> {
    await this.fixture.close();
    this.#directory.remove();
  }

  /** A loop with everything that is not given. */
  make(options: Partial<WorkerLoopOptions> & Pick<WorkerLoopOptions, 'source' | 'decode'>): WorkerLoop {
    return new WorkerLoop({
      enricher,
      assigner: newAssigner(),
      store: this.fixture.store,
      publication: this.fixture.publication,
      setAside: ({ sequence }, reason) => {
        this.aside.push({ sequence, reason });
        return Promise.resolve();
      },
      notes: this.notes,
      marks: this.marks,
      logger: silentLogger(),
      now: () => AT,
      maxEntries: 100,
      maxBytes: 1e9,
      waitMs: 0,
      publishEveryMs: 0,
      ...options,
    });
  }

  /** Runs a loop over entries behind the store's position, `perBatch` at a time, until they are applied. */
  async work(
    entries: readonly (readonly RecordedRequest[] | 'no record')[],
    options: {
      perBatch?: number;
      fold?: Fixture;
      analysis?: ShardAnalysis;
      guard?: () => Promise<void>;
      /** Throws in place of a commit. */
      sabotage?: (batch: Batch) => void;
      /** Told of what is assigned, before it is. */
      onAssign?: (turns: readonly Turn[]) => void;
    } = {},
  ): Promise<WorkCounters> {
    const { store: whole, publication } = options.fold ?? this.fixture;
    const store = sabotaged(whole, options.sabotage);
    let next = store.sequence;
    const loop: WorkerLoop = this.make({
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
      ...(options.analysis === undefined
        ? { assigner: newAssigner(options.onAssign) }
        : { enricher: options.analysis, assigner: options.analysis }),
      ...(options.guard === undefined ? {} : { guard: options.guard }),
      store,
      publication,
    });
    await loop.run();
    return loop.counters;
  }

  /** What queries would find. */
  async totals(of: Fixture = this.fixture): Promise<unknown> {
    const snapshot = await of.reader.snapshot();
    try {
      return await snapshot?.all(`select
        (select count(*) from @session_rollup where granularity = 4) as sessions,
        (select count(*) from @end_user_rollup where granularity = 4) as users,
        (select sum(messages) from @session_rollup where granularity = 4) as messages`);
    } finally {
      snapshot?.release();
    }
  }
}

/** Twelve entries of three messages each, of five sessions and three users. */
export const dialogues = Array.from({ length: 12 }, (_, number) => [
  request({
    request: number + 1,
    session: (number % 5) + 1,
    contents: [`where is parcel ${number % 3}`, 'on its way', 'thanks'],
  }),
]);
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
/** The rows of every table, but for what tells of the batches. */
export async function rows(of: Fixture): Promise<unknown[]> {
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
        `select * exclude (seq ${table === 'message_fact' ? ', gone, revised' : ''}) from ${table} ${gone} ` +
          'order by all',
      ),
    );
  }
  return result;
}
