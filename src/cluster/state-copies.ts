/**
 * Copies of a shard's state in the object store, so that another machine goes on from the newest one and not from the
 * first entry of the stream.
 *
 * Test: test/cluster/state-copies.test.ts, test/cluster/shared-shard.test.ts.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StateAwaitedError, type OpenState } from '../domain/sharing.ts';
import { SetupError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { lockDataDirectory, type DataDirectoryLock } from '../store/data-directory.ts';
import { clearDamage, notedDamage } from '../store/damage.ts';
import { DatabaseError, quoted, withDatabase } from '../store/duckdb.ts';
import { replaceFile } from '../store/epochs/epochs.ts';
import { HeldStateError } from '../store/live/state-database.ts';
import { inTurns } from '../domain/in-turns.ts';
import type { ObjectStore } from '../store/objects/object-store.ts';
import { readManifest, removePublished, writeManifest } from '../store/published/manifest.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { moveState, readState, STATE_SUFFIXES } from './read-state.ts';
import type { StatePacksOptions } from './state-index.ts';
import { StatePacks } from './state-packs.ts';
import {
  NO_STATE,
  objectsOf,
  readKey,
  readState as readStored,
  writeKey,
  type PublishedShard,
  type StateObject,
  type StoredState,
} from './views-bucket.ts';

const GENERATION_FILE = 'GENERATION';
/** A copy that is being read from the store. */
const FETCHED = 'fetched.duckdb';
/** A copy of a shard that another machine has: this one goes on with it when that one ends. */
const STANDBY = 'standby.duckdb';
/** The objects of the published files in the folder, as they came from the store. */
const STORED_FILES = 'STORED';
/** Locks, of which a process has each once: on what is brought into the folder, or deleted there, and on the standby. */
const TAKING = 'taking';
const STANDING = 'standby';
const AT_ONCE = 4;

export interface StateCopiesOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'upload' | 'download' | 'list' | 'remove'>;
  /** Key of the shard's state in the bucket. */
  readonly key: string;
  /** Beginning of the names of the shard's objects. */
  readonly prefix: string;
  readonly directory: string;
  readonly shard: number;
  /** Finds published files that this machine has elsewhere: their paths by their digests. Default: none. */
  readonly findFiles?: () => ReadonlyMap<string, string>;
  readonly logger: Logger;
}

/** Copies of the state of one shard. */
export class StateCopies {
  readonly #options: StateCopiesOptions;
  #packs: StatePacks;

  constructor(options: StateCopiesOptions) {
    this.#options = options;
    this.#packs = new StatePacks(this.#packsAt('upload.duckdb'));
  }

  /** Names of the objects that are kept: of the copies, and of what was published with them. */
  async kept(): Promise<readonly string[]> {
    const { copies } = await this.#stored();
    const published = copies.flatMap((copy) => Object.values(copy.published?.files ?? {}));
    return [...copies.flatMap(objectsOf), ...this.#packs.inWork, ...published.map(({ name }) => name)];
  }

  /** The objects of the published files that came with a copy, once. */
  takeStoredFiles(): PublishedShard['files'] {
    const file = join(this.#options.directory, STORED_FILES);
    if (!existsSync(file)) return {};
    const files = JSON.parse(readFileSync(file, 'utf8')) as PublishedShard['files'];
    rmSync(file);
    return files;
  }

  /** Generation of what is in the folder. */
  get generation(): number {
    return generationIn(this.#options.directory);
  }

  /** True once data was taken out of the state that the folder still has. */
  async isVoid(): Promise<boolean> {
    return (await this.#stored()).generation > this.generation;
  }

  async #stored(): Promise<StoredState> {
    return readStored(this.#options.bucket, this.#options.key);
  }

  /** Stream sequence of the state in the folder, as far as it was published; -1 if there is none, or it is damaged. */
  get own(): number {
    const { directory } = this.#options;
    if (!existsSync(join(directory, 'state.duckdb')) || notedDamage(directory, 'state') !== null) return -1;
    return readManifest(directory)?.sequence ?? 0;
  }

  /**
   * Takes the newest stored copy that can be read, if it has counted more of the stream than the folder has, or if what
   * is there is void. What was in the folder goes: a copy is whole. Call it before the state is opened.
   *
   * @throws HeldStateError while another process has the state open
   * @throws ObjectStoreError
   */
  async fetchNewer(): Promise<StateObject | null> {
    const { directory } = this.#options;
    const { isVoid, newer } = await this.#newer();
    if (newer.length === 0 && !isVoid) return null;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const lock = await lockOf(directory, TAKING);
    if (lock === null)
      throw new HeldStateError(join(directory, 'state.duckdb'), new Error('it is being taken'));
    try {
      return await this.#take();
    } finally {
      lock.release();
    }
  }

  /**
   * Has the first state of the shard made in the folder: `make` returns its stream sequence; null if it made none. Returns
   * the sequence.
   *
   * @throws HeldStateError while another process makes it
   * @throws StateAwaitedError when data was taken out of the shard meanwhile, which makes the state void
   */
  async begin(make: () => Promise<number | null>): Promise<number | null> {
    const { directory, shard } = this.#options;
    const file = join(directory, 'state.duckdb');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const lock = await lockOf(directory, TAKING);
    if (lock === null) throw new HeldStateError(file, new Error('it is being made'));
    try {
      if (existsSync(file)) return null;
      const sequence = await make();
      const { generation } = await this.#stored();
      if (sequence === null || generation === this.generation) return sequence;
      clear(directory, generation);
      throw new StateAwaitedError(shard, { cause: new Error('data was taken out of it meanwhile') });
    } finally {
      lock.release();
    }
  }

  /** The copies that have counted more than the folder has, the newest first; all if what is there is void. */
  async #newer(): Promise<{ generation: number; isVoid: boolean; newer: readonly StateObject[] }> {
    const { generation, copies } = await this.#stored();
    const isVoid = generation > this.generation;
    return { generation, isVoid, newer: copies.filter(({ sequence }) => isVoid || sequence > this.own) };
  }

  async #take(): Promise<StateObject | null> {
    const { directory, shard, logger } = this.#options;
    const { generation, isVoid, newer } = await this.#newer();
    if (newer.length === 0 && !isVoid) return null;
    const file = join(directory, 'state.duckdb');
    if (existsSync(file)) await assertClosed(file);
    if (isVoid) clear(directory, generation);
    const fetched = join(directory, FETCHED);
    // What the standby has need not be read again.
    await withStandby(directory, async (standby) => {
      if (!existsSync(`${standby}.index`)) return;
      moveState(fetched, null);
      for (const suffix of STATE_SUFFIXES)
        if (existsSync(`${standby}${suffix}`)) renameSync(`${standby}${suffix}`, `${fetched}${suffix}`);
    });
    removeRests(directory, FETCHED);
    let taken: StateObject | null = null;
    for (const copy of newer) if (taken === null && (await this.#isFetched(copy, fetched))) taken = copy;
    if (taken === null) moveState(fetched, null);
    if (taken === null && !isVoid) return null;
    for (const suffix of ['', '.wal']) rmSync(`${file}${suffix}`, { force: true });
    // Published files of the state before it would be continued.
    removePublished(directory);
    rmSync(join(directory, STORED_FILES), { force: true });
    if (taken !== null) moveState(fetched, file);
    if (taken?.published != null) await this.#bringPublished(taken.published);
    for (const damaged of ['state', 'segments'] as const) clearDamage(directory, damaged);
    logger.info(
      { event: 'state_copy_taken', shard, generation, sequence: taken?.sequence ?? 0 },
      taken === null
        ? 'the worker counts the shard anew: data was taken out of what it had, and no copy is left'
        : 'the worker goes on with a copy of the shard from the object store',
    );
    return taken;
  }

  /**
   * Keeps the newest copy of a shard that another machine has beside the shard's own files, so that little is read when
   * this machine takes it over. Returns true if it was read.
   *
   * @throws ObjectStoreError
   */
  async keepStandby(signal: AbortSignal): Promise<boolean> {
    const { directory } = this.#options;
    const { generation, copies } = await this.#stored();
    const [newest] = copies;
    if (newest === undefined || this.own >= newest.sequence) return false;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (generation > this.generation) await this.forgetVoid();
    if (generation !== this.generation) return false;
    const isRead = await withStandby(directory, async (file) => {
      const reading = readState(this.#packsAt(STANDBY), newest, file, signal);
      await reading.catch(() => undefined);
      // Data may have been taken out of it meanwhile, and the folder be of the next generation.
      const isCurrent = (await this.#stored()).generation === generation;
      if (!isCurrent) moveState(file, null);
      return (await reading) && isCurrent;
    });
    return isRead === true;
  }

  /** Deletes copies of a shard that this machine need not take over any more, or did not take over. */
  async dropStandby(): Promise<void> {
    const { directory } = this.#options;
    const has = (name: string): boolean => readdirSync(directory).some((file) => file.startsWith(name));
    if (!existsSync(directory)) return;
    if (has(STANDBY)) await withStandby(directory, async (file) => moveState(file, null));
    const lock = has(FETCHED) ? await lockOf(directory, TAKING) : null;
    if (lock === null) return;
    try {
      moveState(join(directory, FETCHED), null);
      removeRests(directory, FETCHED);
    } finally {
      lock.release();
    }
  }

  #packsAt(name: string): StatePacksOptions {
    const { store, prefix, directory } = this.#options;
    return { store, prefix, temporary: join(directory, name) };
  }

  /** Brings the files that were published with a copy: what is published next continues them. */
  async #bringPublished({ manifest, files }: NonNullable<StateObject['published']>): Promise<void> {
    const { store, directory, findFiles, shard, logger } = this.#options;
    try {
      const elsewhere = findFiles?.();
      await inTurns(Object.entries(files), AT_ONCE, async ([name, { name: object, sha256 }]) => {
        const path = join(directory, name);
        const known = elsewhere?.get(sha256);
        if (known !== undefined && isLinked(known, path)) return;
        if (!(await store.download(object, path, sha256))) throw new Error(`the object ${object} is gone`);
      });
      writeManifest(directory, manifest, manifest.sizes);
      replaceFile(join(directory, STORED_FILES), JSON.stringify(files));
    } catch (error) {
      removePublished(directory);
      logger.warn(
        { event: 'published_files_lost', shard, err: error },
        'the published files of a shard cannot be read from the object store: the worker writes all of them again',
      );
    }
  }

  /** Deletes what the folder has of an earlier generation, unless another process has it open. */
  async forgetVoid(): Promise<void> {
    const { directory } = this.#options;
    if (!existsSync(directory) || !(await this.isVoid())) return;
    const lock = await lockOf(directory, TAKING);
    if (lock === null) return;
    try {
      const { generation } = await this.#stored();
      // It may have been taken anew, and be open, since the first look.
      if (generation <= this.generation) return;
      const file = join(directory, 'state.duckdb');
      if (existsSync(file)) await assertClosed(file);
      clear(directory, generation);
    } catch (error) {
      if (!(error instanceof HeldStateError)) throw error;
    } finally {
      lock.release();
    }
  }

  async #isFetched(copy: StateObject, file: string): Promise<boolean> {
    const { shard, logger } = this.#options;
    if (await readState(this.#packsAt(FETCHED), copy, file)) return true;
    logger.warn(
      { event: 'state_copy_lost', shard, sequence: copy.sequence },
      'a copy of a shard is gone from the object store, or damaged',
    );
    return false;
  }

  /**
   * Stores a copy, unless what is stored has counted as much, or data was taken out of it meanwhile. A newer copy of
   * another owner stays. `published`: what was published of the state. Returns the stored copy.
   */
  async store(
    state: OpenState,
    published: StateObject['published'] = null,
    signal?: AbortSignal,
  ): Promise<StateObject | null> {
    const { bucket, key } = this.#options;
    const before = await readKey<StoredState>(bucket, key);
    const { generation, begunAt, copies } = before?.value ?? NO_STATE;
    const [newest] = copies;
    if (generation > this.generation) {
      // A copy that failed has left packs.
      await this.#removeUnnamed(this.#packs.inWork, signal);
      return null;
    }
    if (newest !== undefined && newest.sequence >= state.sequence) return null;
    if (newest !== undefined) await this.#packs.follow(newest);
    const stored = { ...(await this.#packs.write(() => state.image(), signal)), published };
    // The one before it stays: another machine may be reading it, and the newest may be lost. Only one has what was
    // published, as a manifest may fill half a value of the bucket.
    const kept = [stored, ...copies.slice(0, 1).map((copy) => ({ ...copy, published: null }))];
    const value = { generation, begunAt, at: Date.now(), copies: kept };
    const isStored = (await writeKey(bucket, key, value, before?.revision ?? null)) !== null;
    await this.#removeUnnamed([...[stored, ...copies].flatMap(objectsOf), ...this.#packs.unused], signal);
    if (isStored) return stored;
    // Some of what it knows is gone.
    this.#packs = new StatePacks(this.#packsAt('upload.duckdb'));
    return null;
  }

  /** Deletes objects that no copy names. */
  async #removeUnnamed(names: readonly string[], signal?: AbortSignal): Promise<void> {
    const named = new Set((await this.#stored()).copies.flatMap(objectsOf));
    for (const name of new Set(names)) if (!named.has(name)) await this.#options.store.remove(name, signal);
  }
}

/** Does work on the standby of a folder, unless another process of this machine does some: then it returns null. */
async function withStandby<T>(directory: string, work: (file: string) => Promise<T>): Promise<T | null> {
  const lock = await lockOf(directory, STANDING);
  if (lock === null) return null;
  try {
    removeRests(directory, STANDBY);
    return await work(join(directory, STANDBY));
  } finally {
    lock.release();
  }
}

/** Null if something of this machine has the lock. */
async function lockOf(directory: string, name: string): Promise<DataDirectoryLock | null> {
  try {
    return await lockDataDirectory(directory, { name });
  } catch (error) {
    if (error instanceof SetupError) return null;
    throw error;
  }
}

/** Deletes what a download that ended half way has left beside a state. */
function removeRests(directory: string, state: string): void {
  const files = new Set(STATE_SUFFIXES.map((suffix) => `${state}${suffix}`));
  for (const file of readdirSync(directory))
    if (file.startsWith(state) && !files.has(file)) rmSync(join(directory, file), { force: true });
}

/** False if the file must be read from elsewhere, as it is on another file system or has gone meanwhile. */
function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** Generation of the state in a folder: 0 unless it was taken from a copy of a later one. */
export function generationIn(directory: string): number {
  const file = join(directory, GENERATION_FILE);
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

/** Deletes what a folder has of an earlier generation, also what was set aside or is being written. */
function clear(directory: string, generation: number): void {
  for (const file of readdirSync(directory))
    if (!file.endsWith('.sock')) rmSync(join(directory, file), { recursive: true, force: true });
  replaceFile(join(directory, GENERATION_FILE), String(generation));
}

/** @throws HeldStateError when another process has the file open: it would write its log beside the new file */
async function assertClosed(file: string): Promise<void> {
  try {
    await withDatabase({ threads: 1 }, (connection) => connection.run(`attach ${quoted(file)} as st`));
  } catch (error) {
    // A damaged file is replaced.
    if (error instanceof DatabaseError && error.file === 'held') throw new HeldStateError(file, error);
  }
}
