import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { ASSIGNMENT_VERSION } from '../assign/version.ts';
import { enrichmentId, loadHeads } from '../enrich/enricher.ts';
import type { Logger } from '../logger.ts';
import { isDamage, isOutOfRoom, noteDamage } from '../store/damage.ts';
import { writeDefinition } from '../store/definition.ts';
import { shardDirectory, type Epoch } from '../store/epochs.ts';
import { Publication, readGeneration } from '../store/publication.ts';
import { copyOpenState, type StateCopy } from '../store/state-copy.ts';
import { definitionOf, HeldStateError, StateStore } from '../store/state-store.ts';
import { loadViews } from '../store/view-files.ts';
import { WorkMarkFile } from '../store/work-mark.ts';
import { decodeRecord } from '../stream/codec.ts';
import { openArchiveConsumer, type StreamArchive } from '../stream/archive-consumer.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { lastSequenceOf, openConsumer, type Delivered, type TakeOptions } from '../stream/consumer.ts';
import { MessageNotes } from '../stream/message-notes.ts';
import { partitionsOf } from '../stream/subjects.ts';
import { spillDirectory } from './data-directory.ts';
import { LostStateError, openState, type OpenedState } from './shard-state.ts';
import type { AnalysisPool } from '../worker/analysis-pool.ts';
import type { AnalysisModel } from '../worker/analysis-protocol.ts';
import { idleCounters, type WorkCounters } from '../worker/counters.ts';
import { WorkerLoop } from '../worker/loop.ts';

/** The repository's own folders: views and models belong to the code. */
const ROOT = join(import.meta.dirname, '..', '..');
export const MODELS_DIRECTORY = join(ROOT, 'models');
export const VIEWS_DIRECTORY = join(ROOT, 'views');

/** Entries are cheap to hold; the bytes bound a batch. */
const BATCH_ENTRIES = 10_000;
/** For how long readers may still open files of a generation that was replaced. */
const GRACE_MS = 60_000;
const LOCK_LOOK_MS = 20;
/** So long that whoever starts the worker again does not take it for one that cannot run. */
const FULL_DISK_MS = 10_000;
const MERGE_ROWS = 20_000;
const MERGE_RATIO = 8;

export interface ShardOptions {
  readonly config: Config;
  /** Threads to enrich and assign with, for all shards of the process. */
  readonly analysis: AnalysisPool;
  readonly connection: StreamConnection;
  readonly logger: Logger;
  readonly active: Epoch;
  /** 0 to `active.shards` − 1. */
  readonly shard: number;
  readonly setAside: (entry: Delivered, reason: string) => Promise<void>;
  /** Rejects when another worker may own the shard by now; asked right before each commit. */
  readonly guard?: () => Promise<void>;
  /** How long to wait for the first entry of a batch, milliseconds. */
  readonly waitMs: number;
  readonly publishEveryMs: number;
  /** How long another process may take to let go of the views. Default 0. */
  readonly waitForLockMs?: number;
  /** For a replay; without it the shard follows the stream until it is closed. */
  readonly replay?: ReplayOptions;
}

export interface ReplayOptions {
  /** Bytes of stream entries that the next batch may grow to. */
  readonly batchBytes: () => number;
  /**
   * `run` ends when every entry of the shard up to this stream sequence is applied, of those that the stream
   * holds. Null: it goes on until the shard is closed.
   */
  readonly until: number | null;
  /** A backup's copy of the stream, read before the stream itself. */
  readonly archive: StreamArchive | null;
  /** Told of each pull before it is worked on, and waited for. Rejects to end `run`. */
  readonly onPull: (pull: Pull) => Promise<void>;
}

/** Entries on their way into a replay. */
export interface Pull {
  /** Stream sequence before the first of them, and of the last; the same when none came. */
  readonly after: number;
  readonly sequence: number;
  /** Messages of all pulls before, since the shard was opened. */
  readonly messagesBefore: number;
  readonly bytesBefore: number;
}

/** Everything that works on one shard of the stream, open. */
export interface Shard {
  readonly store: Pick<StateStore, 'sequence'>;
  readonly publication: Pick<Publication, 'sequence'>;
  /** Messages that were decoded since it was opened. */
  readonly messages: number;
  /** What the work has come to since it was opened, as it is at the moment of reading. */
  readonly counters: WorkCounters;
  /** Resolves when stopped (or caught up); rejects when the views cannot be written. */
  run(): Promise<void>;
  /** Copies the live database, as it is at one position, beside it (`COPY_FILE`), while work goes on. */
  copyState(): Promise<StateCopy>;
  /** Lets the batch in work finish, publishes, and closes everything. */
  close(): Promise<void>;
}

/** By what rows are made that this code writes with a model. */
export function currentDefinition(model: Pick<AnalysisModel, 'id'>): string {
  return definitionOf(loadViews(VIEWS_DIRECTORY), analysisOf(model));
}

function analysisOf({ id }: Pick<AnalysisModel, 'id'>): string {
  return `model:${id} enrichment:${enrichmentId(loadHeads())} assignment:${ASSIGNMENT_VERSION}`;
}

/**
 * Opens a shard's views and the stream behind their position. Throws SetupError when they cannot be opened.
 * Views that are damaged are made from the stream again, while readers stay with the files that they have; when
 * the stream no longer holds all of it, the shard stands still.
 */
export async function openShard(options: ShardOptions): Promise<Shard> {
  const { config, connection, logger, active, shard, replay } = options;
  const views = loadViews(VIEWS_DIRECTORY);
  const madeBy = analysisOf(options.analysis.model);
  const directory = shardDirectory(config.dataDir, active.epoch, shard);
  const open = (): Promise<StateStore> =>
    whenReleased(options.waitForLockMs ?? 0, () =>
      StateStore.open({
        directory,
        views,
        analysis: madeBy,
        // Two take longer: what a statement of the fold does is too little to share. A merge has a thread of its own.
        threads: 1,
        memoryLimit: '768MB',
        spillDirectory: spillDirectory(config.dataDir, `views-${active.epoch}-${shard}`),
      }),
    );
  const partitions = partitionsOf(shard, active.shards);
  let opened: OpenedState;
  try {
    const archivedUntil = replay?.archive?.lastSequence ?? 0;
    opened = await openState({ directory, shard, partitions, connection, logger, archivedUntil, open });
  } catch (error) {
    if (!(error instanceof LostStateError) || replay !== undefined) throw error;
    logger.error(
      { event: 'state_lost', shard, directory },
      `${error.message} Until then queries are answered from what was published last.`,
    );
    return standingShard(directory);
  }
  const { store, holdUntil } = opened;
  writeDefinition(directory, definitionOf(views, madeBy));
  const publication = new Publication({
    store,
    graceMs: GRACE_MS,
    mergeRows: MERGE_ROWS,
    mergeRatio: MERGE_RATIO,
    now: () => performance.now(),
    holdUntil,
    onError: (error) => {
      logger.error(
        { event: 'merge_failed', err: error },
        'files of the views could not be merged; tried again later',
      );
      if (isDamage(error)) fail(error);
    },
    onDamage: (reason) =>
      logger.error(
        { event: 'levels_damaged', shard, reason },
        `published files of the views are damaged (${reason}): made anew from the state`,
      ),
  });
  let damage: unknown = null;
  /** The next process that opens the shard makes it from the stream again. */
  const fail = (error: unknown): void => {
    damage = error;
    noteDamage(directory, 'state', error instanceof Error ? error.message : String(error));
    loop.stop();
  };
  const from = { startSequence: store.sequence + 1, partitions };
  const archive = replay?.archive ?? null;
  const source =
    archive === null
      ? await openConsumer(connection, from)
      : openArchiveConsumer(connection, { ...from, archive });
  let messages = 0;
  let bytes = 0;
  let pulled = store.sequence;
  let ended = false;
  /** Lets through what is to be replayed, and ends the loop behind it. */
  const pull = async (from: ReplayOptions, limits: TakeOptions): Promise<Delivered[]> => {
    const until = from.until ?? Infinity;
    if (ended || pulled >= until) {
      loop.stop();
      return [];
    }
    const delivered = await source.next({ ...limits, maxBytes: from.batchBytes() });
    const wanted = delivered.filter(({ sequence }) => sequence <= until);
    const after = pulled;
    const bytesBefore = bytes;
    for (const entry of wanted) bytes += entry.bytes.length;
    pulled = wanted.at(-1)?.sequence ?? pulled;
    ended = wanted.length < delivered.length;
    if (delivered.length === 0 && from.until !== null) {
      const last = await lastSequenceOf(connection, partitions).catch(() => Infinity);
      ended = last <= pulled;
    }
    await from.onPull({ after, sequence: pulled, messagesBefore: messages, bytesBefore });
    return wanted;
  };
  const analysis = options.analysis.forShard(shard, active.shards);
  const marks = new WorkMarkFile(directory);
  const loop: WorkerLoop = new WorkerLoop({
    source: replay === undefined ? source : { next: (limits) => pull(replay, limits) },
    store,
    publication,
    logger,
    enricher: analysis,
    assigner: analysis,
    notes: await MessageNotes.read(connection),
    marks,
    decode: (bytes) => {
      const { requests } = decodeRecord(bytes);
      for (const request of requests) messages += request.messages.length;
      return requests;
    },
    setAside: options.setAside,
    ...(options.guard === undefined ? {} : { guard: options.guard }),
    now: () => Date.now() * 1000,
    maxEntries: BATCH_ENTRIES,
    maxBytes: config.workerBatchBytes,
    waitMs: options.waitMs,
    publishEveryMs: options.publishEveryMs,
  });
  let running: Promise<void> = Promise.resolve();
  const closing = Promise.withResolvers<void>();
  return {
    store,
    publication,
    get messages() {
      return messages;
    },
    counters: loop.counters,
    copyState: () => copyOpenState(store),
    run() {
      running = loop.run().then(
        () => {
          if (damage !== null) throw damage;
        },
        async (error: unknown) => {
          if (isDamage(error)) fail(error);
          if (isOutOfRoom(error)) {
            logger.error(
              { event: 'disk_full', shard, err: error },
              `the disk of the views is full: tried again in ${FULL_DISK_MS / 1000} s; until then queries are answered from what was published last, and messages wait in the stream`,
            );
            await Promise.race([sleep(FULL_DISK_MS), closing.promise]);
          }
          throw error;
        },
      );
      return running;
    },
    async close() {
      closing.resolve();
      loop.stop();
      analysis.stop();
      // Also ends the wait for more entries.
      const closed = source.close();
      await running.catch(() => undefined);
      await closed;
      analysis.close();
      await publication.close();
      await store.close();
      marks.close();
    },
  };
}

/** A shard whose views cannot be worked on: what was published goes on being read, and entries wait. */
function standingShard(directory: string): Shard {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const sequence = readGeneration(directory)?.seq ?? -1;
  return {
    store: { sequence },
    publication: { sequence },
    messages: 0,
    counters: idleCounters(sequence, Date.now() * 1000),
    run: () => closed,
    copyState: () => Promise.reject(new Error(`the views in ${directory} are damaged and stand still`)),
    close: () => Promise.resolve(close()),
  };
}

/** Opens as soon as no other process has it open; gives up with the error that names that process's hold. */
async function whenReleased<T>(waitMs: number, open: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof HeldStateError) || performance.now() >= giveUpAt) throw error;
      await sleep(LOCK_LOOK_MS);
    }
  }
}
