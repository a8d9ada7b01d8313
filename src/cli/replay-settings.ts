/**
 * Opens what a replay of the stream needs, for rebuilds and erasures.
 *
 * Test: test/cli/rebuild.test.ts.
 */
import { availableParallelism, constants, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import { Retentions } from '../stream/ledgers/retentions.ts';
import type { RebuildSettings } from '../worker/rebuild/rebuild.ts';
import { InterruptedError } from '../worker/rebuild/replay.ts';
import type { StreamArchive } from '../stream/archive/archive-consumer.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { readBytes } from '../stream/log/consumer.ts';
import { startServer } from '../stream/server/server.ts';
import { AnalysisPool } from '../reader/threads/pool.ts';
import { MODELS_DIRECTORY } from '../worker/current-definition.ts';
import { INTERRUPTED, type CommandRun } from './command.ts';
import { withConnection } from './nats-access.ts';
import { openProgress } from './progress.ts';

const CACHE_DIRECTORY = join(import.meta.dirname, '../..', '.cache');
const CONNECTION = { name: 'undertone rebuild' };
/** A running local server answers sooner. */
const PROBE_MS = 500;
/** Maximum threads; each loads a model. */
const MOST_THREADS = 8;
/** Bytes of the stream per thread: analysing fewer takes less time than loading another model. */
const BYTES_PER_THREAD = 128 * 1024;

export interface ReplayOptions {
  /** Maximum messages per second. Default: unlimited. */
  readonly throttle?: number | null;
  readonly archive?: StreamArchive | null;
  /** Process priority for `setPriority`. Default: the lowest. */
  readonly priority?: number;
  /** The command that continues after an interruption. */
  readonly hint: string;
}

/** Opens the settings at a low priority, runs `work` and closes them; an interruption becomes exit code 130. */
export async function withReplaySettings(
  config: Config,
  run: CommandRun,
  { throttle = null, archive = null, priority = constants.priority.PRIORITY_LOW, hint }: ReplayOptions,
  work: (settings: RebuildSettings) => Promise<void>,
): Promise<number> {
  // Set before threads start, because they inherit it.
  setPriority(priority);
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
        const retentions = await Retentions.open(connection, { replicas: config.streamReplicas });
        const carried = await retentions.withoutTexts();
        const settings = { dataDir, shards, memoryBytes, throttle, archive, carried };
        await work({ ...settings, analysis, connection, logger, progress, signal });
      } finally {
        await analysis.close();
      }
    });
    return 0;
  } catch (error) {
    progress.end();
    if (!(error instanceof InterruptedError)) throw error;
    progress.line(`interrupted; the live views are unchanged, and "${hint}" continues from here`);
    return INTERRUPTED;
  } finally {
    await server?.stop();
  }
}

function mostThreads(): number {
  return Math.min(availableParallelism(), MOST_THREADS);
}

/** Returns the number of threads that the stream can keep busy. */
async function threadsFor(connection: StreamConnection): Promise<number> {
  const threads = Math.floor((await readBytes(connection)) / BYTES_PER_THREAD);
  return Math.max(1, Math.min(threads, mostThreads()));
}

/** Starts our own nats-server if it does not run: the service may be stopped because its views need a rebuild. */
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
