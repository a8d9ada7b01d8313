/**
 * `npm run sink -- --to FOLDER`: writes facts and rollups as Parquet files.
 *
 * Test: test/cli/sink.test.ts.
 */
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../config.ts';
import { count } from '../domain/progress.ts';
import { printable } from '../domain/printable.ts';
import { AppError, SetupError } from '../errors.ts';
import { SinkFolder } from '../doors/sink/folder.ts';
import type { SinkManifest } from '../doors/sink/manifest.ts';
import { runSink, SinkInterrupted } from '../doors/sink/sink.ts';
import { activeEpochOf, withSource } from '../doors/sink/source.ts';
import { SINK_TABLES, type SinkTable } from '../doors/sink/tables.ts';
import { isOutOfRoom } from '../store/damage.ts';
import { loadViews, type View } from '../store/view-files.ts';
import { action, INTERRUPTED, runCommand, UsageError, uuid, type CommandRun } from './command.ts';

const VIEWS_DIRECTORY = join(import.meta.dirname, '../../views');
const TABLE_NAMES = SINK_TABLES.map(({ name }) => name);

const USAGE = `Usage: npm run sink -- --to FOLDER [OPTIONS]

Writes facts and rollups as Parquet files to a folder, for ClickHouse, Spark, DuckDB and what else reads them, and again
every hour: only partitions whose rows have changed. docs/sink.md has the columns. Texts of messages stay where they
are.

  --to FOLDER        a folder of its own; made when it is not there
  --every TIME       pause between two runs, such as 15m, 1h (default) or 1d
  --once             one run
  --instance UUID    only this instance; may be repeated (default: all)
  --tables A,B       some of ${TABLE_NAMES.join(', ')} (default: all)

Reads DATA_DIR; the service may run or not. What the folder holds of other instances and tables stays as it is.

Exit status: 0 written or stopped, 1 it failed (with --once, or it cannot begin), 2 wrong usage, 130 interrupted.`;

interface Options {
  readonly to: string;
  /** Null runs once. */
  readonly everyMs: number | null;
  readonly tables: readonly SinkTable[];
  readonly instances: readonly string[] | null;
}

const sinking = action({
  options: {
    to: { type: 'string' },
    every: { type: 'string' },
    once: { type: 'boolean', default: false },
    instance: { type: 'string', multiple: true },
    tables: { type: 'string' },
  },
  read({ to, every, once, instance, tables }) {
    if (to === undefined || to === '') throw new UsageError('--to is needed.');
    if (once && every !== undefined) throw new UsageError('--once and --every exclude each other.');
    const options: Options = {
      to,
      everyMs: once ? null : readPause(every ?? '1h'),
      tables: readTables(tables),
      instances: instance?.map((id) => uuid('--instance', id)).toSorted() ?? null,
    };
    return (run) => sink(options, run);
  },
});

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Longest delay of a timer. */
const MAX_PAUSE_MS = 2 ** 31 - 1;

function readPause(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS_MS[unit] ?? Number.NaN);
  if (ms >= 1000 && ms <= MAX_PAUSE_MS) return ms;
  throw new UsageError('--every takes a time from 1s to 24d, such as 15m, 1h or 1d.');
}

function readTables(text: string | undefined): readonly SinkTable[] {
  if (text === undefined) return SINK_TABLES;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !TABLE_NAMES.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `There is no table ${printable(unknown)}: --tables takes ${TABLE_NAMES.join(', ')}.`,
    );
  return SINK_TABLES.filter(({ name }) => names.includes(name));
}

async function sink(options: Options, { interruption }: CommandRun): Promise<number> {
  const { dataDir } = loadConfig();
  const views = loadViews(VIEWS_DIRECTORY);
  const signal = interruption();
  // Lower priority than web and worker.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const { everyMs } = options;
  const works = (work: () => unknown): Promise<boolean> => succeeds(work, everyMs !== null);
  let folder: SinkFolder | null = null;
  try {
    for (;;) {
      const startedAt = performance.now();
      // Creates no folder while there are no views; an unusable folder ends the command.
      if (await works(() => activeEpochOf(dataDir))) {
        const opened = (folder ??= await SinkFolder.open(options.to));
        await works(() => once(opened, { dataDir, views }, options, signal));
      }
      if (everyMs === null) return 0;
      await sleep(Math.max(0, startedAt + everyMs - performance.now()), undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return everyMs === null ? INTERRUPTED : 0;
  } finally {
    folder?.close();
  }
}

/**
 * Returns true on success. If another run follows, a SetupError is printed and returns false. Other errors are thrown.
 */
async function succeeds(work: () => unknown, hasNext: boolean): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!hasNext || !(error instanceof SetupError)) throw error;
    process.stderr.write(`${printable(error.message)} The next run tries again.\n`);
    return false;
  }
}

/** Does one run. Throws SetupError with the reason of a failure, SinkInterrupted, or an unexpected error. */
async function once(
  folder: SinkFolder,
  { dataDir, views }: { readonly dataDir: string; readonly views: readonly View[] },
  { tables, instances }: Options,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  try {
    const manifest = await withSource({ dataDir, views, spillDirectory: folder.spillDirectory }, (source) =>
      runSink(source, { folder, tables, instances, now: () => Date.now() * 1000, signal }),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    process.stdout.write(`${new Date().toISOString()} ${describe(manifest, seconds)}\n`);
  } catch (error) {
    if (error instanceof SinkInterrupted) throw error;
    if (isOutOfRoom(error))
      throw new SetupError(`The disk of ${folder.path} is full. What was there is as it was.`, {
        cause: error,
      });
    if (error instanceof AppError) throw new SetupError(error.message, { cause: error });
    throw error;
  }
}

function describe({ run, lastProcessedAt }: SinkManifest, seconds: number): string {
  if (run === null) return '';
  const { filesWritten, filesRemoved, filesUnchanged, rowsWritten } = run;
  const reached =
    lastProcessedAt === null ? 'nothing is processed yet' : `processed up to ${lastProcessedAt}`;
  return (
    `wrote ${count(rowsWritten)} rows to ${count(filesWritten)} files in ${seconds.toFixed(1)} s, ` +
    `removed ${count(filesRemoved)} files, ${count(filesUnchanged)} unchanged; ${reached}`
  );
}

await runCommand({ usage: USAGE, action: sinking });
