/**
 * Builds views from the facts that the live views kept, for a rebuild without the stream, and carries rows of single
 * instances over.
 *
 * Test: test/cli/rebuild.test.ts, test/store/live/refold.test.ts.
 */
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { count, duration, messagesPerSecond } from '../../domain/progress.ts';
import { SetupError } from '../../errors.ts';
import { carriedSession } from '../../reader/conversations/session-format.ts';
import { notedDamage } from '../../store/damage.ts';
import { spillDirectory } from '../../store/data-directory.ts';
import { DatabaseError } from '../../store/duckdb.ts';
import { readDefinition, sameAnalysis, sameModel } from '../../store/epochs/definition.ts';
import { shardDirectory, type Epoch } from '../../store/epochs/epochs.ts';
import { keepInstances, keepWanted } from '../../store/live/keep-instances.ts';
import { canCarry, carry } from '../../store/live/carry.ts';
import { canRefold, refold } from '../../store/live/refold.ts';
import { loadViews } from '../../store/view-files.ts';
import { overlapOf, shardOf } from '../../stream/subjects.ts';
import { analysisOf, VIEWS_DIRECTORY } from '../current-definition.ts';
import { copyShard } from '../shard-copy.ts';
import { InterruptedError, type ReplaySettings } from './replay.ts';

/** Each thread holds temporary tables; more threads do not speed up a fold. */
const MOST_THREADS = 4;
/**
 * With a throttle, a part holds the messages of this time, but at least LEAST_PART: smaller parts multiply the cost.
 */
const BURST_SECONDS = 2;
const LEAST_PART = 5000;
const DEFERRED_MS = 500;

/** Removes what is to be forgotten from a copy of a shard's database, before its facts are folded. */
export type Forget = (file: string, shard: number) => Promise<void>;

/** The source of a build: the facts that the live views kept, or the stream. */
export type RebuildSource = 'facts' | 'stream';

/**
 * Chooses the source of a build. The default is the facts when only views changed, as then the analysis is the same, or
 * when shards are divided.
 *
 * @throws SetupError when the facts are wanted and do not suffice
 */
export async function chooseSource(
  { dataDir, shards, archive }: Pick<ReplaySettings, 'dataDir' | 'archive'> & { readonly shards: number },
  live: Epoch,
  definition: string,
  wanted: RebuildSource | null,
): Promise<RebuildSource> {
  if (wanted === 'stream' || archive !== null) return 'stream';
  const made = await readDefinition(shardDirectory(dataDir, live.epoch, 0));
  const suffices =
    made !== null &&
    dividesInto(live.shards, shards) &&
    sameAnalysis(made, definition) &&
    canRefold(loadViews(VIEWS_DIRECTORY), made);
  if (wanted === 'facts' && !suffices) {
    throw new SetupError(
      'The facts of the live views do not suffice: model, rules or the facts themselves changed, or a shard would have ' +
        'instances of several. "npm run rebuild" reads the stream.',
    );
  }
  const isChanged = made !== definition || live.shards !== shards;
  return suffices && (wanted === 'facts' || isChanged) ? 'facts' : 'stream';
}

/** Returns true if all instances of each shard among `next` are in one shard among `live`. */
export function dividesInto(live: number, next: number): boolean {
  return Array.from({ length: next }, (_, shard) => overlapOf(shard, next, live)).every(
    ({ length }) => length <= 1,
  );
}

/**
 * Builds the database of each shard from the facts of the live one, at its position. Leaves existing databases, and
 * those whose facts cannot be read, to the replay. With `forget`, which receives a copy of each live database, all of
 * them must be readable. Returns the number of messages.
 *
 * @throws InterruptedError; with `forget`, also SetupError and DatabaseError, and what `forget` throws
 */
export async function makeFromFacts(
  settings: ReplaySettings,
  live: Epoch,
  next: Epoch & { readonly definition: string },
  forget: Forget | null = null,
): Promise<number> {
  const startedAt = performance.now();
  let messages = 0;
  for (let shard = 0; shard < next.shards; shard += 1) {
    if (existsSync(join(shardDirectory(settings.dataDir, next.epoch, shard), 'state.duckdb'))) continue;
    try {
      messages += await makeShard(settings, live, next, shard, forget);
      settings.progress.end();
    } catch (error) {
      if (
        forget !== null ||
        error instanceof InterruptedError ||
        !(error instanceof DatabaseError || error instanceof SetupError)
      )
        throw error;
      settings.progress.end();
      settings.progress.line(
        `the facts of shard ${shard} cannot be read, so the stream is: ${error.message}`,
      );
    }
  }
  if (messages > 0) {
    const ms = performance.now() - startedAt;
    settings.progress.line(
      `made from the facts of views ${live.epoch}: ${count(messages)} messages in ${duration(ms)} ` +
        `(${messagesPerSecond((messages / ms) * 1000)})`,
    );
  }
  return messages;
}

async function makeShard(
  settings: ReplaySettings,
  live: Epoch,
  next: Epoch,
  shard: number,
  forget: Forget | null,
): Promise<number> {
  const { dataDir, analysis, memoryBytes, progress, throttle } = settings;
  const [from = 0] = overlapOf(shard, next.shards, live.shards);
  const directory = shardDirectory(dataDir, live.epoch, from);
  if (!existsSync(join(directory, 'state.duckdb'))) return 0;
  const damage = notedDamage(directory, 'state');
  if (damage !== null) throw new SetupError(`${directory} is damaged (${damage})`);
  const refoldFrom = (state: string): Promise<number> =>
    refold({
      from: state,
      directory: shardDirectory(dataDir, next.epoch, shard),
      views: loadViews(VIEWS_DIRECTORY),
      analysis: analysisOf(analysis.model),
      threads: throttle === null ? Math.min(availableParallelism(), MOST_THREADS) : 1,
      memoryBytes,
      spillDirectory: spillDirectory(dataDir, `views-${next.epoch}-${shard}`),
      ...(throttle === null ? {} : { partRows: Math.max(LEAST_PART, throttle * BURST_SECONDS) }),
      onPart: (done, of) => beforePart(settings, done, of),
    });
  const file = join(directory, 'state.duckdb');
  const isDivided = live.shards !== next.shards;
  if (forget === null && !isDivided) {
    try {
      return await refoldFrom(file);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.file !== 'held') throw error;
    }
    progress.line(`a worker has views ${live.epoch} open: copying them first`);
  }
  const { connection } = settings;
  const copyTo = (to: string): Promise<unknown> => copyShard(connection, dataDir, live, from, to);
  return withCopy(copyTo, shardDirectory(dataDir, next.epoch, shard), async (copy) => {
    if (isDivided) await keepWanted(copy, (id) => shardOf(id, next.shards) === shard);
    await forget?.(copy, shard);
    return refoldFrom(copy);
  });
}

/**
 * Runs `work` on a copy of a live database. The copy lies beside `directory`, the shard that is built from it, and is
 * deleted.
 */
async function withCopy<T>(
  copyTo: (file: string) => Promise<unknown>,
  directory: string,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const copy = `${directory}.facts`;
  try {
    await copyTo(copy);
    return await work(copy);
  } finally {
    for (const suffix of ['', '.wal']) rmSync(`${copy}${suffix}`, { force: true });
  }
}

/** The live state of a shard. */
export interface LiveState {
  /** Number of shards of its views. */
  readonly shards: number;
  /** The definition of its rows. */
  readonly definition: string;
  /** Copies it to a file. */
  readonly copyTo: (file: string) => Promise<unknown>;
}

/**
 * Starts the database of each shard with the live rows of some instances; their entries up to the live position are not
 * applied again. For instances whose messages the stream no longer holds.
 *
 * @throws SetupError when the rows cannot be continued, as another model or other rules made them; InterruptedError
 */
export async function carryOver(
  settings: ReplaySettings,
  live: Epoch,
  next: Epoch & { readonly definition: string },
  instances: ReadonlySet<string>,
): Promise<void> {
  const { dataDir, connection, progress } = settings;
  for (let shard = 0; shard < next.shards; shard += 1) {
    const directory = shardDirectory(dataDir, live.epoch, shard);
    if (!existsSync(join(directory, 'state.duckdb'))) continue;
    const carried = await carryShard(settings, next, shard, instances, {
      shards: live.shards,
      definition: (await readDefinition(directory)) ?? '',
      copyTo: (file) => copyShard(connection, dataDir, live, shard, file),
    });
    if (carried > 0) progress.line(`taken over from views ${live.epoch}: ${count(carried)} instances`);
  }
}

/** Carries over one shard that is not begun; see `carryOver`. Returns the number of instances. */
export async function carryShard(
  settings: ReplaySettings,
  next: Epoch & { readonly definition: string },
  shard: number,
  instances: ReadonlySet<string>,
  live: LiveState,
): Promise<number> {
  const { progress, signal } = settings;
  const directory = shardDirectory(settings.dataDir, next.epoch, shard);
  if (existsSync(join(directory, 'state.duckdb'))) return 0;
  for (;;) {
    const carried = await withCopy(live.copyTo, directory, (copy) =>
      refoldCarried(settings, next, shard, { copy, instances, live }),
    );
    progress.end();
    if (typeof carried === 'number') return carried;
    // Deferred parts of these instances will be counted soon.
    if (signal.aborted) throw new InterruptedError();
    await sleep(DEFERRED_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Makes the state of a shard from the rows of `instances` in a copy. Returns what `keepInstances` does. */
async function refoldCarried(
  settings: ReplaySettings,
  next: Epoch & { readonly definition: string },
  shard: number,
  from: { readonly copy: string; readonly instances: ReadonlySet<string>; readonly live: LiveState },
): Promise<number | 'deferred'> {
  const { dataDir, analysis, memoryBytes } = settings;
  const { copy, instances, live } = from;
  const found = await keepInstances(copy, instances);
  if (typeof found === 'string' || found === 0) return found;
  const views = loadViews(VIEWS_DIRECTORY);
  if (
    live.shards !== next.shards ||
    !sameModel(live.definition, next.definition) ||
    !canCarry(views, live.definition)
  ) {
    throw new SetupError(
      'The texts of an instance are no longer kept, so its rows have to be taken over from the live views: ' +
        'those were made with another model, another number of shards or by views whose facts do not suffice. ' +
        'Go back to what made them.',
    );
  }
  const { dimensions } = analysis.model;
  // Loaded on demand: it loads the lexicon, which most workers and commands need in their analysis threads alone.
  const { carriedTopics } = await import('../../reader/topics/state-codec.ts');
  await carry(copy, views, live.definition, {
    ofInstance: (rows) => carriedTopics(rows, dimensions),
    ofSession: carriedSession,
  });
  await refold({
    from: copy,
    directory: shardDirectory(dataDir, next.epoch, shard),
    views,
    analysis: analysisOf(analysis.model),
    threads: 1,
    memoryBytes,
    spillDirectory: spillDirectory(dataDir, `views-${next.epoch}-${shard}`),
    carried: true,
    onPart: (done, of) => beforePart(settings, done, of),
  });
  return found;
}

/** Reports progress, applies the throttle, and throws InterruptedError when interrupted. */
async function beforePart(
  { progress, throttle, signal }: ReplaySettings,
  done: number,
  of: number,
): Promise<void> {
  if (signal.aborted) throw new InterruptedError();
  if (done === 0) progress.begin({ title: 'rebuilding from facts', to: of, rate: messagesPerSecond });
  progress.update({ done, details: `message ${count(done)} of ${count(of)}` });
  if (throttle === null || done === 0) return;
  const partRows = Math.max(LEAST_PART, throttle * BURST_SECONDS);
  await sleep((partRows / throttle) * 1000, undefined, { signal }).catch(() => {
    throw new InterruptedError();
  });
}
