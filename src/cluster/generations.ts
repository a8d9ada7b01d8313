/**
 * Begins new generations of the states that machines share: without what an erasure takes out, or rebuilt. The owner of
 * the shard goes on with the new state; what was made of an earlier generation is void, wherever it is. Answers stay as
 * they are until the owner has published the new one.
 *
 * Test: test/cluster/machines.test.ts, test/cluster/shared-shard.test.ts.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import { imageOfClosed } from '../store/live/state-files.ts';
import type { ObjectStore } from '../store/objects/object-store.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { generationIn } from './state-copies.ts';
import { moveState, readState as readPacks, writeLogInto } from './read-state.ts';
import { StatePacks } from './state-packs.ts';
import {
  NO_STATE,
  objectsOf,
  readKey,
  readReached,
  readState,
  writeKey,
  type ActiveViews,
  type KnownShard,
  type PublishedShard,
  type RebuiltState,
  type SharedDefinition,
  type StateObject,
  type StoredState,
  type ViewsKeys,
} from './views-bucket.ts';

/** Time for the owner of a shard to go on with a new generation, milliseconds. */
const PUBLISHED_WITHIN_MS = 30 * 60_000;
const LOOK_MS = 200;

export interface GenerationsOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'upload' | 'download' | 'remove' | 'list'>;
  readonly keys: ViewsKeys;
  /** Asks the owner of a shard's key for a copy of its state; false if nobody owns it. */
  readonly askForCopy: (key: string) => Promise<boolean>;
  /** The shard among `shards` that has an instance. */
  readonly shardOf: (instanceId: string, shards: number) => number;
}

/** How states are made without what is to be forgotten. */
export interface Making {
  /** Makes `state.duckdb` of `directory` from a database. */
  readonly refold: (from: string, directory: string) => Promise<unknown>;
  /** For files of this process; what is in it goes. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Default PUBLISHED_WITHIN_MS. */
  readonly withinMs?: number;
}

/** A state that becomes the first of a generation. */
export interface MadeState {
  readonly file: string;
  /** Stream sequence up to which it has counted. */
  readonly sequence: number;
  /** Generation of the shard before it. */
  readonly generation: number;
}

/** A shard whose new generation its owner has yet to publish. */
interface Begun {
  readonly known: KnownShard;
  readonly generation: number;
  /** Names of the copies of earlier generations. */
  readonly former: readonly string[];
}

/** The generations of the states of shared views. */
export class Generations {
  readonly #options: GenerationsOptions;

  constructor(options: GenerationsOptions) {
    this.#options = options;
  }

  /** Stream sequence up to which all machines see what was sent to an instance. */
  async reached(instanceId: string): Promise<number> {
    const { bucket, keys, shardOf } = this.#options;
    const views = await this.#active();
    return Math.max(0, await readReached(bucket, keys.shard(views, shardOf(instanceId, views.shards))));
  }

  /**
   * Takes data of some instances out of their shards: `forget` removes it from a copy of a state. Views that do not
   * answer begin with the stream again. Resolves once all machines see the shards without it, and no object is left that
   * they were made of.
   *
   * @throws SetupError when the owner of a shard does not take part
   */
  async recount(
    making: Making,
    instances: ReadonlySet<string>,
    forget: (file: string, shard: number) => Promise<void>,
  ): Promise<void> {
    const { bucket, keys, shardOf } = this.#options;
    const { folder, signal } = making;
    await this.#active();
    const done = new Set<string>();
    const affected = async (): Promise<KnownShard[]> =>
      (await keys.known(bucket)).filter(
        ({ key, shard, shards }) =>
          !done.has(key) && [...instances].some((id) => shardOf(id, shards) === shard),
      );
    rmSync(folder, { recursive: true, force: true });
    try {
      const begun: Begun[] = [];
      // Meanwhile others may begin with a copy of an earlier generation: shards that divide those that answer.
      for (let left = await affected(); left.length > 0; left = await affected()) {
        const active = keys.scopeOf(await this.#active());
        for (const known of left) {
          if (known.scope === active)
            begun.push(await this.#make(making, known, (file) => forget(file, known.shard)));
          else await this.#drop(known, signal);
          done.add(known.key);
        }
      }
      for (const each of begun) await this.#whenPublished(making, each);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Writes the newest copy of a shard's state to a file. Returns its stream sequence. */
  async copyTo(views: SharedDefinition, shard: number, file: string, signal: AbortSignal): Promise<number> {
    return (await this.#fetch(this.#options.keys.of(views, shard), file, signal)).sequence;
  }

  /** Stores a state with which a shard of any views begins a generation. */
  async begin(views: SharedDefinition, shard: number, state: MadeState, signal: AbortSignal): Promise<void> {
    await this.#store(this.#options.keys.of(views, shard), state, signal);
  }

  /** Uploads a state of a shard, with which a generation may begin later. */
  async upload(
    views: SharedDefinition,
    shard: number,
    state: Pick<MadeState, 'file' | 'sequence'>,
    signal: AbortSignal,
  ): Promise<StateObject> {
    return this.#upload(this.#options.keys.of(views, shard), state, signal);
  }

  /** The views that answer, with the generation of each shard. */
  async answering(): Promise<{ readonly views: SharedDefinition; readonly generations: readonly number[] }> {
    const { bucket, keys } = this.#options;
    const views = await this.#active();
    const shards = Array.from({ length: views.shards }, (_, shard) => keys.state(views, shard));
    const states = await Promise.all(shards.map((key) => readState(bucket, key)));
    return { views, generations: states.map(({ generation }) => generation) };
  }

  /** Generation of a shard of any views. */
  async generationOf(views: SharedDefinition, shard: number): Promise<number> {
    return (await readState(this.#options.bucket, this.#options.keys.state(views, shard))).generation;
  }

  /**
   * Replaces the states of all shards of the views that answer, `views`, by uploaded ones. Resolves once all machines see
   * what was made of them.
   *
   * @throws SetupError when data was taken out of a shard since `generation`, or an owner does not take part
   */
  async replace(
    making: Pick<Making, 'signal' | 'withinMs'>,
    views: SharedDefinition,
    states: readonly (StateObject & { readonly generation: number })[],
  ): Promise<void> {
    const { keys } = this.#options;
    if (keys.scopeOf(await this.#active()) !== keys.scopeOf(views))
      throw new SetupError('Other views answer meanwhile: try again with their version.');
    const begun: Begun[] = [];
    for (const [shard, { name, sha256, sequence, packs, generation }] of states.entries()) {
      const state = { name, sha256, sequence, packs, published: null };
      begun.push(await this.#begin(keys.of(views, shard), state, generation));
    }
    for (const each of begun) await this.#whenPublished(making, each);
  }

  /**
   * Sentences about shards of an instance that were not made anew since an instant, milliseconds. `directoryOf`: the
   * folder in which this machine may have a shard of the views that answer.
   */
  async behind(instanceId: string, since: number, directoryOf: (shard: number) => string): Promise<string[]> {
    const { bucket, keys, shardOf } = this.#options;
    const active = keys.scopeOf(await this.#active());
    const left: string[] = [];
    for (const { scope, shard, shards, key, stateKey } of await keys.known(bucket)) {
      if (shardOf(instanceId, shards) !== shard) continue;
      const { begunAt, generation } = await readState(bucket, stateKey);
      const published = (await readKey<PublishedShard>(bucket, key))?.value;
      if (begunAt < since || (published?.manifest != null && published.generation < generation))
        left.push(`the object store has shard ${shard} of ${shards} from before it`);
      const directory = directoryOf(shard);
      if (scope === active && existsSync(directory) && generationIn(directory) < generation)
        left.push(`${directory} is from before it`);
    }
    return left;
  }

  async #active(): Promise<ActiveViews> {
    const { bucket, keys } = this.#options;
    const active = await readKey<ActiveViews>(bucket, keys.active);
    if (active === null)
      throw new SetupError('Nothing is published by machines that share their views yet: start a worker.');
    return active.value;
  }

  /** Makes a state from a copy without what `forget` removes, and begins a generation with it. */
  async #make(
    { folder, refold, signal }: Making,
    known: KnownShard,
    forget: (file: string) => Promise<void>,
  ): Promise<Begun> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const copy = join(folder, 'copy.duckdb');
    const { sequence, generation } = await this.#fetch(known, copy, signal);
    await forget(copy);
    const directory = join(folder, String(known.shard));
    await refold(copy, directory);
    const file = join(directory, 'state.duckdb');
    const begun = await this.#store(known, { file, sequence, generation }, signal);
    for (const made of [copy, directory]) rmSync(made, { recursive: true });
    return begun;
  }

  /** Stores a state as the beginning of the generation after its own. */
  async #store(known: KnownShard, state: MadeState, signal: AbortSignal): Promise<Begun> {
    return this.#begin(known, await this.#upload(known, state, signal), state.generation);
  }

  async #upload(
    { objects }: KnownShard,
    { file, sequence }: Pick<MadeState, 'file' | 'sequence'>,
    signal: AbortSignal,
  ): Promise<StateObject> {
    const packs = new StatePacks({
      store: this.#options.store,
      prefix: objects,
      temporary: `${file}.upload`,
    });
    return { ...(await packs.write(async () => imageOfClosed(file, sequence), signal)), published: null };
  }

  /** Begins the generation after `generation` with an uploaded state. */
  async #begin(known: KnownShard, made: StateObject, generation: number): Promise<Begun> {
    const { bucket, store } = this.#options;
    const { stateKey, objects, shard } = known;
    const there = await store.list(`${objects}states/`);
    const named = new Set(objectsOf(made));
    if ([...named].some((name) => !there.includes(name)))
      throw new SetupError(
        `The object store has lost the new state of shard ${shard}: try again. An unfinished rebuild has to be deleted ` +
          'first: "npm run rebuild -- --clean".',
      );
    // With what an earlier run left that ended half way.
    const former = there.filter((name) => !named.has(name));
    for (;;) {
      const before = await readKey<StoredState>(bucket, stateKey);
      const { generation: last } = before?.value ?? NO_STATE;
      if (last !== generation)
        throw new SetupError(`Data was taken out of shard ${shard} meanwhile: try again.`);
      const now = Date.now();
      const next = { generation: generation + 1, begunAt: now, at: now, copies: [made] };
      // A copy that the owner stored meanwhile goes: the stream has what it counted since.
      if ((await writeKey(bucket, stateKey, next, before?.revision ?? null)) === null) continue;
      return { known, generation: next.generation, former };
    }
  }

  /** Reads the newest copy of a state. */
  async #fetch(
    { shard, key, stateKey, objects }: KnownShard,
    file: string,
    signal: AbortSignal,
  ): Promise<{ readonly sequence: number; readonly generation: number }> {
    const { bucket, store, askForCopy } = this.#options;
    const isOwned = await askForCopy(key);
    const { copies, generation } = await readState(bucket, stateKey);
    const at = { store, prefix: objects, temporary: `${file}.fetched` };
    for (const copy of copies)
      if (await readPacks(at, copy, `${file}.fetched`, signal)) {
        moveState(`${file}.fetched`, file);
        await writeLogInto(file);
        return { sequence: copy.sequence, generation };
      }
    throw new SetupError(
      `The object store has no copy of the state of shard ${shard}${isOwned ? '' : ', and no worker has it open'}: look at the ` +
        'log of the workers, and try again.',
    );
  }

  /** Views that do not answer: whoever makes them begins with the stream, which no longer has the data. */
  async #drop({ key, stateKey, objects }: KnownShard, signal: AbortSignal): Promise<void> {
    const { bucket, store } = this.#options;
    let generation = 0;
    for (;;) {
      const before = await readKey<StoredState>(bucket, stateKey);
      generation = (before?.value ?? NO_STATE).generation + 1;
      const next = { generation, begunAt: Date.now(), at: 0, copies: [] };
      if ((await writeKey(bucket, stateKey, next, before?.revision ?? null)) !== null) break;
    }
    for (;;) {
      const before = await readKey<PublishedShard>(bucket, key);
      if (before === null) break;
      // Its owner publishes nothing of an earlier generation any more.
      const emptied = { ...before.value, generation, manifest: null, files: {} };
      if ((await writeKey(bucket, key, emptied, before.revision)) !== null) break;
    }
    for (const name of await store.list(objects)) await store.remove(name, signal);
  }

  /** Objects of a shard that were made of an earlier generation. What its owner may be about to name is none of them. */
  async #formerOf(
    { objects, stateKey, rebuiltKey }: KnownShard,
    { run, files, generation }: PublishedShard,
    copies: readonly string[],
  ): Promise<string[]> {
    const { bucket, store } = this.#options;
    const state = await readState(bucket, stateKey);
    const rebuilt = (await readKey<RebuiltState>(bucket, rebuiltKey))?.value;
    // A state of which nothing was taken may have the content of the one before it, and so its name.
    const named = new Set([
      ...Object.values(files).map(({ name }) => name),
      ...state.copies.flatMap(objectsOf),
    ]);
    const former = new Set(copies);
    if (rebuilt !== undefined && rebuilt.generation < generation)
      for (const name of objectsOf(rebuilt)) former.add(name);
    return (await store.list(objects)).filter((name) => {
      const mayBeNew = name.startsWith(`${objects}states/`)
        ? !former.has(name)
        : name.startsWith(`${objects}${run}/`);
      return !named.has(name) && !mayBeNew;
    });
  }

  async #whenPublished(
    { signal, withinMs = PUBLISHED_WITHIN_MS }: Pick<Making, 'signal' | 'withinMs'>,
    { known, generation, former }: Begun,
  ): Promise<void> {
    const { bucket, store } = this.#options;
    const deadline = performance.now() + withinMs;
    for (;;) {
      signal.throwIfAborted();
      const published = (await readKey<PublishedShard>(bucket, known.key))?.value;
      if (published !== undefined && published.generation >= generation) {
        for (const name of await this.#formerOf(known, published, former)) await store.remove(name, signal);
        return;
      }
      if (performance.now() > deadline)
        throw new SetupError(
          `No worker has published shard ${known.shard} without what goes: start one, or look at the log.`,
        );
      await sleep(LOOK_MS);
    }
  }
}
