/**
 * Opens all parts that work on one shard, and closes them in order. Damaged views are rebuilt from the stream while
 * readers keep the published files.
 *
 * Test: test/worker/workers.test.ts, test/worker/unanalysed.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { erasedRequest } from '../domain/erased-records.ts';
import type { OpenShardAlerts, ShardAlerts } from '../domain/alerting.ts';
import type { SharedShard, SharedShards } from '../domain/sharing.ts';
import type { OpenShardWriter, ShardWriter } from '../domain/writings.ts';
import type { Logger } from '../logger.ts';
import { isDamage, isOutOfRoom, noteDamage } from '../store/damage.ts';
import { definitionOf, writeDefinition } from '../store/epochs/definition.ts';
import { shardDirectory, type Epoch } from '../store/epochs/epochs.ts';
import { isPaused } from '../store/epochs/pause.ts';
import { readManifest } from '../store/published/manifest.ts';
import { Publication } from '../store/published/publication.ts';
import { copyOpenState, type StateCopy } from '../store/live/state-copy.ts';
import { HeldStateError } from '../store/live/state-database.ts';
import { StateStore } from '../store/live/state-store.ts';
import { loadViews } from '../store/view-files.ts';
import { WorkMarkFile } from '../store/live/work-mark.ts';
import { decodeRecord } from '../stream/log/codec.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openConsumer, readStored, type Delivered } from '../stream/log/consumer.ts';
import { MessageNotes } from '../stream/dead-letters/message-notes.ts';
import { PARTITIONS, partitionsOf, shardOf } from '../stream/subjects.ts';
import { spillDirectory } from '../store/data-directory.ts';
import { LostStateError, openState, type OpenedState } from './damage-recovery.ts';
import type { AnalysisPool, ShardAnalysis } from '../reader/threads/pool.ts';
import { idleCounters, type WorkCounters } from './counters.ts';
import { OwnEntries } from './own-entries.ts';
import { isTooMuch } from './dead-letter-decision.ts';
import { analysisOf, VIEWS_DIRECTORY } from './current-definition.ts';
import type { EntrySource } from './intake.ts';
import { WorkerLoop } from './loop.ts';

/** Entries cost little memory; `batchBytes` bounds a batch. */
const BATCH_ENTRIES = 10_000;
/** Time in which readers may still open files of a replaced manifest; open files outlive their names. */
const GRACE_MS = 10_000;
/** Least memory with which a shard can fold. */
const LEAST_MEMORY_BYTES = 64 * 2 ** 20;
const LOCK_LOOK_MS = 20;
/** Pause before the process ends, long enough that the supervisor does not count it as failing to start. */
const PAUSE_MS = 10_000;
const COMPACT_ROWS = 20_000;
const COMPACT_RATIO = 8;

export interface ShardOptions {
  readonly dataDir: string;
  /** Most bytes of stream entries in a batch, inflated. */
  readonly batchBytes: number;
  /** Limit for the databases of all shards together, bytes. */
  readonly memoryBytes: number;
  /** Threads that enrich and assign, shared by all shards of the process. */
  readonly analysis: AnalysisPool;
  readonly connection: StreamConnection;
  readonly logger: Logger;
  readonly active: Epoch;
  /** 0 to `active.shards` − 1. */
  readonly shard: number;
  readonly setAside: (entry: Delivered, reason: string) => Promise<void>;
  /** Rejects when another worker may own the shard by now. Called right before each commit. */
  readonly guard?: () => Promise<void>;
  /** Called when data was taken out of the state, and the shard must be opened anew. */
  readonly onVoid?: () => void;
  /** Opens the writer of the shard. Left out: the service names and summarises itself. */
  readonly openWriter?: OpenShardWriter;
  /** Opens the evaluation of the shard's alerts. Left out: alerts are not evaluated. */
  readonly openAlerts?: OpenShardAlerts;
  /** Shares the shard with other machines. Left out: this machine alone has it. */
  readonly sharing?: SharedShards;
  /** Longest wait for the first entry of a batch, milliseconds. */
  readonly waitMs: number;
  readonly publishEveryMs: number;
  /** Time for another process to close the views, milliseconds. Default 0. */
  readonly waitForLockMs?: number;
  /** Opens the source of the shard's entries. Default: the stream, until the shard closes. */
  readonly openSource?: (start: SourceStart) => Promise<ShardSource>;
  /** Sequence up to which the source holds entries that the stream no longer has. Default 0. */
  readonly archivedUntil?: number;
  /** True if lost state halts the shard instead of failing the open: readers keep what was published. */
  readonly haltWhenLost?: boolean;
}

/** The start of a source of entries. */
export interface SourceStart {
  /** Stream sequence of the last entry in the views; 0 if there is none. */
  readonly sequence: number;
  /** Digest of that entry; null if unknown. */
  readonly lastEntry: string | null;
  readonly partitions: readonly number[];
  /** Number of messages that the shard has decoded so far. */
  readonly messages: () => number;
}

export interface ShardSource extends EntrySource {
  /** Ends the wait for more entries. */
  close(): Promise<void>;
}

/** An open shard with all that works on it. */
export interface Shard {
  readonly store: Pick<StateStore, 'sequence'>;
  readonly publication: Pick<Publication, 'sequence'>;
  /** Number of messages decoded since it was opened. */
  readonly messages: number;
  /** The live counters since it was opened. */
  readonly counters: WorkCounters;
  /** Resolves when stopped or caught up. Rejects when the views cannot be written. */
  run(): Promise<void>;
  /** Copies the live database, as it is at one position, to `COPY_FILE` beside it, while work goes on. */
  copyState(): Promise<StateCopy>;
  /** Lets the batch in work finish, publishes, and closes everything. */
  close(): Promise<void>;
}

/**
 * Opens a shard's views and the source of entries after their checkpoint. Damaged views are rebuilt from the stream,
 * while readers keep the published files. When the stream lacks entries, the shard is halted if `haltWhenLost` is set.
 *
 * @throws SetupError when the views cannot be opened
 */
export async function openShard(options: ShardOptions): Promise<Shard> {
  const { connection, logger, active, shard, archivedUntil = 0 } = options;
  const directory = shardDirectory(options.dataDir, active.epoch, shard);
  const partitions = partitionsOf(shard, active.shards);
  const open = (): Promise<StateStore> => openStore(options, directory);
  try {
    const seen = (await options.sharing?.prepare(shard, directory)) ?? 0;
    const state = await openState({
      seen,
      directory,
      shard,
      partitions,
      connection,
      logger,
      archivedUntil,
      open,
    });
    return await WorkingShard.open(options, directory, state).catch(async (error: unknown) => {
      await state.store.close();
      throw error;
    });
  } catch (error) {
    if (!(error instanceof LostStateError) || options.haltWhenLost !== true) throw error;
    logger.error(
      { event: 'state_lost', shard, directory },
      `${error.message} Until then, queries answer from what was published last.`,
    );
    return haltedShard(directory);
  }
}

/**
 * Opens the shard's database once no other process has it open.
 *
 * @throws HeldStateError when the time runs out
 */
async function openStore(options: ShardOptions, directory: string): Promise<StateStore> {
  const { dataDir, active, shard, analysis, logger, waitForLockMs = 0 } = options;
  const giveUpAt = performance.now() + waitForLockMs;
  for (;;) {
    try {
      return await StateStore.open({
        directory,
        views: loadViews(VIEWS_DIRECTORY),
        analysis: analysisOf(analysis.model),
        // A statement of the fold does too little for several threads. A compaction has its own thread.
        threads: 1,
        memoryBytes: Math.max(LEAST_MEMORY_BYTES, options.memoryBytes / active.shards),
        spillDirectory: spillDirectory(dataDir, `views-${active.epoch}-${shard}`),
        onTooLittleMemory: (error) =>
          logger.warn(
            { event: 'memory_short', shard, err: error },
            'the memory of the views did not suffice: the worker opens them anew, or with more, and tries again',
          ),
      });
    } catch (error) {
      if (!(error instanceof HeldStateError) || performance.now() >= giveUpAt) throw error;
      await sleep(LOCK_LOOK_MS);
    }
  }
}

async function shareShard(
  { sharing, shard, guard = () => Promise.resolve(), onVoid = () => undefined }: ShardOptions,
  directory: string,
  store: StateStore,
): Promise<SharedShard | undefined> {
  return sharing?.open(
    shard,
    directory,
    {
      get sequence() {
        return store.sequence;
      },
      image: () => store.image(),
    },
    { guard, onVoid },
  );
}

/** What a shard works with besides its state. */
interface Parts {
  readonly source: ShardSource;
  readonly notes: MessageNotes;
  readonly shared: SharedShard | undefined;
}

class WorkingShard implements Shard {
  readonly store: StateStore;
  readonly publication: Publication;
  readonly #options: ShardOptions;
  readonly #directory: string;
  readonly #source: ShardSource;
  readonly #analysis: ShardAnalysis;
  readonly #marks: WorkMarkFile;
  readonly #writer: ShardWriter | undefined;
  readonly #alerts: ShardAlerts | undefined;
  readonly #shared: SharedShard | undefined;
  readonly #loop: WorkerLoop;
  readonly #closing = Promise.withResolvers<void>();
  #running: Promise<void> = Promise.resolve();
  #messages = 0;
  #damage: unknown = null;

  static async open(options: ShardOptions, directory: string, state: OpenedState): Promise<WorkingShard> {
    const { connection, active, shard, analysis } = options;
    writeDefinition(directory, definitionOf(loadViews(VIEWS_DIRECTORY), analysisOf(analysis.model)));
    const openSource = options.openSource ?? ((start) => openStream(options, start));
    let opened: WorkingShard | null = null;
    const notes = await MessageNotes.read(connection);
    const source = await openSource({
      sequence: state.store.sequence,
      lastEntry: state.store.lastEntry,
      partitions: partitionsOf(shard, active.shards),
      messages: () => opened?.messages ?? 0,
    });
    const shared = await shareShard(options, directory, state.store).catch(async (error: unknown) => {
      await source.close();
      throw error;
    });
    opened = new WorkingShard(options, directory, state, { source, notes, shared });
    return opened;
  }

  private constructor(
    options: ShardOptions,
    directory: string,
    { store, holdUntil }: OpenedState,
    { source, notes, shared }: Parts,
  ) {
    this.#options = options;
    this.#shared = shared;
    this.#directory = directory;
    this.#source = source;
    this.store = store;
    this.publication = this.#publicationOf(store, holdUntil);
    this.#analysis = options.analysis.forShard(options.shard, options.active.shards);
    this.#marks = new WorkMarkFile(directory);
    const guard = options.guard ?? (() => Promise.resolve());
    const { shard, active } = options;
    const isOurs = ownOf(options);
    this.#writer = options.openWriter?.({ shard, directory, guard });
    this.#alerts = options.openAlerts?.({ shard, shards: active.shards, directory, guard });
    this.#loop = new WorkerLoop({
      source,
      store,
      publication: this.publication,
      logger: options.logger,
      enricher: this.#analysis,
      assigner: this.#analysis,
      idleCollection: options.analysis.idleCollection,
      notes,
      marks: this.#marks,
      decode: (bytes, sequence) => {
        const { requests } = decodeRecord(bytes);
        const ours = isOurs === null ? requests : requests.filter(({ instanceId }) => isOurs(instanceId));
        for (const request of ours) this.#messages += request.messages.length;
        if (isOurs === null && store.carried.size === 0) return requests;
        const counts = (id: string): boolean =>
          isOurs?.(id) !== false && sequence > (store.carried.get(id.toLowerCase()) ?? 0);
        return requests.map((request) => (counts(request.instanceId) ? request : erasedRequest(request)));
      },
      setAside: options.setAside,
      guard,
      ...(this.#writer === undefined ? {} : { writer: this.#writer }),
      ...(this.#alerts === undefined ? {} : { alerts: this.#alerts }),
      ...(shared === undefined ? {} : { shared }),
      now: () => Date.now() * 1000,
      maxEntries: BATCH_ENTRIES,
      maxBytes: options.batchBytes,
      waitMs: options.waitMs,
      publishEveryMs: options.publishEveryMs,
    });
  }

  #publicationOf(store: StateStore, holdUntil: number): Publication {
    const { logger, shard } = this.#options;
    return new Publication({
      store,
      graceMs: GRACE_MS,
      compactRows: COMPACT_ROWS,
      compactRatio: COMPACT_RATIO,
      now: () => performance.now(),
      holdUntil,
      onError: (error) => {
        logger.error(
          { event: 'merge_failed', err: error },
          'compacting files of the views or their state failed: the worker tries again later',
        );
        if (isDamage(error)) this.#fail(error);
      },
      onDamage: (reason) =>
        logger.error(
          { event: 'levels_damaged', shard, reason },
          `published files of the views are damaged (${reason}): the worker makes them again from the state`,
        ),
    });
  }

  get messages(): number {
    return this.#messages;
  }

  get counters(): WorkCounters {
    return this.#loop.counters;
  }

  copyState(): Promise<StateCopy> {
    return copyOpenState(this.store);
  }

  run(): Promise<void> {
    this.#running = this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    const { logger, shard } = this.#options;
    try {
      await this.#loop.run();
    } catch (error) {
      if (isDamage(error)) this.#fail(error);
      const want = wantOf(error);
      if (want !== null) {
        logger.error(
          { event: want.event, shard, err: error },
          `${want.fact}: the worker tries again in ${PAUSE_MS / 1000} s. Until then, queries answer from what was ` +
            'published last, and messages wait in the stream',
        );
        await Promise.race([sleep(PAUSE_MS), this.#closing.promise]);
      }
      throw error;
    }
    if (this.#damage !== null) throw this.#damage;
  }

  /** Notes the damage, so that the next process to open the shard rebuilds its views from the stream. */
  #fail(error: unknown): void {
    this.#damage = error;
    noteDamage(this.#directory, 'state', error instanceof Error ? error.message : String(error));
    this.#loop.stop();
  }

  async close(): Promise<void> {
    this.#closing.resolve();
    this.#loop.stop();
    this.#analysis.stop();
    const writerClosed = this.#writer?.close();
    const sourceClosed = this.#source.close();
    await this.#running.catch(() => undefined);
    await sourceClosed;
    await writerClosed;
    await this.#alerts?.close();
    this.#analysis.close();
    await this.publication.close();
    await this.#shared?.close();
    await this.store.close();
    this.#shared?.released();
    this.#marks.close();
  }
}

/** The resource that ran out; null for another error. */
function wantOf(error: unknown): { readonly event: string; readonly fact: string } | null {
  if (isOutOfRoom(error)) return { event: 'disk_full', fact: 'the disk of the views is full' };
  if (isTooMuch(error))
    return { event: 'memory_full', fact: 'one entry needs more memory than STATE_MEMORY_BYTES allows' };
  return null;
}

/** Tells the instances of a shard, where several shards read its partitions; else null. */
function ownOf({
  active: { shards },
  shard,
}: Pick<ShardOptions, 'active' | 'shard'>): ((instanceId: string) => boolean) | null {
  return shards <= PARTITIONS ? null : (instanceId) => shardOf(instanceId, shards) === shard;
}

async function openStream(
  options: ShardOptions,
  { sequence, lastEntry, partitions }: SourceStart,
): Promise<ShardSource> {
  const { connection, logger, shard, dataDir } = options;
  const consumer = await openConsumer(connection, {
    startSequence: sequence + 1,
    lastEntry,
    partitions,
    onSkipped: (first, last) =>
      logger.error(
        { event: 'entries_missing', shard, first, last },
        'the stream does not give these entries: a file of NATS is damaged, and what they held is not counted',
      ),
  });
  const closing = new AbortController();
  const isOurs = ownOf(options);
  const own = isOurs === null ? null : new OwnEntries(consumer, isOurs, () => performance.now());
  return {
    next: (limits) => (own ?? consumer).next(limits),
    isPaused: () => isPaused(dataDir, Date.now()),
    closing: closing.signal,
    fetch: (wanted) => readStored(connection, wanted, closing.signal),
    close: () => {
      closing.abort();
      return consumer.close();
    },
  };
}

/** A shard whose views cannot be updated. Readers keep the published files, and entries wait in the stream. */
function haltedShard(directory: string): Shard {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const sequence = readManifest(directory)?.sequence ?? -1;
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
