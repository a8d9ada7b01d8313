/**
 * A process that goes on with a history, as the worker's fold does: `DATA_DIR MESSAGES [BATCH]`, and sends what it
 * measured. Of its own, so that its memory is the fold's.
 */
import { join, resolve } from 'node:path';
import { shardDirectory } from '../../../src/store/epochs/epochs.ts';
import { StateStore } from '../../../src/store/live/state-store.ts';
import { loadViews } from '../../../src/store/view-files.ts';
import { loadConfig } from '../../../src/config.ts';
import { applyBatch, newUsersOf, oneInstance, publicationOf, streamOf } from './history.ts';
import { Measurements } from './http-load.ts';
import { memoryOf } from './process-use.ts';
import { processorMs } from './ratios.ts';

export interface FoldFigures {
  readonly batch: number;
  /** Earlier messages that move to another topic in each batch. */
  readonly moves: number;
  /** Milliseconds at the medians; fold is with its commit. */
  readonly foldMs: number;
  readonly publishMs: number;
  /** Processor time of both together, of one batch. */
  readonly processorMs: number;
  /** The slowest of both together. */
  readonly worstMs: number;
  readonly perSecond: number;
  /** Most resident memory so far, bytes; 0 where the system does not tell. */
  readonly memoryPeak: number;
}

export interface FoldReport {
  readonly figures: readonly FoldFigures[];
}

const BATCHES = [
  { batch: 500, times: 40, moves: 0 },
  { batch: 5_000, times: 8, moves: 0 },
  { batch: 50_000, times: 3, moves: 0 },
  { batch: 500, times: 6, moves: 1_000 },
];
/** The first ones find cold files. */
const WARM_UP = 3;
const CHUNK = 10_000;

const [dataDir = '', messages = '', only] = process.argv.slice(2);
const history = Number(messages);
const shape = oneInstance(history);
const next = streamOf(shape);
const known = new Set<number>();
for (let done = 0; done < history; done += CHUNK) newUsersOf(next(Math.min(CHUNK, history - done)), known);

// As the worker opens them (src/worker/shard.ts).
const store = await StateStore.open({
  directory: shardDirectory(dataDir, 1, 0),
  views: loadViews(resolve(import.meta.dirname, '../../../views')),
  analysis: 'bench',
  threads: 1,
  memoryBytes: loadConfig().stateMemoryBytes,
  spillDirectory: join(dataDir, 'spill'),
});
const publication = publicationOf(store, { graceMs: 60_000, now: () => Date.now() });
const figures: FoldFigures[] = [];
for (const { batch, times, moves } of only === undefined
  ? BATCHES
  : [{ batch: Number(only), times: 15, moves: 0 }]) {
  const moved = moves === 0 ? [] : await microsOf(moves, times);
  const folds = new Measurements();
  const publishes = new Measurements();
  const both = new Measurements();
  let sum = 0;
  let processor = 0;
  await publication.settle();
  const warmUp = figures.length === 0 ? WARM_UP : 0;
  for (let i = -warmUp; i < times; i += 1) {
    const micro = moved[i];
    const work =
      micro === undefined
        ? next(batch)
        : { ...next(batch), micros: [{ instance: 1, micro, topic: (micro % shape.topics) + 1 }] };
    const newUsers = newUsersOf(work, known);
    const processorBefore = processorMs();
    const startedAt = performance.now();
    await applyBatch(store, work, newUsers);
    const foldedAt = performance.now();
    await publication.publish();
    const publishedAt = performance.now();
    if (i < 0) continue;
    folds.add(foldedAt - startedAt);
    publishes.add(publishedAt - foldedAt);
    both.add(publishedAt - startedAt);
    sum += publishedAt - startedAt;
    processor += processorMs() - processorBefore;
  }
  figures.push({
    batch,
    moves,
    foldMs: folds.quantile(0.5),
    publishMs: publishes.quantile(0.5),
    processorMs: processor / times,
    worstMs: both.quantile(1),
    perSecond: (batch * times * 1000) / sum,
    memoryPeak: (await memoryOf(process.pid)).peak,
  });
}
await publication.close();
await store.close();
const report: FoldReport = { figures };
process.send?.(report, () => process.disconnect());

/** Micro-clusters with about so many messages. */
async function microsOf(messages: number, count: number): Promise<number[]> {
  const rows = await store.connection.all(
    `select micro from message where micro is not null group by micro order by abs(count(*) - ${messages}), micro limit ${count}`,
  );
  return rows.map((row) => row['micro'] as number);
}
