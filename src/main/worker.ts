import { setPriority } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import { Assigner } from '../assign/assigner.ts';
import { loadEmbedder } from '../enrich/embedder.ts';
import { createEnricher } from '../enrich/enricher.ts';
import { detectLanguage } from '../enrich/language.ts';
import { runProcess } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { openActiveEpoch, shardDirectory } from '../store/epochs.ts';
import { Publication } from '../store/publication.ts';
import { StateStore } from '../store/state-store.ts';
import { loadViews } from '../store/view-files.ts';
import { decodeRecord } from '../stream/codec.ts';
import { openConnection } from '../stream/connection.ts';
import { openConsumer } from '../stream/consumer.ts';
import { setAside } from '../stream/dead-letters.ts';
import { connectionOptions } from '../stream/server.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { PARTITIONS } from '../stream/subjects.ts';
import { WorkerLoop } from '../worker/loop.ts';

/** The repository's own folders: views and models belong to the code. */
const ROOT = join(import.meta.dirname, '..', '..');

/** Below web and NATS: under load the answer to a caller goes first, and the backlog is worked off after. */
const PRIORITY = 5;
const PUBLISH_EVERY_MS = 150;
const BATCH_BYTES = 8 * 1024 * 1024;
/** For how long readers may still open files of a generation that was replaced. */
const GRACE_MS = 60_000;

const config = loadConfig();
const logger = createLogger({ name: 'worker', level: config.logLevel });

runProcess(logger, config.shutdownMs, async (lifecycle) => {
  setPriority(PRIORITY);
  const embedder = await loadEmbedder({
    model: config.embeddingModel,
    modelsDirectory: join(ROOT, 'models'),
  });
  lifecycle.opened('embedding model', () => embedder.close());
  const enricher = createEnricher({ embedder });
  const views = loadViews(join(ROOT, 'views'));
  const active = openActiveEpoch(config.dataDir, config.shards);
  const connection = await openConnection({
    ...connectionOptions({
      dataDir: config.dataDir,
      natsPort: config.natsPort,
      natsUrl: config.natsUrl,
      natsToken: config.natsToken,
    }),
    name: 'undertone worker',
    onWaiting: (sentence) => logger.warn({ event: 'stream_awaited' }, sentence),
  });
  lifecycle.opened('stream connection', () => connection.close());
  await setUpStreams(connection, { maxBytes: config.streamMaxBytes, replicas: config.streamReplicas });
  const loops: Promise<void>[] = [];
  for (let shard = 0; shard < active.shards; shard++) {
    const store = await StateStore.open({
      directory: shardDirectory(config.dataDir, active.epoch, shard),
      views,
      model: embedder.id,
      threads: 2,
      memoryLimit: '768MB',
    });
    lifecycle.opened(`views of shard ${shard}`, () => store.close());
    const publication = new Publication({
      store,
      graceMs: GRACE_MS,
      mergeRows: 20_000,
      mergeRatio: 8,
      now: () => Date.now(),
      onError: (error) =>
        logger.error(
          { event: 'merge_failed', err: error },
          'files of the views could not be merged; the next publication tries again',
        ),
    });
    lifecycle.opened(`publication of shard ${shard}`, () => publication.close());
    const source = await openConsumer(connection, {
      startSequence: store.sequence + 1,
      partitions: Array.from({ length: PARTITIONS }, (_, partition) => partition).filter(
        (partition) => partition % active.shards === shard,
      ),
    });
    lifecycle.opened(`consumer of shard ${shard}`, () => source.close());
    const loop = new WorkerLoop({
      source,
      store,
      publication,
      enricher,
      logger,
      decode: (bytes) => decodeRecord(bytes).requests,
      assigner: new Assigner({
        thresholds: embedder.thresholds,
        dimensions: embedder.dimensions,
        detectLanguage,
      }),
      setAside: (entry, reason) => setAside(connection, entry, reason),
      now: () => Date.now() * 1000,
      maxEntries: config.workerBatchMessages,
      maxBytes: BATCH_BYTES,
      waitMs: 1000,
      publishEveryMs: PUBLISH_EVERY_MS,
    });
    const running = loop.run();
    loops.push(running);
    lifecycle.opened(`loop of shard ${shard}`, async () => {
      loop.stop();
      await running.catch(() => undefined);
    });
    logger.info({ event: 'shard_opened', shard, sequence: store.sequence }, 'views opened');
  }
  logger.info({ event: 'worker_ready', model: embedder.id, shards: active.shards }, 'worker ready');
  await Promise.all(loops);
});
