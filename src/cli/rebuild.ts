/** `npm run rebuild`: replays the stream into new views beside the live ones, then switches to them. */
import { availableParallelism, constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig, type Config } from '../config.ts';
import { SetupError } from '../errors.ts';
import { runCommand } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { clean, rebuild, rollBack, type RebuildSettings } from '../rebuild/rebuild.ts';
import { InterruptedError } from '../rebuild/replay.ts';
import { lockDataDirectory } from '../store/data-directory.ts';
import { readActiveEpoch, type ActiveEpoch } from '../store/epochs/epochs.ts';
import { openConnection, type StreamConnection } from '../stream/connection.ts';
import type { StreamArchive } from '../stream/archive/archive-consumer.ts';
import { readBytes } from '../stream/log/consumer.ts';
import { connectionOptions, startServer } from '../stream/server/server.ts';
import { CONVERSATIONS_STREAM } from '../stream/subjects.ts';
import { AnalysisPool } from '../worker/analysis/pool.ts';
import { checkBackup, streamFile } from './backup-files.ts';
import { count } from '../domain/progress.ts';
import { openProgress } from './progress.ts';
import { MODELS_DIRECTORY } from '../worker/current-definition.ts';

const USAGE = `Usage: npm run rebuild [-- OPTIONS]

Replays the stream into new views while the live ones go on answering, compares them with the live ones at the
same entry of the stream, catches up, and switches. Ctrl-C (or a crash) loses nothing: the next run goes on.

  --throttle N  at most N messages a second, in short bursts, to leave room for queries and ingest
  --to-latest   catch up with the newest entry of the stream before the switch, not only with the live views
  --from-backup DIR
                read what the backup in DIR holds of the stream from there: the stream may have dropped it since
  --force       switch although the comparison found differences; with --rollback: without catching up
  --rollback    catch up the views before the last switch, and switch back to them
  --clean       delete an unfinished rebuild and the views kept for --rollback`;

const CACHE_DIRECTORY = join(import.meta.dirname, '..', '..', '.cache');
const CONNECT_MS = 3_000;
/** Each holds a model of its own. */
const MOST_THREADS = 8;
/** Of the stream, for each thread: what analysing less takes, loading the model once more takes as well. */
const BYTES_PER_THREAD = 128 * 1024;

interface Options {
  readonly throttle: number | null;
  readonly archive: StreamArchive | null;
  readonly toLatest: boolean;
  readonly force: boolean;
}

await runCommand(async () => {
  let values: {
    throttle?: string;
    'to-latest'?: boolean;
    'from-backup'?: string;
    force?: boolean;
    rollback?: boolean;
    clean?: boolean;
    help?: boolean;
  };
  let throttle: number | null = null;
  try {
    ({ values } = parseArgs({
      options: {
        throttle: { type: 'string' },
        'to-latest': { type: 'boolean' },
        'from-backup': { type: 'string' },
        force: { type: 'boolean' },
        rollback: { type: 'boolean' },
        clean: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }));
    if (values.throttle !== undefined) {
      throttle = /^\d{1,9}$/.test(values.throttle) ? Number(values.throttle) : 0;
      if (throttle < 1) throw new Error('--throttle takes a whole number of messages per second, 1 or more');
    }
    // With --rollback it would delete what is to be gone back to.
    if (values.clean === true && Object.keys(values).length > 1) throw new Error('--clean stands alone');
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    return 2;
  }
  if (values.help === true) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const config = loadConfig();
  if (readActiveEpoch(config.dataDir) === null) {
    throw new SetupError(`There are no views in ${config.dataDir} yet: "npm start" builds them.`);
  }
  const lock = await lockDataDirectory(config.dataDir, {
    name: 'rebuild',
    taken: `Another rebuild runs on the data directory ${config.dataDir}: let it end, or stop it.`,
  });
  try {
    // Read again behind the lock: another rebuild may just have switched.
    const active = readActiveEpoch(config.dataDir) as ActiveEpoch;
    if (values.clean === true) {
      const removed = clean(config.dataDir, active);
      process.stdout.write(
        removed.length === 0
          ? 'there was nothing to delete\n'
          : `deleted views ${removed.join(', ')}; views ${active.epoch} stay\n`,
      );
      return 0;
    }
    const archive = await archiveOf(values['from-backup']);
    const options = {
      throttle,
      archive,
      toLatest: values['to-latest'] === true,
      force: values.force === true,
    };
    return await withReplaySettings(config, options, (settings) =>
      values.rollback === true ? rollBack(settings, active, options) : rebuild(settings, active, options),
    );
  } finally {
    lock.release();
  }
});

/**
 * What `--from-backup` names, checked; null without it.
 *
 * @throws SetupError when the backup is damaged or does not hold the beginning of the stream either
 */
async function archiveOf(folder: string | undefined): Promise<StreamArchive | null> {
  if (folder === undefined) return null;
  const { streams } = await checkBackup(resolve(folder), openProgress(process.stdout));
  const stream = streams.find(({ name }) => name === CONVERSATIONS_STREAM);
  if (stream === undefined || stream.firstSequence > 1) {
    throw new SetupError(
      `The backup ${folder} does not hold the beginning of the stream: it begins at entry ${count(stream?.firstSequence ?? 0)}. ` +
        'The live views are as they were.',
    );
  }
  return { file: streamFile(resolve(folder), stream.name), lastSequence: stream.lastSequence };
}

/** Opens what a replay needs, at the lowest priority, and closes it; an interruption becomes exit code 130. */
async function withReplaySettings(
  config: Config,
  { throttle, archive }: Options,
  work: (settings: RebuildSettings) => Promise<void>,
): Promise<number> {
  // Before anything starts threads: they inherit it.
  setPriority(constants.priority.PRIORITY_LOW);
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruption.signal.aborted) process.exit(130);
      interruption.abort();
    });
  }
  // Started by a worker that is gone: the next one starts another.
  process.on('disconnect', () => interruption.abort());
  process.channel?.unref();
  const progress = openProgress(process.stdout);
  const server = await ownServer(config);
  try {
    const connection = await openConnection({
      ...connectionOptions(config),
      name: 'undertone rebuild',
      giveUpAfterMs: CONNECT_MS,
    });
    try {
      const analysis = await AnalysisPool.open({
        threads: throttle !== null ? 1 : archive !== null ? mostThreads() : await threadsFor(connection),
        model: config.embeddingModel,
        modelsDirectory: MODELS_DIRECTORY,
      });
      try {
        const logger = createLogger({ name: 'rebuild', level: 'warn' });
        const { signal } = interruption;
        const { dataDir, shards } = config;
        await work({ dataDir, shards, analysis, connection, logger, progress, throttle, archive, signal });
        return 0;
      } finally {
        await analysis.close();
      }
    } finally {
      await connection.close();
    }
  } catch (error) {
    progress.end();
    if (!(error instanceof InterruptedError)) throw error;
    progress.line('interrupted; the live views are as they were, and "npm run rebuild" goes on from here');
    return 130;
  } finally {
    await server?.stop();
  }
}

function mostThreads(): number {
  return Math.min(availableParallelism(), MOST_THREADS);
}

/** As many threads as the stream keeps busy. */
async function threadsFor(connection: StreamConnection): Promise<number> {
  const threads = Math.floor((await readBytes(connection)) / BYTES_PER_THREAD);
  return Math.max(1, Math.min(threads, mostThreads()));
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
