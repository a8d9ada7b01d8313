/** The Procfile's `worker`: keeps the views up with the stream. */
import { setPriority } from 'node:os';
import { loadConfig } from '../config.ts';
import { loadEmbedder } from '../enrich/embedder.ts';
import { orExit, runProcess } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { openActiveEpoch, readActiveEpoch, type ActiveEpoch } from '../store/epochs.ts';
import { openConnection } from '../stream/connection.ts';
import { setAside } from '../stream/dead-letters.ts';
import { connectionOptions } from '../stream/server.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { MODELS_DIRECTORY, openShard, type Shard } from './shard.ts';

/** Below web and NATS: under load the answer to a caller goes first, and the backlog is worked off after. */
const PRIORITY = 5;
const PUBLISH_EVERY_MS = 150;
const WAIT_MS = 1000;
const LOOK_FOR_EPOCH_MS = 1000;

const config = orExit(loadConfig);
const logger = createLogger({ name: 'worker', level: config.logLevel });

runProcess(logger, config.shutdownMs, async (lifecycle) => {
  setPriority(PRIORITY);
  const embedder = await loadEmbedder({ model: config.embeddingModel, modelsDirectory: MODELS_DIRECTORY });
  lifecycle.opened('embedding model', () => embedder.close());
  let active = openActiveEpoch(config.dataDir, config.shards);
  const connection = await openConnection({
    ...connectionOptions(config),
    name: 'undertone worker',
    onWaiting: (sentence) => logger.warn({ event: 'stream_awaited' }, sentence),
  });
  lifecycle.opened('stream connection', () => connection.close());
  await setUpStreams(connection, { maxBytes: config.streamMaxBytes, replicas: config.streamReplicas });

  let shards: Shard[] = [];
  const openShards = async (epoch: ActiveEpoch): Promise<void> => {
    for (let shard = 0; shard < epoch.shards; shard++) {
      const opened = await openShard({
        config,
        embedder,
        connection,
        logger,
        active: epoch,
        shard,
        waitMs: WAIT_MS,
        publishEveryMs: PUBLISH_EVERY_MS,
        setAside: (entry, reason) => setAside(connection, entry, reason),
      });
      shards.push(opened);
      logger.info(
        { event: 'shard_opened', epoch: epoch.epoch, shard, sequence: opened.store.sequence },
        'views opened',
      );
    }
  };
  const closeShards = async (): Promise<void> => {
    const closing = shards;
    shards = [];
    await Promise.all(closing.map((shard) => shard.close()));
  };
  lifecycle.opened('shards', closeShards);
  await openShards(active);
  logger.info({ event: 'worker_ready', model: embedder.id, shards: active.shards }, 'worker ready');

  // Until the process is told to stop: work on the active epoch, and follow a rebuild to its new one.
  while (!lifecycle.closing) {
    const working = Promise.all(shards.map((shard) => shard.run()));
    const moved = newEpoch(active);
    const next = await Promise.race([working.then(() => null), moved.epoch]);
    moved.stop();
    if (next === null || lifecycle.closing) break;
    logger.info(
      { event: 'epoch_switched', from: active.epoch, to: next.epoch },
      'following the rebuilt views',
    );
    await closeShards();
    active = next;
    await openShards(active);
  }
});

/** Resolves once another epoch than the given one is active. */
function newEpoch(than: ActiveEpoch): { epoch: Promise<ActiveEpoch>; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const epoch = new Promise<ActiveEpoch>((resolve) => {
    timer = setInterval(() => {
      const now = readActiveEpoch(config.dataDir);
      if (now !== null && now.epoch !== than.epoch) resolve(now);
    }, LOOK_FOR_EPOCH_MS);
  });
  return { epoch, stop: () => clearInterval(timer) };
}
