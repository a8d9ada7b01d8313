import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { isDamage, isOutOfRoom, noteDamage } from '../store/damage.ts';
import { writeDefinition } from '../store/epochs/definition.ts';
import { shardDirectory, type Epoch } from '../store/epochs/epochs.ts';
import { readManifest } from '../store/published/manifest.ts';
import { Publication } from '../store/published/publication.ts';
import { copyOpenState, type StateCopy } from '../store/live/state-copy.ts';
import { definitionOf, HeldStateError, StateStore } from '../store/live/state-store.ts';
import { loadViews } from '../store/view-files.ts';
import { WorkMarkFile } from '../store/live/work-mark.ts';
import { decodeRecord } from '../stream/log/codec.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openConsumer, type Delivered } from '../stream/log/consumer.ts';
import { MessageNotes } from '../stream/dead-letters/message-notes.ts';
import { partitionsOf } from '../stream/subjects.ts';
import { spillDirectory } from '../store/data-directory.ts';
import { LostStateError, openState, type OpenedState } from './shard-state.ts';
import type { AnalysisPool } from './analysis/pool.ts';
import { idleCounters, type WorkCounters } from './counters.ts';
import { analysisOf, VIEWS_DIRECTORY } from './current-definition.ts';
import { WorkerLoop, type EntrySource } from './loop.ts';

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
  readonly dataDir: string;
  /** Most bytes of stream entries in a batch, inflated. */
  readonly batchBytes: number;
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
  /** Opens the source of the shard's entries. Default: the stream, which the shard follows until it is closed. */
  readonly openSource?: (start: SourceStart) => Promise<ShardSource>;
  /** Sequence up to which the source holds entries that the stream no longer has. Default 0. */
  readonly archivedUntil?: number;
  /** Lost state halts the shard instead of failing the open: what was published goes on being read. */
  readonly haltWhenLost?: boolean;
}

/** Where a source of entries begins. */
export interface SourceStart {
  /** Stream sequence of the last entry that the views contain; 0 for none. */
  readonly sequence: number;
  readonly partitions: readonly number[];
  /** Messages that the shard has decoded so far. */
  readonly messages: () => number;
}

export interface ShardSource extends EntrySource {
  /** Ends the wait for more entries. */
  close(): Promise<void>;
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

/**
 * Opens a shard's views and the stream behind their position. Throws SetupError when they cannot be opened.
 * Views that are damaged are made from the stream again, while readers stay with the files that they have; when
 * the stream no longer holds all of it, the shard is halted.
 */
export async function openShard(options: ShardOptions): Promise<Shard> {
  const { dataDir, connection, logger, active, shard } = options;
  const views = loadViews(VIEWS_DIRECTORY);
  const madeBy = analysisOf(options.analysis.model);
  const directory = shardDirectory(dataDir, active.epoch, shard);
  const open = (): Promise<StateStore> =>
    whenReleased(options.waitForLockMs ?? 0, () =>
      StateStore.open({
        directory,
        views,
        analysis: madeBy,
        // Two take longer: what a statement of the fold does is too little to share. A merge has a thread of its own.
        threads: 1,
        memoryLimit: '768MB',
        spillDirectory: spillDirectory(dataDir, `views-${active.epoch}-${shard}`),
      }),
    );
  const partitions = partitionsOf(shard, active.shards);
  let opened: OpenedState;
  try {
    const { archivedUntil = 0 } = options;
    opened = await openState({ directory, shard, partitions, connection, logger, archivedUntil, open });
  } catch (error) {
    if (!(error instanceof LostStateError) || options.haltWhenLost !== true) throw error;
    logger.error(
      { event: 'state_lost', shard, directory },
      `${error.message} Until then queries are answered from what was published last.`,
    );
    return haltedShard(directory);
  }
  const { store, holdUntil } = opened;
  writeDefinition(directory, definitionOf(views, madeBy));
  const publication = new Publication({
    store,
    graceMs: GRACE_MS,
    compactRows: MERGE_ROWS,
    compactRatio: MERGE_RATIO,
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
  let messages = 0;
  const openSource = options.openSource ?? ((start) => openStream(connection, start));
  const source = await openSource({ sequence: store.sequence, partitions, messages: () => messages });
  const analysis = options.analysis.forShard(shard, active.shards);
  const marks = new WorkMarkFile(directory);
  const loop: WorkerLoop = new WorkerLoop({
    source,
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
    maxBytes: options.batchBytes,
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

async function openStream(
  connection: StreamConnection,
  { sequence, partitions }: SourceStart,
): Promise<ShardSource> {
  const consumer = await openConsumer(connection, { startSequence: sequence + 1, partitions });
  return { next: (limits) => consumer.next(limits), close: () => consumer.close() };
}

/** A shard whose views cannot be worked on: what was published goes on being read, and entries wait. */
function haltedShard(directory: string): Shard {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const sequence = readManifest(directory)?.seq ?? -1;
  return {
    store: { sequence },
    publication: { sequence },
    messages: 0,
    counters: idleCounters(sequence, Date.now() * 1000),
    run: () => closed,
    copyState: () => Promise.reject(new Error(`the views in ${directory} are damaged: the shard is halted`)),
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
