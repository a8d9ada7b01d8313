/**
 * Views that several machines share: each shard is counted by one of them, and read by all. The definition of the rows
 * is part of every key, so machines with other code, models or views count apart, and answer once they have counted as
 * much.
 *
 * Test: test/cluster/machines.test.ts, test/cluster/shared-shard.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  StateAwaitedError,
  type OpenState,
  type ShardOwner,
  type SharedShard,
  type SharedShards,
} from '../domain/sharing.ts';
import { SetupError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { ObjectStoreError, type ObjectStore } from '../store/objects/object-store.ts';
import { BucketUnavailableError, type KeyValueBucket } from '../stream/kv/key-value.ts';
import { Division, type DivisionOptions } from './division.ts';
import { FormerViews } from './former-views.ts';
import { isLevel, type StreamDivision } from './level.ts';
import { ShardUploads } from './shard-uploads.ts';
import { generationIn, StateCopies } from './state-copies.ts';
import {
  drainedIn,
  NO_STATE,
  objectsOf,
  readKey,
  readReached,
  readState,
  writeKey,
  type ActiveViews,
  type RebuiltState,
  type SharedDefinition,
  type ViewsKeys,
} from './views-bucket.ts';

/** Time between two copies of a state, milliseconds; more where a copy takes long. */
const COPY_MS = 120_000;
/** Share of the time that copies may take. */
const COPY_SHARE = 0.05;
/** Time for the last upload, and for the last copy, when a shard is handed over: the store may not answer. */
const LAST_UPLOAD_MS = 3000;
const LAST_COPY_MS = 30_000;
/** Time between two looks at which views answer, until these do. */
const LOOK_MS = 1000;
/**
 * Most time between what others have shown and the switch, once ours have counted it: answers stand still for as long. The
 * position of a shard needs some seconds to come past entries of others.
 */
const LEVEL_WITHIN_MS = 15_000;
/** Time between two looks for views that answer no more, milliseconds. */
const CLEAN_MS = 60_000;
/** Time between two looks for newer copies of shards that this machine may take over, milliseconds. */
const STANDBY_MS = 5000;
/** Scopes that are remembered as former. */
const MOST_FORMER = 50;

export interface SharedViewsOptions {
  readonly bucket: KeyValueBucket;
  readonly store: ObjectStore;
  readonly keys: ViewsKeys;
  /** The views that this process makes. */
  readonly views: SharedDefinition;
  /** The stream, and its first sequence. */
  readonly stream: StreamDivision & {
    readonly first: () => Promise<number>;
    /** Calls back with the names of objects of a shard's key that machines cannot read. Returns what ends it. */
    readonly hearLost: (key: string, hear: (name: string) => void) => () => void;
    /** Answers requests for a copy of the state of a shard's key. Returns what ends it. */
    readonly answerCopies: (key: string, copy: () => Promise<void>) => () => void;
  };
  /** As that of `DivisionOptions`. Default: what answers is not divided. */
  readonly divide?: DivisionOptions['divide'];
  /** As that of `StateCopiesOptions`. */
  readonly findFiles?: () => ReadonlyMap<string, string>;
  readonly logger: Logger;
  /** Default COPY_MS. */
  readonly copyMs?: number;
}

/** The part of a worker in the shared views. */
export class SharedViews implements SharedShards {
  readonly #options: SharedViewsOptions;
  /** The shards whose folders this process uses, with what their owner is told by; null: until it has opened them. */
  readonly #used = new Map<number, (() => void) | null>();
  /** The shard of which a copy is being kept, or was last. */
  #standing: { readonly shard: number; readonly end: () => void; readonly kept: Promise<unknown> } | null =
    null;
  /** What the views that answer had published of each shard at an instant of `performance.now()`. */
  #others: { readonly scope: string; readonly reached: readonly number[]; readonly at: number } | null = null;
  readonly #division: Division | null;

  constructor(options: SharedViewsOptions) {
    this.#options = options;
    const { divide, stream } = options;
    this.#division =
      divide === undefined ? null : new Division({ ...options, sharedWith: stream.sharedWith, divide });
  }

  get scope(): string {
    return this.#options.keys.scopeOf(this.#options.views);
  }

  async prepare(shard: number, directory: string): Promise<number> {
    this.#used.set(shard, null);
    // Its files are about to become the shard's.
    if (this.#standing?.shard === shard) {
      this.#standing.end();
      await this.#standing.kept;
    }
    try {
      return await this.#prepare(shard, directory);
    } catch (error) {
      this.#used.delete(shard);
      throw awaited(shard, error);
    }
  }

  async #prepare(shard: number, directory: string): Promise<number> {
    const { bucket, keys, views, stream, logger } = this.#options;
    // From now on an erasure finds the shard.
    await bucket.create(keys.state(views, shard), JSON.stringify({ ...NO_STATE, begunAt: Date.now() }));
    const copies = this.#copiesOf(shard, directory);
    let has = copies.own;
    try {
      has = (await copies.fetchNewer())?.sequence ?? copies.own;
      const division = this.#division;
      if (has < 0 && division !== null)
        has = (await copies.begin(() => division.make(shard, directory))) ?? has;
    } catch (error) {
      // Another worker of this machine has taken the folder away.
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (isGone) throw new StateAwaitedError(shard, { cause: error });
      if (!(error instanceof ObjectStoreError)) throw error;
      if (copies.own < 0 || (await copies.isVoid())) throw new StateAwaitedError(shard, { cause: error });
      logger.warn(
        { event: 'state_copy_failed', shard, err: error },
        'the object store does not answer: the worker goes on with the state that this machine has',
      );
    }
    const seen = Math.max(0, await readReached(bucket, keys.shard(views, shard)));
    if (has < seen) {
      const first = await stream.first().catch((error: unknown) => {
        throw new StateAwaitedError(shard, { cause: error });
      });
      if (first > Math.max(has, 0) + 1)
        throw new SetupError(
          `The stream no longer holds what shard ${shard} lacks here, and no copy of its state can be read: another ` +
            'machine that has it must go on.',
        );
    }
    return seen;
  }

  async open(
    shard: number,
    directory: string,
    state: OpenState,
    { guard, onVoid }: ShardOwner,
  ): Promise<SharedShard> {
    const { bucket, store, keys, views, stream, logger, copyMs = COPY_MS } = this.#options;
    const copies = this.#copiesOf(shard, directory);
    const { generation } = copies;
    this.#used.set(shard, onVoid);
    const uploads = await ShardUploads.open({
      bucket,
      store,
      key: keys.shard(views, shard),
      prefix: keys.objects(views, shard),
      run: randomUUID(),
      guard,
      stored: copies.takeStoredFiles(),
      kept: async () => [...(await copies.kept()), ...(await this.#rebuilt(shard, generation))],
      generation,
      directory,
      shard,
      logger,
    }).catch((error: unknown) => {
      this.#used.delete(shard);
      throw awaited(shard, error);
    });
    const closing = new AbortController();
    // All copies use one file at first.
    let last: Promise<unknown> = Promise.resolve();
    const storeCopy = async (): Promise<void> => {
      const stored = last.then(() => copies.store(state, uploads.own, closing.signal));
      last = stored.catch(() => undefined);
      await stored;
    };
    const copy = async (): Promise<void> => {
      try {
        await storeCopy();
      } catch (error) {
        logger.warn(
          { event: 'state_copy_failed', shard, err: error },
          'a copy of the shard could not be stored: the worker tries again later',
        );
      }
    };
    const endings = [
      stream.hearLost(keys.shard(views, shard), (name) => uploads.lost(name)),
      stream.answerCopies(keys.shard(views, shard), storeCopy),
    ];
    const copying = repeat(copyMs, COPY_SHARE, copy);
    const looking = repeat(LOOK_MS, 1, async () => {
      if (await this.#isAnswered().catch(() => false)) looking.stop();
    });
    const tidying = repeat(CLEAN_MS, 1, () => uploads.clean());
    // One owner suffices.
    const cleaning = shard === 0 ? this.#cleanFormer() : null;
    return {
      published: () => uploads.push(),
      released: () => void this.#used.delete(shard),
      close: async () => {
        for (const end of endings) end();
        looking.stop();
        cleaning?.stop();
        tidying.stop();
        copying.stop();
        await Promise.race([uploads.settle(), sleep(LAST_UPLOAD_MS)]);
        const late = setTimeout(() => closing.abort(new Error('no time is left for it')), LAST_COPY_MS);
        await copying.ended;
        if (uploads.isReplaced) closing.abort(new Error('another worker has the shard'));
        else await copy();
        // Somebody may have asked for one: it reads the files of the state, which closes next.
        await last;
        clearTimeout(late);
        await Promise.all([uploads.close(), looking.ended, tidying.ended, cleaning?.ended]);
      },
    };
  }

  async isDrained(machine: string): Promise<boolean> {
    return (await drainedIn(this.#options.bucket, this.#options.keys)).includes(machine);
  }

  standBy(
    shards: () => readonly number[],
    directoryOf: (shard: number) => string,
  ): { stop(): Promise<void> } {
    const { views, logger } = this.#options;
    const standing = repeat(STANDBY_MS, 1, async () => {
      const next = shards();
      for (let shard = 0; shard < views.shards && !standing.signal.aborted; shard += 1) {
        if (this.#used.has(shard)) continue;
        const copies = this.#copiesOf(shard, directoryOf(shard));
        const ending = new AbortController();
        const kept = (next.includes(shard) ? copies.keepStandby(ending.signal) : copies.dropStandby()).catch(
          (error: unknown) =>
            logger.debug(
              { event: 'standby_failed', shard, err: error },
              'a copy of a shard could not be kept',
            ),
        );
        this.#standing = { shard, end: () => ending.abort(new Error('the shard is taken over')), kept };
        await kept;
      }
    });
    return {
      stop: async () => {
        standing.stop();
        this.#standing?.end();
        await standing.ended;
      },
    };
  }

  follow(directoryOf: (shard: number) => string, onBegun: () => Promise<void>): { stop(): Promise<void> } {
    const { bucket, keys, views, logger } = this.#options;
    let seen = -1;
    let generations = '';
    const looking = repeat(LOOK_MS, 1, async () => {
      try {
        const newest = await bucket.newestRevision(`${this.scope}.*.state`);
        if (newest === seen) return;
        const shards = Array.from({ length: views.shards }, (_, shard) => shard);
        const states = await Promise.all(shards.map((shard) => readState(bucket, keys.state(views, shard))));
        const now = states.map(({ generation }) => generation).join();
        if (now !== generations) await onBegun();
        generations = now;
        // The states are long: only those of void folders are read again.
        const ofVoid = shards.filter((shard) => states[shard]!.generation > generationIn(directoryOf(shard)));
        const isLeft = await Promise.all(ofVoid.map((shard) => this.#isLeftVoid(shard, directoryOf(shard))));
        if (!isLeft.includes(true)) seen = newest;
      } catch (error) {
        logger.debug({ event: 'states_unknown', err: error }, 'the copies of the shards cannot be looked at');
      }
    });
    return {
      stop: async () => {
        looking.stop();
        await looking.ended;
      },
    };
  }

  /** Deletes what other views left that ours replaced. */
  #cleanFormer(): ReturnType<typeof repeat> {
    const { bucket, store, keys, logger } = this.#options;
    const former = new FormerViews({ bucket, store, keys, now: () => performance.now() });
    return repeat(CLEAN_MS, 1, async () => {
      try {
        const shards = await former.clean(this.scope);
        if (shards > 0)
          logger.info({ event: 'former_views_deleted', shards }, 'views that answer no more were deleted');
      } catch (error) {
        logger.warn(
          { event: 'clean_up_failed', err: error },
          'views that answer no more could not be deleted: the worker tries again later',
        );
      }
    });
  }

  /** Deletes a void folder, or tells its owner. Returns true while it is there. */
  async #isLeftVoid(shard: number, directory: string): Promise<boolean> {
    const copies = this.#copiesOf(shard, directory);
    if (!existsSync(directory) || !(await copies.isVoid())) return false;
    if (this.#used.has(shard)) this.#used.get(shard)?.();
    else await copies.forgetVoid();
    return copies.isVoid();
  }

  /** Names of the objects of the state that a rebuild has made of a shard of a generation. */
  async #rebuilt(shard: number, generation: number): Promise<readonly string[]> {
    const { bucket, keys, views } = this.#options;
    const made = (await readKey<RebuiltState>(bucket, keys.rebuilt(views, shard)))?.value;
    return made?.generation === generation ? objectsOf(made) : [];
  }

  #copiesOf(shard: number, directory: string): StateCopies {
    const { bucket, store, keys, views, findFiles, logger } = this.#options;
    return new StateCopies({
      bucket,
      store,
      key: keys.state(views, shard),
      prefix: keys.objects(views, shard),
      directory,
      shard,
      ...(findFiles === undefined ? {} : { findFiles }),
      logger,
    });
  }

  /**
   * Lets our views answer once each shard has counted as much as those that answer had some seconds before, or all there
   * is. Mirrors follow when ours have counted what they show. Returns true once there is nothing left to do: ours answer,
   * or have done so before others.
   */
  async #isAnswered(): Promise<boolean> {
    const { bucket, keys, views, logger } = this.#options;
    const active = await readKey<ActiveViews>(bucket, keys.active);
    const before = active === null ? null : keys.scopeOf(active.value);
    if (before === this.scope || active?.value.former.includes(this.scope) === true) return true;
    if (!(await this.#isLevel(active?.value ?? null))) return false;
    const former = before === null ? [] : [before, ...active!.value.former].slice(0, MOST_FORMER);
    const next = { ...views, former };
    if ((await writeKey(bucket, keys.active, next, active?.revision ?? null)) === null) return false;
    logger.info(
      { event: 'views_switched', shards: views.shards },
      active === null ? 'these views answer on all machines' : 'these views answer in place of others',
    );
    return true;
  }

  /** Compares with what others had shown at an earlier look, and looks at them again where that was too long ago. */
  async #isLevel(active: SharedDefinition | null): Promise<boolean> {
    const { keys, views, stream } = this.#options;
    const scope = active === null ? '' : keys.scopeOf(active);
    if (this.#others?.scope !== scope) {
      const reached = active === null ? [] : await this.#reached(active);
      this.#others = { scope, reached, at: performance.now() };
    }
    const { reached, at } = this.#others;
    if (!(await isLevel(await this.#reached(views), reached, stream))) return false;
    if (performance.now() - at <= LEVEL_WITHIN_MS) return true;
    this.#others = null;
    return false;
  }

  /** The sequence up to which each shard is published completely; -1 where nothing is. */
  #reached(views: SharedDefinition): Promise<number[]> {
    const { bucket, keys } = this.#options;
    const shards = Array.from({ length: views.shards }, (_, shard) => keys.shard(views, shard));
    return Promise.all(shards.map((key) => readReached(bucket, key)));
  }
}

/** What a failure means for a shard: while the bucket does not answer, its state is awaited. */
function awaited(shard: number, error: unknown): unknown {
  return error instanceof BucketUnavailableError ? new StateAwaitedError(shard, { cause: error }) : error;
}

/** Repeats work after a pause, longer where the work would take more than its share of the time, until it is stopped. */
function repeat(
  pauseMs: number,
  share: number,
  work: () => Promise<void>,
): { stop(): void; readonly signal: AbortSignal; readonly ended: Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ended = (async () => {
    let tookMs = 0;
    while (!signal.aborted) {
      await sleep(Math.max(pauseMs, tookMs / share), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const startedAt = performance.now();
      await work();
      tookMs = performance.now() - startedAt;
    }
  })();
  return { stop: () => stopping.abort(), signal, ended };
}
