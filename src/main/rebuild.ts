/** `npm run rebuild`: replays the stream into new views beside the live ones, then switches to them. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Presets, SingleBar } from 'cli-progress';
import { loadConfig, type Config } from '../config.ts';
import { loadEmbedder } from '../enrich/embedder.ts';
import { SetupError } from '../errors.ts';
import { runCommand } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { readActiveEpoch, writeActiveEpoch, type ActiveEpoch } from '../store/epochs.ts';
import { openConnection } from '../stream/connection.ts';
import { readExtent } from '../stream/consumer.ts';
import { connectionOptions, startServer } from '../stream/server.ts';
import { MODELS_DIRECTORY, openShard } from './shard.ts';

const USAGE = `Usage: npm run rebuild [-- --rollback]

Replays the stream into new views while the live ones go on answering, then switches to the new ones.
An interrupted rebuild is taken up where it stopped. The views before it stay for:

  --rollback   switch back to the views before the last rebuild`;

const CACHE_DIRECTORY = join(import.meta.dirname, '..', '..', '.cache');
const WAIT_MS = 500;
const PUBLISH_EVERY_MS = 60_000;
const CONNECT_MS = 3_000;

await runCommand(async () => {
  let rollback: boolean;
  let help: boolean;
  try {
    ({ rollback = false, help = false } = parseArgs({
      options: { rollback: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    }).values);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    return 2;
  }
  if (help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const config = loadConfig();
  const active = readActiveEpoch(config.dataDir);
  if (active === null) {
    throw new SetupError(`There are no views in ${config.dataDir} yet: "npm start" builds them.`);
  }
  if (rollback) {
    const { previous } = active;
    if (previous === undefined) throw new SetupError('There are no earlier views to go back to.');
    writeActiveEpoch(config.dataDir, {
      ...previous,
      previous: { epoch: active.epoch, shards: active.shards },
    });
    process.stdout.write(`switched back from views ${active.epoch} to views ${previous.epoch}\n`);
    return 0;
  }
  await rebuild(config, active);
  return 0;
});

async function rebuild(config: Config, active: ActiveEpoch): Promise<void> {
  const logger = createLogger({ name: 'rebuild', level: 'warn' });
  const server = await ownServer(config);
  try {
    const connection = await openConnection({
      ...connectionOptions(config),
      name: 'undertone rebuild',
      giveUpAfterMs: CONNECT_MS,
    });
    try {
      const { firstSequence, lastSequence } = await readExtent(connection);
      if (lastSequence > 0 && firstSequence > 1) {
        throw new SetupError(
          `The stream begins at entry ${firstSequence}: the ones before it are gone, and a rebuild would not count them. Nothing was changed.`,
        );
      }
      const embedder = await loadEmbedder({
        model: config.embeddingModel,
        modelsDirectory: MODELS_DIRECTORY,
      });
      const next: ActiveEpoch = { epoch: active.epoch + 1, shards: config.shards };
      const bar = progressBar(lastSequence);
      let aside = 0;
      for (let number = 0; number < next.shards; number++) {
        const shard = await openShard({
          config,
          embedder,
          connection,
          logger,
          active: next,
          shard: number,
          waitMs: WAIT_MS,
          publishEveryMs: PUBLISH_EVERY_MS,
          untilCaughtUp: true,
          onProgress: (sequence) => bar.update(sequence),
          // The live worker has kept it among the dead letters when it came to it first.
          setAside: () => {
            aside += 1;
            return Promise.resolve();
          },
        });
        try {
          await shard.run();
        } finally {
          await shard.close();
        }
      }
      bar.stop();
      await embedder.close();
      writeActiveEpoch(config.dataDir, { ...next, previous: { epoch: active.epoch, shards: active.shards } });
      removeOthers(config.dataDir, [active.epoch, next.epoch]);
      process.stdout.write(
        `switched from views ${active.epoch} to views ${next.epoch}${aside === 0 ? '' : `; ${aside} entries could not be processed`}. "npm run rebuild -- --rollback" goes back.\n`,
      );
    } finally {
      await connection.close();
    }
  } finally {
    await server?.stop();
  }
}

/** Our own nats-server when it does not run: the service may be stopped because its views ask for a rebuild. */
async function ownServer(config: Config): Promise<{ stop: () => Promise<void> } | null> {
  if (config.natsUrl !== undefined) return null;
  try {
    const probe = await openConnection({
      ...connectionOptions(config),
      name: 'undertone rebuild',
      giveUpAfterMs: 500,
    });
    await probe.close();
    return null;
  } catch {
    return startServer({ dataDir: config.dataDir, port: config.natsPort, cacheDir: CACHE_DIRECTORY });
  }
}

function progressBar(total: number): { update: (sequence: number) => void; stop: () => void } {
  if (!process.stdout.isTTY) return { update: () => undefined, stop: () => undefined };
  const bar = new SingleBar(
    { format: '{bar} {percentage}%  entry {value} of {total}  {eta_formatted} left', hideCursor: true },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return {
    update: (sequence) => {
      if (sequence > bar.getTotal()) bar.setTotal(sequence);
      bar.update(sequence);
    },
    stop: () => bar.stop(),
  };
}

function removeOthers(dataDir: string, kept: readonly number[]): void {
  const directory = join(dataDir, 'views');
  for (const name of readdirSync(directory)) {
    if (/^\d+$/.test(name) && !kept.includes(Number(name)))
      rmSync(join(directory, name), { recursive: true, force: true });
  }
}
