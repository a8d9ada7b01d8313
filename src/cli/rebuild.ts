/** `npm run rebuild`: makes new views beside the live ones, then switches to them. */
import { availableParallelism, constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig, type Config } from '../config.ts';
import { count } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { createLogger } from '../logger.ts';
import type { RebuildSource } from '../rebuild/from-facts.ts';
import { clean, rebuild, rollBack, type RebuildSettings } from '../rebuild/rebuild.ts';
import { InterruptedError } from '../rebuild/replay.ts';
import { lockDataDirectory, prepareDataDirectory } from '../store/data-directory.ts';
import { readActiveEpoch, type ActiveEpoch } from '../store/epochs/epochs.ts';
import type { StreamConnection } from '../stream/connection.ts';
import type { StreamArchive } from '../stream/archive/archive-consumer.ts';
import { readBytes } from '../stream/log/consumer.ts';
import { startServer } from '../stream/server/server.ts';
import { CONVERSATIONS_STREAM } from '../stream/subjects.ts';
import { AnalysisPool } from '../worker/analysis/pool.ts';
import { MODELS_DIRECTORY } from '../worker/current-definition.ts';
import { checkBackup, streamFile } from './backup-files.ts';
import { action, INTERRUPTED, runCommand, UsageError, type CommandRun } from './command.ts';
import { withConnection } from './nats-access.ts';
import { openProgress } from './progress.ts';

const USAGE = `Usage: npm run rebuild [-- OPTIONS]

Makes new views while the live ones answer queries, compares both at the same entry of the stream, catches up, and
switches. Where nothing but views changed, it makes them from the facts that the live ones kept; else it analyses the
messages of the stream again. Ctrl-C (or a crash) loses nothing: the next run continues.

  --source stream|facts
                analyse all messages again, although only views changed; or make views from facts, although none did
  --throttle N  at most N messages a second, in short bursts, to leave room for queries and ingest
  --to-latest   catch up with the newest entry of the stream before the switch, not only with the live views
  --from-backup DIR
                read the entries that the backup in DIR holds from there: the stream may have dropped them since
  --force       switch even if the comparison finds differences; with --rollback: without catching up
  --rollback    bring the views from before the last switch up to date, and switch back to them
  --clean       delete an unfinished rebuild and the views kept for --rollback`;

const CACHE_DIRECTORY = join(import.meta.dirname, '..', '..', '.cache');
const CONNECTION = { name: 'undertone rebuild' };
/** A server of ours that runs answers sooner. */
const PROBE_MS = 500;
/** Each holds a model of its own. */
const MOST_THREADS = 8;
/** Of the stream, for each thread: what analysing less takes, loading the model once more takes as well. */
const BYTES_PER_THREAD = 128 * 1024;

interface Options {
  readonly source: RebuildSource | null;
  readonly throttle: number | null;
  readonly fromBackup: string | undefined;
  readonly toLatest: boolean;
  readonly force: boolean;
  readonly rollback: boolean;
  readonly clean: boolean;
}

const rebuildViews = action({
  options: {
    source: { type: 'string' },
    throttle: { type: 'string' },
    'to-latest': { type: 'boolean' },
    'from-backup': { type: 'string' },
    force: { type: 'boolean' },
    rollback: { type: 'boolean' },
    clean: { type: 'boolean' },
  },
  read(values) {
    const { source = null, throttle, force = false, rollback = false, clean: cleaning = false } = values;
    if (throttle !== undefined && (!/^\d{1,9}$/.test(throttle) || Number(throttle) < 1))
      throw new UsageError('--throttle takes a whole number of messages per second, 1 or more');
    if (source !== null && source !== 'stream' && source !== 'facts')
      throw new UsageError('--source takes stream or facts');
    // With --rollback it would delete what is to be gone back to.
    if (cleaning && Object.keys(values).length > 1) throw new UsageError('--clean stands alone');
    return (run) =>
      runLocked(run, {
        source,
        throttle: throttle === undefined ? null : Number(throttle),
        fromBackup: values['from-backup'],
        toLatest: values['to-latest'] ?? false,
        force,
        rollback,
        clean: cleaning,
      });
  },
});

/** Does what the options say, while no other rebuild runs on the data directory. */
async function runLocked(run: CommandRun, options: Options): Promise<number> {
  const config = loadConfig();
  if (readActiveEpoch(config.dataDir) === null) {
    throw new SetupError(`There are no views in ${config.dataDir} yet: "npm start" builds them.`);
  }
  for (const concern of prepareDataDirectory(config.dataDir)) process.stderr.write(`${concern}\n`);
  const lock = await lockDataDirectory(config.dataDir, {
    name: 'rebuild',
    taken: `Another rebuild runs on the data directory ${config.dataDir}: let it end, or stop it.`,
  });
  try {
    // Read again behind the lock: another rebuild may just have switched.
    const active = readActiveEpoch(config.dataDir) as ActiveEpoch;
    if (options.clean) {
      const removed = clean(config.dataDir, active);
      process.stdout.write(
        removed.length === 0
          ? 'there was nothing to delete\n'
          : `deleted views ${removed.join(', ')}; views ${active.epoch} stay\n`,
      );
      return 0;
    }
    const archive = await archiveOf(options.fromBackup);
    const work = options.rollback ? rollBack : rebuild;
    return await withReplaySettings(config, run, options.throttle, archive, (settings) =>
      work(settings, active, options),
    );
  } finally {
    lock.release();
  }
}

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
      `The backup ${folder} does not hold the beginning of the stream: it begins at entry ` +
        `${count(stream?.firstSequence ?? 0)}. ` +
        'The live views are unchanged.',
    );
  }
  return { file: streamFile(resolve(folder), stream.name), lastSequence: stream.lastSequence };
}

/** Opens what a replay needs, at the lowest priority, and closes it; an interruption becomes exit code 130. */
async function withReplaySettings(
  config: Config,
  run: CommandRun,
  throttle: number | null,
  archive: StreamArchive | null,
  work: (settings: RebuildSettings) => Promise<void>,
): Promise<number> {
  // Before anything starts threads: they inherit it.
  setPriority(constants.priority.PRIORITY_LOW);
  const signal = run.interruption();
  const progress = openProgress(process.stdout);
  const server = await ownServer(config);
  try {
    await withConnection(config, CONNECTION, async (connection) => {
      const analysis = await AnalysisPool.open({
        threads: throttle !== null ? 1 : archive !== null ? mostThreads() : await threadsFor(connection),
        model: config.embeddingModel,
        modelsDirectory: MODELS_DIRECTORY,
        patience: { heapBytes: config.analysisHeapBytes },
      });
      try {
        const logger = createLogger({ name: 'rebuild', level: 'warn' });
        const { dataDir, shards, stateMemoryBytes: memoryBytes } = config;
        const settings = { dataDir, shards, memoryBytes, throttle, archive };
        await work({ ...settings, analysis, connection, logger, progress, signal });
      } finally {
        await analysis.close();
      }
    });
    return 0;
  } catch (error) {
    progress.end();
    if (!(error instanceof InterruptedError)) throw error;
    progress.line('interrupted; the live views are unchanged, and "npm run rebuild" continues from here');
    return INTERRUPTED;
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

/** Our own nats-server when it does not run: the service may be stopped because its views need a rebuild. */
async function ownServer(config: Config): Promise<{ stop: () => Promise<void> } | null> {
  if (config.natsUrl !== undefined) return null;
  try {
    return await withConnection(config, { ...CONNECTION, giveUpAfterMs: PROBE_MS }, () =>
      Promise.resolve(null),
    );
  } catch {
    return startServer({ dataDir: config.dataDir, port: config.natsPort, cacheDir: CACHE_DIRECTORY });
  }
}

await runCommand({ usage: USAGE, action: rebuildViews });
