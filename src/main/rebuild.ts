/** `npm run rebuild`: replays the stream into new views beside the live ones, then switches to them. */
import { availableParallelism, constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig, type Config } from '../config.ts';
import { SetupError } from '../errors.ts';
import { runCommand } from '../lifecycle.ts';
import { createLogger } from '../logger.ts';
import { compareBuilds, faultsOf, type Comparison, type Pair } from '../store/comparison.ts';
import { changesBetween, readDefinition } from '../store/definition.ts';
import {
  beginRebuild,
  markCompared,
  pinnedDirectory,
  readActiveEpoch,
  readUnfinished,
  removeOtherEpochs,
  shardDirectory,
  writeActiveEpoch,
  type ActiveEpoch,
  type Epoch,
  type RebuildMark,
} from '../store/epochs.ts';
import { SnapshotReader, type Snapshot } from '../store/snapshot-reader.ts';
import { loadViews, type View } from '../store/view-files.ts';
import { openConnection, type StreamConnection } from '../stream/connection.ts';
import type { StreamArchive } from '../stream/archive-consumer.ts';
import { readBytes, readExtent } from '../stream/consumer.ts';
import { connectionOptions, startServer } from '../stream/server.ts';
import { CONVERSATIONS_STREAM, partitionsOf } from '../stream/subjects.ts';
import { AnalysisPool } from '../worker/analysis-pool.ts';
import { checkBackup, streamFile } from './backup-files.ts';
import { spillDirectory, lockDataDirectory } from './data-directory.ts';
import { count, duration, openProgress } from './progress.ts';
import {
  InterruptedError,
  liveSequence,
  newestOf,
  refuseGap,
  Replay,
  type ReplaySettings,
} from './replay.ts';
import { currentDefinition, MODELS_DIRECTORY, VIEWS_DIRECTORY } from './shard.ts';

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
const COMPARISON_MEMORY = '1GB';
/** Tables that are named when some could not be compared. */
const NAMED = 6;

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
    if (values.clean === true) return clean(config, active);
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
  work: (settings: ReplaySettings) => Promise<number>,
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
        return await work({ config, analysis, connection, logger, progress, throttle, archive, signal });
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

async function rebuild(settings: ReplaySettings, active: ActiveEpoch, options: Options): Promise<number> {
  const { config, connection, progress } = settings;
  const { dataDir } = config;
  const startedAt = performance.now();
  const definition = currentDefinition(settings.analysis.model);
  const next = await takeUpOrBegin(settings, active, definition);
  const replay = new Replay(settings, next);
  const live: Epoch = active;
  if (next.compareAt !== null) {
    await replay.foldTo('rebuilding', next.compareAt);
    const comparison = await compareAtMark(dataDir, next, definition);
    progress.line(describe(comparison.outcome, comparison.changes, Math.max(...next.compareAt)));
    const faults = comparison.outcome === null ? [] : faultsOf(comparison.outcome);
    if (faults.length > 0) {
      if (!options.force) {
        throw new SetupError(
          `The rebuilt views differ from the live ones at the same entry of the stream. Nothing was switched. ` +
            `"npm run rebuild -- --force" switches all the same.\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
        );
      }
      progress.line(
        `differences, switching all the same:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
      );
    }
    markCompared(dataDir, next);
  }
  await replay.catchUp(() =>
    options.toLatest ? newestOf(connection, next) : Promise.resolve(liveSequences(dataDir, live, next)),
  );
  await replay.follow(live, {
    epoch: next.epoch,
    shards: next.shards,
    previous: { epoch: live.epoch, shards: live.shards },
  });
  removeOtherEpochs(dataDir, [live.epoch, next.epoch]);
  const ms = performance.now() - startedAt;
  progress.line(
    `switched from views ${live.epoch} to views ${next.epoch}: ${count(replay.messages)} messages in ${duration(ms)}` +
      ` (${count(Math.round((replay.messages / ms) * 1000))}/s)` +
      `${replay.aside === 0 ? '' : `; ${count(replay.aside)} entries could not be processed`}. ` +
      '"npm run rebuild -- --rollback" goes back.',
  );
  return 0;
}

/** The unfinished rebuild, when it is still what is wanted; else a new one. */
async function takeUpOrBegin(
  { config, connection, progress, archive }: ReplaySettings,
  active: ActiveEpoch,
  definition: string,
): Promise<Epoch & RebuildMark> {
  const { dataDir, shards } = config;
  const unfinished = readUnfinished(dataDir, active);
  if (
    unfinished !== null &&
    unfinished.from.epoch === active.epoch &&
    unfinished.shards === shards &&
    unfinished.definition === definition
  ) {
    progress.line(`going on with views ${unfinished.epoch}`);
    removeOtherEpochs(dataDir, [active.epoch, active.previous?.epoch ?? -1, unfinished.epoch]);
    return unfinished;
  }
  const { firstSequence, lastSequence } = await readExtent(connection);
  if (archive !== null && archive.lastSequence > lastSequence) {
    throw new SetupError(
      `The backup goes up to entry ${count(archive.lastSequence)}, the stream to ${count(lastSequence)}: it is not a backup of this stream. The live views are as they were.`,
    );
  }
  refuseGap(archive?.lastSequence ?? 0, firstSequence, lastSequence);
  removeOtherEpochs(dataDir, [active.epoch, active.previous?.epoch ?? -1]);
  return beginRebuild(dataDir, active, {
    shards,
    definition,
    compareAt: (live) => {
      const at = Array.from({ length: shards }, (_, shard) =>
        Math.max(...partitionsOf(shard, shards).map((partition) => live[partition % live.length] ?? 0)),
      );
      return at.some((sequence) => sequence > 0) ? at : null;
    },
  });
}

function liveSequences(dataDir: string, live: Epoch, { shards }: Epoch): number[] {
  return Array.from({ length: shards }, (_, shard) =>
    liveSequence(dataDir, live, partitionsOf(shard, shards)),
  );
}

/** Compares the rebuilt generations with the live ones kept at the start. `outcome` null: by what those were made is not known. */
async function compareAtMark(
  dataDir: string,
  next: Epoch & RebuildMark,
  definition: string,
): Promise<{ outcome: Comparison | null; changes: string[] }> {
  const liveDefinition = await readDefinition(shardDirectory(dataDir, next.from.epoch, 0));
  if (liveDefinition === null) return { outcome: null, changes: [] };
  const views = loadViews(VIEWS_DIRECTORY);
  const readers: SnapshotReader[] = [];
  const snapshots: Snapshot[] = [];
  const open = async (directories: readonly string[]): Promise<Snapshot[]> => {
    const found: Snapshot[] = [];
    for (const directory of directories) {
      const reader = await openReader(dataDir, directory, views);
      readers.push(reader);
      const snapshot = await reader.snapshot();
      if (snapshot !== null) found.push(snapshot);
    }
    snapshots.push(...found);
    return found;
  };
  const directoriesOf = ({ shards }: Epoch, directory: (shard: number) => string): string[] =>
    Array.from({ length: shards }, (_, shard) => directory(shard));
  try {
    const live = directoriesOf(next.from, (shard) => pinnedDirectory(dataDir, next.epoch, shard));
    const rebuilt = directoriesOf(next, (shard) => shardDirectory(dataDir, next.epoch, shard));
    const pairs: Pair[] = [];
    if (live.length === rebuilt.length) {
      for (const [shard, directory] of live.entries()) {
        const pair = { live: await open([directory]), rebuilt: await open([rebuilt[shard] as string]) };
        if (pair.live.length > 0) pairs.push(pair);
      }
    } else {
      pairs.push({ live: await open(live), rebuilt: await open(rebuilt) });
    }
    const outcome = await compareBuilds({ pairs, views, liveDefinition, rebuiltDefinition: definition });
    return { outcome, changes: changesBetween(liveDefinition, definition) };
  } finally {
    for (const snapshot of snapshots) snapshot.release();
    for (const reader of readers) await reader.close();
  }
}

function openReader(dataDir: string, directory: string, views: readonly View[]): Promise<SnapshotReader> {
  return SnapshotReader.open({
    directory: () => directory,
    views,
    threads: 1,
    connections: 1,
    memoryLimit: COMPARISON_MEMORY,
    spillDirectory: spillDirectory(dataDir, 'comparison'),
  });
}

function describe(outcome: Comparison | null, changes: readonly string[], at: number): string {
  if (outcome === null) return 'not compared with the live views: by what they were made is not known';
  const { tables, notCompared, instances, elsewhere } = outcome;
  const rows = tables.reduce((sum, { rebuiltRows }) => sum + rebuiltRows, 0);
  const equal = tables.filter(({ differing }) => differing === 0).length;
  const lines = [
    ...(changes.length === 0 ? [] : [`made anew: ${changes.join('; ')}`]),
    `compared with the live views at entry ${count(at)}: ${equal} of ${tables.length} tables equal` +
      `${tables.some(({ scope }) => scope === 'stream') ? ' in what follows from the stream alone' : ''}` +
      ` (${count(rows)} rows, ${count(instances)} ${instances === 1 ? 'instance' : 'instances'})`,
  ];
  const expected = tables.filter(({ due, differing }) => !due && differing > 0).map(({ table }) => table);
  if (expected.length > 0)
    lines.push(`different, as views that they come after are others than before: ${expected.join(', ')}`);
  if (elsewhere > 0) lines.push(`not compared, being at other entries: ${count(elsewhere)} instances`);
  const reasons = Map.groupBy(notCompared, ({ reason }) => reason);
  for (const [reason, group] of reasons) {
    const names = group.slice(0, NAMED).map(({ table }) => table);
    lines.push(`not compared: ${names.join(', ')}${group.length > NAMED ? ', …' : ''} (${reason})`);
  }
  return lines.join('\n');
}

async function rollBack(settings: ReplaySettings, active: ActiveEpoch, options: Options): Promise<number> {
  const { config, connection, analysis, progress } = settings;
  const { dataDir } = config;
  const { previous } = active;
  if (previous === undefined) throw new SetupError('There are no earlier views to go back to.');
  const back: ActiveEpoch = { ...previous, previous: { epoch: active.epoch, shards: active.shards } };
  const made = await readDefinition(shardDirectory(dataDir, previous.epoch, 0));
  const changes = made === null ? [] : changesBetween(made, currentDefinition(analysis.model));
  if (options.force) writeActiveEpoch(dataDir, back);
  else {
    if (changes.length > 0) {
      throw new SetupError(
        `The views ${previous.epoch} were made by other code or another model (${changes.join('; ')}): go back to it first. ` +
          'With --force they answer as they are, and nothing new is counted until then.',
      );
    }
    const replay = new Replay(settings, previous);
    await replay.catchUp(() =>
      options.toLatest
        ? newestOf(connection, previous)
        : Promise.resolve(liveSequences(dataDir, active, previous)),
    );
    await replay.follow(active, back);
  }
  progress.line(`switched back from views ${active.epoch} to views ${previous.epoch}`);
  return 0;
}

function clean(config: Config, active: ActiveEpoch): number {
  // First what names them.
  if (active.previous !== undefined)
    writeActiveEpoch(config.dataDir, { epoch: active.epoch, shards: active.shards });
  const removed = removeOtherEpochs(config.dataDir, [active.epoch]);
  process.stdout.write(
    removed.length === 0
      ? 'there was nothing to delete\n'
      : `deleted views ${removed.join(', ')}; views ${active.epoch} stay\n`,
  );
  return 0;
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
