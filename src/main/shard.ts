import { join } from 'node:path';
import { Assigner } from '../assign/assigner.ts';
import type { Config } from '../config.ts';
import type { Embedder } from '../enrich/embedder.ts';
import { ASSIGNMENT_VERSION } from '../assign/version.ts';
import { createEnricher, enrichmentId, loadHeads } from '../enrich/enricher.ts';
import { detectLanguage } from '../enrich/language.ts';
import type { Logger } from '../logger.ts';
import { shardDirectory, type ActiveEpoch } from '../store/epochs.ts';
import { Publication } from '../store/publication.ts';
import { StateStore } from '../store/state-store.ts';
import { loadViews } from '../store/view-files.ts';
import { decodeRecord } from '../stream/codec.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openConsumer, type Delivered } from '../stream/consumer.ts';
import { PARTITIONS } from '../stream/subjects.ts';
import { WorkerLoop } from '../worker/loop.ts';

/** The repository's own folders: views and models belong to the code. */
const ROOT = join(import.meta.dirname, '..', '..');
export const MODELS_DIRECTORY = join(ROOT, 'models');
export const VIEWS_DIRECTORY = join(ROOT, 'views');

/** Entries are cheap to hold; the bytes bound a batch. */
const BATCH_ENTRIES = 10_000;
/** For how long readers may still open files of a generation that was replaced. */
const GRACE_MS = 60_000;
const MERGE_ROWS = 20_000;
const MERGE_RATIO = 8;

export interface ShardOptions {
  readonly config: Config;
  readonly embedder: Embedder;
  readonly connection: StreamConnection;
  readonly logger: Logger;
  readonly active: ActiveEpoch;
  /** 0 to `active.shards` − 1. */
  readonly shard: number;
  readonly setAside: (entry: Delivered, reason: string) => Promise<void>;
  /** How long to wait for the first entry of a batch, milliseconds. */
  readonly waitMs: number;
  readonly publishEveryMs: number;
  /** Ends `run` when nothing more is in the stream. */
  readonly untilCaughtUp?: boolean;
  /** Told after each pull: stream sequence reached, messages so far. */
  readonly onProgress?: (sequence: number) => void;
}

/** Everything that works on one shard of the stream, open. */
export interface Shard {
  readonly store: StateStore;
  /** Resolves when stopped (or caught up); rejects when the views cannot be written. */
  run(): Promise<void>;
  /** Lets the batch in work finish, publishes, and closes everything. */
  close(): Promise<void>;
}

/** Opens a shard's views and the stream behind their position. Throws SetupError when they cannot be opened. */
export async function openShard(options: ShardOptions): Promise<Shard> {
  const { config, embedder, connection, logger, active, shard } = options;
  const heads = loadHeads();
  const store = await StateStore.open({
    directory: shardDirectory(config.dataDir, active.epoch, shard),
    views: loadViews(VIEWS_DIRECTORY),
    analysis: `model:${embedder.id} enrichment:${enrichmentId(heads)} assignment:${ASSIGNMENT_VERSION}`,
    threads: 2,
    memoryLimit: '768MB',
    spillDirectory: join(config.dataDir, 'tmp', `shard-${shard}`),
  });
  const publication = new Publication({
    store,
    graceMs: GRACE_MS,
    mergeRows: MERGE_ROWS,
    mergeRatio: MERGE_RATIO,
    now: () => Date.now(),
    onError: (error) =>
      logger.error(
        { event: 'merge_failed', err: error },
        'files of the views could not be merged; tried again later',
      ),
  });
  const source = await openConsumer(connection, {
    startSequence: store.sequence + 1,
    partitions: Array.from({ length: PARTITIONS }, (_, partition) => partition).filter(
      (partition) => partition % active.shards === shard,
    ),
  });
  const loop: WorkerLoop = new WorkerLoop({
    source: {
      next: async (limits) => {
        const delivered = await source.next(limits);
        const last = delivered.at(-1);
        if (last !== undefined) options.onProgress?.(last.sequence);
        else if (options.untilCaughtUp === true) loop.stop();
        return delivered;
      },
    },
    store,
    publication,
    logger,
    enricher: createEnricher({ embedder, heads }),
    assigner: new Assigner({
      thresholds: embedder.thresholds,
      dimensions: embedder.dimensions,
      detectLanguage,
    }),
    decode: (bytes) => decodeRecord(bytes).requests,
    setAside: options.setAside,
    now: () => Date.now() * 1000,
    maxEntries: BATCH_ENTRIES,
    maxBytes: config.workerBatchBytes,
    waitMs: options.waitMs,
    publishEveryMs: options.publishEveryMs,
  });
  let running: Promise<void> = Promise.resolve();
  return {
    store,
    run() {
      running = loop.run();
      return running;
    },
    async close() {
      loop.stop();
      await running.catch(() => undefined);
      await source.close();
      await publication.close();
      await store.close();
    },
  };
}
