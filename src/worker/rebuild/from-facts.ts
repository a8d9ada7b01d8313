/** Covered by test/cli/rebuild.test.ts and test/store/live/refold.test.ts. */
import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { count, duration, messagesPerSecond } from '../../domain/progress.ts';
import { SetupError } from '../../errors.ts';
import { notedDamage } from '../../store/damage.ts';
import { spillDirectory } from '../../store/data-directory.ts';
import { DatabaseError } from '../../store/duckdb.ts';
import { readDefinition, sameAnalysis, sameModel } from '../../store/epochs/definition.ts';
import { shardDirectory, type Epoch } from '../../store/epochs/epochs.ts';
import { keepInstances } from '../../store/live/keep-instances.ts';
import { canRefold, refold } from '../../store/live/refold.ts';
import { loadViews } from '../../store/view-files.ts';
import { analysisOf, VIEWS_DIRECTORY } from '../current-definition.ts';
import { copyShard } from '../shard-copy.ts';
import { InterruptedError, type ReplaySettings } from './replay.ts';

/** Each holds temporary tables of its own; beyond so many a fold gains nothing. */
const MOST_THREADS = 4;
/** With a throttle, a part holds what may be done in this time, but not so little that it costs many times as much. */
const BURST_SECONDS = 2;
const LEAST_PART = 5000;
const DEFERRED_MS = 500;

/** Takes out of a copy of a shard's database what is to be forgotten, before its facts are counted. */
export type Forget = (file: string, shard: number) => Promise<void>;

/** What a build is made from: the facts that the live views kept, or the stream. */
export type RebuildSource = 'facts' | 'stream';

/**
 * What a build is made from when nobody says so: the facts, when nothing but views changed. Then no text says anything
 * else than it did.
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
    live.shards === shards &&
    sameAnalysis(made, definition) &&
    canRefold(loadViews(VIEWS_DIRECTORY), made);
  if (wanted === 'facts' && !suffices) {
    throw new SetupError(
      'The facts of the live views do not suffice: model, rules, the number of shards or the facts themselves ' +
        'changed. "npm run rebuild" reads the stream.',
    );
  }
  return suffices && (wanted === 'facts' || made !== definition) ? 'facts' : 'stream';
}

/**
 * Makes the database of each shard from the facts that the live one kept, at the position of the live one; leaves those
 * that are there, and those whose facts cannot be read, to the replay. `forget` is told of a copy of each live database
 * before it is read; then all of them have to be. The number of messages.
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
  const directory = shardDirectory(dataDir, live.epoch, shard);
  if (!existsSync(join(directory, 'state.duckdb'))) return 0;
  const damage = notedDamage(directory, 'state');
  if (damage !== null) throw new SetupError(`${directory} is damaged (${damage})`);
  const refoldFrom = (from: string): Promise<number> =>
    refold({
      from,
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
  if (forget === null) {
    try {
      return await refoldFrom(file);
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.file !== 'held') throw error;
    }
    progress.line(`a worker has views ${live.epoch} open: copying them first`);
  }
  return withCopy(settings, live, next, shard, async (copy) => {
    await forget?.(copy, shard);
    return refoldFrom(copy);
  });
}

/** Works on a copy of a live database, beside the shard that is made from it. */
async function withCopy<T>(
  { connection, dataDir }: Pick<ReplaySettings, 'connection' | 'dataDir'>,
  live: Epoch,
  next: Epoch,
  shard: number,
  work: (file: string) => Promise<T>,
): Promise<T> {
  const copy = `${shardDirectory(dataDir, next.epoch, shard)}.facts`;
  try {
    await copyShard(connection, dataDir, live, shard, copy);
    return await work(copy);
  } finally {
    for (const suffix of ['', '.wal']) rmSync(`${copy}${suffix}`, { force: true });
  }
}

/**
 * Begins the database of each shard with the rows that the live one has of some instances, as they are; entries of
 * theirs up to the position of the live one are not applied again. For instances of which the stream no longer holds
 * what was said.
 *
 * @throws SetupError when rows of other rules or another model cannot be gone on with; InterruptedError
 */
export async function carryOver(
  settings: ReplaySettings,
  live: Epoch,
  next: Epoch & { readonly definition: string },
  instances: ReadonlySet<string>,
): Promise<void> {
  const { dataDir, analysis, memoryBytes, progress, signal } = settings;
  for (let shard = 0; shard < next.shards; shard += 1) {
    const directory = shardDirectory(dataDir, next.epoch, shard);
    if (existsSync(join(directory, 'state.duckdb'))) continue;
    if (!existsSync(join(shardDirectory(dataDir, live.epoch, shard), 'state.duckdb'))) continue;
    for (;;) {
      const carried = await withCopy(settings, live, next, shard, async (copy) => {
        const found = await keepInstances(copy, instances);
        if (typeof found === 'string' || found === 0) return found;
        const made = (await readDefinition(shardDirectory(dataDir, live.epoch, shard))) ?? '';
        const views = loadViews(VIEWS_DIRECTORY);
        if (live.shards !== next.shards || !sameModel(made, next.definition) || !canRefold(views, made)) {
          throw new SetupError(
            'The texts of an instance are no longer kept, so its rows have to be taken over from the live views: ' +
              'those were made with another model, another number of shards or by views whose facts do not suffice. ' +
              'Go back to what made them.',
          );
        }
        const spill = spillDirectory(dataDir, `views-${next.epoch}-${shard}`);
        await refold({
          from: copy,
          directory,
          views,
          analysis: analysisOf(analysis.model),
          threads: 1,
          memoryBytes,
          spillDirectory: spill,
          carried: true,
          onPart: (done, of) => beforePart(settings, done, of),
        });
        return found;
      });
      progress.end();
      if (typeof carried === 'number') {
        if (carried > 0) progress.line(`taken over from views ${live.epoch}: ${count(carried)} instances`);
        break;
      }
      // What was put off of theirs is counted soon.
      if (signal.aborted) throw new InterruptedError();
      await sleep(DEFERRED_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Tells how far a shard is, keeps to the throttle, and ends the work when it is interrupted. */
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
