import { deepEqual, equal, notDeepEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Assigner } from '../../../src/reader/threads/assigner.ts';
import { PLAIN_GROUP_BYS } from '../../support/groupings.ts';
import type { CurationAction } from '../../../src/domain/curations.ts';
import { positionOf, type RecordedRequest } from '../../../src/domain/records.ts';
import { SESSION_OUTCOMES } from '../../../src/domain/session-outcomes.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';
import { createEnricher, enrichmentId } from '../../../src/reader/acts/enricher.ts';
import { loadHeads } from '../../../src/reader/acts/heads.ts';
import { detectLanguage } from '../../../src/reader/document/detect.ts';
import { silentLogger } from '../../../src/logger.ts';
import { compareBuilds, faultsOf } from '../../../src/worker/rebuild/comparison.ts';
import { Publication } from '../../../src/store/published/publication.ts';
import { publishedTables } from '../../../src/store/view-files.ts';
import { SnapshotReader } from '../../../src/store/published/snapshot-reader.ts';
import { definitionOf } from '../../../src/store/epochs/definition.ts';
import { StateStore } from '../../../src/store/live/state-store.ts';
import { GRANULARITIES } from '../../../src/domain/time.ts';
import type { Delivered } from '../../../src/stream/log/consumer.ts';
import { partitionOf } from '../../../src/stream/subjects.ts';
import { AnalysisPool, type ShardAnalysis } from '../../../src/reader/threads/pool.ts';
import { WorkerLoop } from '../../../src/worker/loop.ts';
import { temporaryDirectory, uuid, VIEWS } from '../../support/fold.ts';
import { isLong } from '../../support/long.ts';
import { MarksInMemory, NO_NOTES } from '../../support/notes.ts';
import { answersOf, fewGranularities, instanceId, requestsOf, rowsOf } from '../../support/replays.ts';

/**
 * The same stream, the same rows, with the model that ships. `DETERMINISM_FILE=FILE.jsonl.gz` (of
 * `{turns: [{role, content}]}`) and `DETERMINISM_CONVERSATIONS=N` take other conversations than some of the demo's,
 * `DETERMINISM_ONES=N` more batches of one message.
 */
const FILE = process.env['DETERMINISM_FILE'];
const CONVERSATIONS = Number(process.env['DETERMINISM_CONVERSATIONS'] ?? 46);
/** Batches of one message are slow: so many, then a large one, and again. */
const ONES = Number(process.env['DETERMINISM_ONES'] ?? 20);
const INSTANCES = 3;
const EACH_INSTANCE = Array.from({ length: INSTANCES }, (_, number) => number);
const MODELS = join(import.meta.dirname, '../../../models');
const DEFINITION = definitionOf(VIEWS, 'model:m enrichment:e assignment:a');

/** An entry of one request at each sequence, from 1. */
const requests: readonly RecordedRequest[] = requestsOf({
  file: FILE,
  conversations: CONVERSATIONS,
  instances: INSTANCES,
  messages: 1,
});

/** Corrections that people make of it, and take back. */
const CORRECTIONS = 100;

interface Way {
  readonly shards: number;
  /** The stream; default: `requests`. */
  readonly stream?: readonly RecordedRequest[];
  /** Enriches and assigns; default: this thread. */
  readonly analysis?: ShardAnalysis;
  /** Entries in the next batch. */
  readonly batch: () => number;
  /** Whether the worker ends after a batch, and another begins. */
  readonly restarts: () => boolean;
}

/** 0 to 1, the same every time. */
function sequenceOfChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('the same stream gives the same rows', () => {
  let embedder: Embedder;
  const temporary = temporaryDirectory();
  let built = 0;
  let whole: readonly string[] = [];
  let wholeAnswers: Awaited<ReturnType<typeof answersOf>> = {};
  before(async () => {
    embedder = await loadEmbedder({ model: 'undertone-small', modelsDirectory: MODELS });
    whole = await build({ shards: 1, batch: () => 10_000, restarts: () => false });
    wholeAnswers = await answersOf(whole, INSTANCES, fewGranularities);
  });
  after(async () => {
    await embedder?.close();
    temporary.remove();
  });

  /** Folds the stream into shard folders of its own. */
  async function build(way: Way): Promise<string[]> {
    const folder = join(temporary.path, String((built += 1)));
    const directories: string[] = [];
    for (let shard = 0; shard < way.shards; shard++) {
      const directory = join(folder, String(shard));
      directories.push(directory);
      const entries = (way.stream ?? requests).flatMap((request, index) =>
        partitionOf(request.instanceId) % way.shards === shard ? [index + 1] : [],
      );
      while (await work(directory, entries, way));
    }
    return directories;
  }

  /** One run of a worker, from where the last one stopped. False when everything is applied. */
  async function work(directory: string, entries: readonly number[], way: Way): Promise<boolean> {
    const store = await StateStore.open({
      directory,
      views: VIEWS,
      analysis: 'model:m enrichment:e assignment:a',
      threads: 1,
    });
    const publication = new Publication({
      store,
      graceMs: 0,
      compactRows: 500,
      compactRatio: 8,
      now: () => 0,
      onError: (error) => {
        throw error;
      },
    });
    let next = entries.findIndex((sequence) => sequence > store.sequence);
    let again = false;
    const loop: WorkerLoop = new WorkerLoop({
      source: {
        next: () => {
          if (again || next < 0 || next >= entries.length) {
            loop.stop();
            return Promise.resolve([]);
          }
          const batch = entries.slice(next, next + way.batch());
          next += batch.length;
          again = next < entries.length && way.restarts();
          return Promise.resolve(
            batch.map((sequence): Delivered => {
              return { sequence, subject: '', timestamp: 0, bytes: Buffer.from(String(sequence)) };
            }),
          );
        },
      },
      decode: (bytes) => [(way.stream ?? requests)[Number(Buffer.from(bytes).toString()) - 1]!],
      store,
      publication,
      enricher: way.analysis ?? createEnricher({ embedder }),
      assigner:
        way.analysis ??
        new Assigner({ thresholds: embedder.thresholds, dimensions: embedder.dimensions, detectLanguage }),
      setAside: (_, reason) => Promise.reject(new Error(reason)),
      notes: NO_NOTES,
      marks: new MarksInMemory(),
      logger: silentLogger(),
      now: () => 0,
      maxEntries: 10_000,
      maxBytes: 1e9,
      waitMs: 0,
      publishEveryMs: 1e9,
    });
    try {
      await loop.run();
      return again;
    } finally {
      await publication.close();
      await store.close();
    }
  }

  /** Fails unless the rows of every published table, and all answers, are those of the stream in one batch. */
  async function sameAsWhole(directories: readonly string[]): Promise<void> {
    const readers = await Promise.all(
      [...whole, ...directories].map((directory) =>
        SnapshotReader.open({ directory: () => directory, views: VIEWS, threads: 1, connections: 1 }),
      ),
    );
    const snapshots = await Promise.all(readers.map((reader) => reader.snapshot()));
    try {
      const found = snapshots.filter((snapshot) => snapshot !== null);
      equal(found.length, snapshots.length);
      const comparison = await compareBuilds({
        pairs: [{ live: found.slice(0, whole.length), rebuilt: found.slice(whole.length) }],
        views: VIEWS,
        liveDefinition: DEFINITION,
        rebuiltDefinition: DEFINITION,
      });
      deepEqual(faultsOf(comparison), []);
      equal(comparison.instances, INSTANCES);
      equal(comparison.tables.length, publishedTables(VIEWS).length);
    } finally {
      for (const snapshot of snapshots) snapshot?.release();
      for (const reader of readers) await reader.close();
    }
    const answers = await answersOf(directories, INSTANCES, fewGranularities);
    for (const [question, answer] of Object.entries(answers))
      deepEqual(answer, wholeAnswers[question], question);
  }

  it('has something to say about every grouping', () => {
    // Nobody makes a label here; the delivery law (test/view-laws.test.ts) has some.
    for (const groupBy of PLAIN_GROUP_BYS.filter((one) => one !== 'LABEL')) {
      const rows = EACH_INSTANCE.map(
        (number) =>
          GRANULARITIES.flatMap(
            (granularity) => wholeAnswers[`${number} ${groupBy} ${granularity}`]?.elements ?? [],
          ).length,
      );
      ok(
        rows.some((count) => count > 0),
        groupBy,
      );
    }
  });

  it('in batches of one message, and large ones between', async () => {
    let batches = 0;
    const batch = (): number => ((batches += 1) % ONES === 0 ? 10 * ONES : 1);
    await sameAsWhole(await build({ shards: 1, batch, restarts: () => false }));
  });

  it('on several threads, with so little memory that most is restored again and again', async () => {
    const pool = await AnalysisPool.open({
      threads: 2,
      model: 'undertone-small',
      modelsDirectory: MODELS,
      memoryBytes: 100_000,
    });
    try {
      deepEqual(pool.model, {
        id: embedder.id,
        dimensions: embedder.dimensions,
        enrichment: enrichmentId(loadHeads()),
      });
      const analysis = pool.forShard(0);
      let restored = 0;
      const restore = analysis.restoreInstance.bind(analysis);
      analysis.restoreInstance = (...state) => {
        restored += 1;
        restore(...state);
      };
      await sameAsWhole(await build({ shards: 1, batch: () => 70, restarts: () => false, analysis }));
      ok(restored > 2 * INSTANCES, `${restored} restored`);
      analysis.close();
    } finally {
      await pool.close();
    }
  });

  /** Corrections of any messages and sessions by what was found anywhere. */
  function corrections(): RecordedRequest[] {
    const chance = sequenceOfChance(5);
    const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(chance() * values.length)]!;
    /** Of what the request's instance has; null: nothing of the kind. */
    const idOf = (request: RecordedRequest, groupBy: string): string | null => {
      const number = EACH_INSTANCE.find((one) => instanceId(one) === request.instanceId)!;
      const rows = GRANULARITIES.flatMap(
        (granularity) => wholeAnswers[`${number} ${groupBy} ${granularity}`]?.elements ?? [],
      );
      const ids = rows.flatMap(({ dimensions: { topic, csatDsatSignal, gap, repeatedRequest } }) => {
        return (topic ?? csatDsatSignal ?? gap ?? repeatedRequest)?.id ?? [];
      });
      return ids.length === 0 ? null : oneOf(ids);
    };
    const actionOf = (request: RecordedRequest, number: number): CurationAction => {
      const kind = oneOf(['ASSIGN', 'EXCLUDE'] as const);
      const said = Math.floor(chance() * request.messages.length);
      const position = positionOf(requests.indexOf(request) + 1, said);
      const of = (['TOPIC', 'SIGNAL', 'GAP', 'REPEATED_REQUEST', 'OUTCOME'] as const)[number % 5]!;
      const id = of === 'OUTCOME' ? null : idOf(request, of === 'SIGNAL' ? 'CSAT_DSAT' : of);
      if (id === null || of === 'OUTCOME')
        return { kind: 'ASSIGN', of: 'OUTCOME', id: request.sessionId, outcome: oneOf(SESSION_OUTCOMES) };
      return of === 'TOPIC'
        ? { kind, of, id, text: request.messages[said]!.content }
        : { kind, of, id, position };
    };
    return Array.from({ length: CORRECTIONS }, (_, number) => {
      const request = oneOf(requests);
      return decided(request, number, actionOf(request, number));
    });
  }

  function decided(
    { projectId, instanceId: instance, acceptedAt }: RecordedRequest,
    number: number,
    action: CurationAction,
  ): RecordedRequest {
    const id = uuid(8, number);
    const curation = { id, keyId: 'key', action };
    return {
      requestId: id,
      projectId,
      instanceId: instance,
      sessionId: '',
      acceptedAt,
      messages: [],
      curation,
    };
  }

  it('as people corrected it, in any batches, and as it was found once all is taken back', async () => {
    const pool = await AnalysisPool.open({
      threads: isLong ? 2 : 1,
      model: 'undertone-small',
      modelsDirectory: MODELS,
      memoryBytes: 1e9,
    });
    const corrected = corrections();
    const undone = corrected.map((request, number) =>
      decided(request, CORRECTIONS + number, { kind: 'UNDO', id: request.curation!.id }),
    );
    const answersOfStream = async (stream: readonly RecordedRequest[], most: number): Promise<object> => {
      const analysis = pool.forShard(0);
      const way = { shards: 1, stream, analysis, batch: () => most, restarts: () => false };
      const rows = await rowsOf(await build(way), INSTANCES);
      analysis.close();
      return rows;
    };
    try {
      const found = await rowsOf(whole, INSTANCES);
      const live = await answersOfStream([...requests, ...corrected], 90);
      notDeepEqual(live, found);
      deepEqual(await answersOfStream([...requests, ...corrected], 10_000), live);
      for (const most of isLong ? [90, 10_000] : [90])
        deepEqual(await answersOfStream([...requests, ...corrected, ...undone], most), found);
    } finally {
      await pool.close();
    }
  });

  // The short form has both in one.
  const ways = isLong
    ? ([
        ['in four shards', { shards: 4, most: 200, restarted: 0 }],
        ['by workers that are restarted at random points', { shards: 1, most: 60, restarted: 0.1 }],
      ] as const)
    : ([
        [
          'in four shards, by workers that are restarted at random points',
          { shards: 4, most: 120, restarted: 0.1 },
        ],
      ] as const);
  for (const [name, { shards, most, restarted }] of ways)
    it(name, async () => {
      const chance = sequenceOfChance(11);
      const batch = (): number => 1 + Math.floor(chance() ** 2 * most);
      await sameAsWhole(await build({ shards, batch, restarts: () => chance() < restarted }));
    });
});
