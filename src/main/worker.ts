/** The Procfile's `worker`: keeps the views up with the stream. */
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadConfig } from '../config.ts';
import { loadEmbedder } from '../enrich/embedder.ts';
import { orExit, runProcess } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { changesBetween, readDefinition } from '../store/definition.ts';
import {
  openActiveEpoch,
  readActiveEpoch,
  shardDirectory,
  writeActiveEpoch,
  type ActiveEpoch,
  type Epoch,
} from '../store/epochs.ts';
import { openConnection } from '../stream/connection.ts';
import { setAside } from '../stream/dead-letters.ts';
import { connectionOptions } from '../stream/server.ts';
import { setUpStreams } from '../stream/stream-setup.ts';
import { currentDefinition, MODELS_DIRECTORY, openShard, type Shard } from './shard.ts';

/** Below web and NATS: under load the answer to a caller goes first, and the backlog is worked off after. */
const PRIORITY = 5;
const PUBLISH_EVERY_MS = 150;
const WAIT_MS = 1000;
const LOOK_FOR_EPOCH_MS = 200;
/** How long a rebuild may take to let go of the views that it switched to. */
const HANDOVER_MS = 60_000;

const config = orExit(loadConfig);
const logger = createLogger({ name: 'worker', level: config.logLevel });

runProcess(logger, config.shutdownMs, async (lifecycle) => {
  setPriority(PRIORITY);
  const embedder = await loadEmbedder({ model: config.embeddingModel, modelsDirectory: MODELS_DIRECTORY });
  lifecycle.opened('embedding model', () => embedder.close());
  let active = openActiveEpoch(config.dataDir, config.shards, sayLost);
  const connection = await openConnection({
    ...connectionOptions(config),
    name: 'undertone worker',
    onWaiting: (sentence) => logger.warn({ event: 'stream_awaited' }, sentence),
  });
  lifecycle.opened('stream connection', () => connection.close());
  await setUpStreams(connection, { maxBytes: config.streamMaxBytes, replicas: config.streamReplicas });

  let shards: Shard[] = [];
  const openShards = async (epoch: ActiveEpoch, giveUpAfterMs: number): Promise<void> => {
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
        waitForLockMs: giveUpAfterMs,
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
  let rebuild: Rebuild | null = null;
  lifecycle.opened('rebuild', () => rebuild?.stop());

  /** Opens the views; when other code or another model made them, leaves them as they are and says so. */
  const begin = async (epoch: ActiveEpoch, giveUpAfterMs: number): Promise<void> => {
    const changes = await changesSince(epoch, currentDefinition(embedder));
    if (changes.length === 0) await openShards(epoch, giveUpAfterMs);
    if (epoch.shards !== config.shards) changes.push(`SHARDS: ${epoch.shards} → ${config.shards}`);
    if (changes.length === 0) return;
    const standing = shards.length === 0;
    const meanwhile = standing
      ? 'Until then queries are answered from the views as they are, and new messages wait in the stream.'
      : 'Until then the views are kept up as they are.';
    const how = config.autoRebuild ? 'The rebuild begins by itself.' : 'Run "npm run rebuild".';
    logger.warn(
      { event: 'rebuild_needed', epoch: epoch.epoch, changes },
      `the views ask for a rebuild (${changes.join('; ')}). ${how} ${meanwhile}`,
    );
    if (config.autoRebuild && rebuild === null && !lifecycle.closing) {
      rebuild = startRebuild(() => {
        rebuild = null;
      });
    }
  };

  await begin(active, 0);
  logger.info({ event: 'worker_ready', model: embedder.id, shards: active.shards }, 'worker ready');

  // Until the process is told to stop: work on the active epoch, and follow a rebuild to its new one.
  while (!lifecycle.closing) {
    const working =
      shards.length === 0
        ? new Promise<never>(() => undefined)
        : Promise.all(shards.map((shard) => shard.run()));
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
    await begin(active, HANDOVER_MS);
  }
});

function sayLost({ epoch }: Epoch): void {
  logger.error(
    { event: 'active_lost', epoch },
    `views/ACTIVE is damaged or gone: the views ${epoch}, which have come furthest, are taken`,
  );
}

/** What was changed since an epoch's rows were made. */
async function changesSince(epoch: ActiveEpoch, definition: string): Promise<string[]> {
  const changes = new Set<string>();
  for (let shard = 0; shard < epoch.shards; shard++) {
    const made = await readDefinition(shardDirectory(config.dataDir, epoch.epoch, shard));
    if (made !== null) for (const change of changesBetween(made, definition)) changes.add(change);
  }
  return [...changes];
}

/** Resolves once another epoch than the given one is active. */
function newEpoch(than: ActiveEpoch): { epoch: Promise<ActiveEpoch>; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const epoch = new Promise<ActiveEpoch>((resolve) => {
    timer = setInterval(() => {
      const now = readActiveEpoch(config.dataDir);
      if (now === null) {
        logger.error(
          { event: 'active_lost', epoch: than.epoch },
          'views/ACTIVE is damaged or gone: written again',
        );
        writeActiveEpoch(config.dataDir, than);
      } else if (now.epoch !== than.epoch) resolve(now);
    }, LOOK_FOR_EPOCH_MS);
  });
  return { epoch, stop: () => clearInterval(timer) };
}

interface Rebuild {
  /** Interrupts it: the next one goes on. */
  stop(): Promise<void>;
}

/** Runs `npm run rebuild` as a process of its own and logs what it says. */
function startRebuild(onEnd: () => void): Rebuild {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'rebuild.ts')], {
    // The channel tells it when we are gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const output of [child.stdout, child.stderr]) {
    if (output === null) continue;
    createInterface({ input: output }).on('line', (line) =>
      logger[output === child.stderr ? 'error' : 'info']({ event: 'rebuild_said' }, line),
    );
  }
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      logger.error({ event: 'rebuild_failed', err: error }, 'the rebuild could not be started');
      resolve();
    });
    child.once('close', (code) => {
      if (code !== 0) logger.error({ event: 'rebuild_failed', code }, 'the rebuild did not end well');
      onEnd();
      resolve();
    });
  });
  return {
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
