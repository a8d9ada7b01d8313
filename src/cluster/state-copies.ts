/**
 * Copies of a shard's state in the object store, so that another machine goes on from the newest one and not from the
 * first entry of the stream.
 *
 * Test: test/cluster/shared-shard.test.ts.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenState } from '../domain/sharing.ts';
import type { Logger } from '../logger.ts';
import { clearDamage, notedDamage } from '../store/damage.ts';
import { DatabaseError, quoted, withDatabase } from '../store/duckdb.ts';
import { replaceFile } from '../store/epochs/epochs.ts';
import { HeldStateError } from '../store/live/state-database.ts';
import { sha256Of } from '../domain/file-digest.ts';
import { DamagedObjectError, type ObjectStore } from '../store/objects/object-store.ts';
import { readManifest, removePublished } from '../store/published/manifest.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import {
  NO_STATE,
  readKey,
  readState,
  writeKey,
  type StateObject,
  type StoredState,
} from './views-bucket.ts';

const GENERATION_FILE = 'GENERATION';
const FETCHED = 'fetched.duckdb';

export interface StateCopiesOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'upload' | 'download' | 'remove'>;
  /** Key of the shard's state in the bucket. */
  readonly key: string;
  /** Beginning of the names of the shard's objects. */
  readonly prefix: string;
  readonly directory: string;
  readonly shard: number;
  readonly logger: Logger;
}

/** Copies of the state of one shard. */
export class StateCopies {
  readonly #options: StateCopiesOptions;

  constructor(options: StateCopiesOptions) {
    this.#options = options;
  }

  /** Names of the objects that are kept. */
  async kept(): Promise<readonly string[]> {
    return (await this.#stored()).copies.map(({ name }) => name);
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
    return readState(this.#options.bucket, this.#options.key);
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
    const { directory, shard, logger } = this.#options;
    const { generation, copies } = await this.#stored();
    const isVoid = generation > this.generation;
    const newer = copies.filter(({ sequence }) => isVoid || sequence > this.own);
    if (newer.length === 0 && !isVoid) return null;
    const file = join(directory, 'state.duckdb');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (existsSync(file)) await assertClosed(file);
    // Rests of a download that ended half way.
    for (const name of readdirSync(directory))
      if (name.startsWith(FETCHED)) rmSync(join(directory, name), { force: true });
    const fetched = join(directory, FETCHED);
    let taken: StateObject | null = null;
    for (const copy of newer) if (taken === null && (await this.#isFetched(copy, fetched))) taken = copy;
    if (taken === null && !isVoid) return null;
    if (isVoid) clear(directory, generation);
    for (const suffix of ['', '.wal']) rmSync(`${file}${suffix}`, { force: true });
    // Published files of the state before it would be continued.
    removePublished(directory);
    if (taken !== null) renameSync(fetched, file);
    for (const damaged of ['state', 'segments'] as const) clearDamage(directory, damaged);
    logger.info(
      { event: 'state_copy_taken', shard, generation, sequence: taken?.sequence ?? 0 },
      taken === null
        ? 'the worker counts the shard anew: data was taken out of what it had, and no copy is left'
        : 'the worker goes on with a copy of the shard from the object store',
    );
    return taken;
  }

  /** Deletes what the folder has of an earlier generation, unless another process has it open. */
  async forgetVoid(): Promise<void> {
    const { directory } = this.#options;
    if (!existsSync(directory) || !(await this.isVoid())) return;
    const file = join(directory, 'state.duckdb');
    try {
      if (existsSync(file)) await assertClosed(file);
    } catch (error) {
      if (error instanceof HeldStateError) return;
      throw error;
    }
    const { generation } = await this.#stored();
    if (generation > this.generation) clear(directory, generation);
  }

  async #isFetched(copy: StateObject, file: string): Promise<boolean> {
    const { store, shard, logger } = this.#options;
    if (await isDownloaded(store, copy, file)) return true;
    logger.warn(
      { event: 'state_copy_lost', shard, sequence: copy.sequence },
      'a copy of a shard is gone from the object store, or damaged',
    );
    return false;
  }

  /**
   * Stores a copy, unless what is stored has counted as much, or data was taken out of it meanwhile. A newer copy of
   * another owner stays. Returns the stored copy.
   */
  async store(state: OpenState, signal?: AbortSignal): Promise<StateObject | null> {
    const { bucket, store, key, prefix, directory } = this.#options;
    const file = join(directory, 'upload.duckdb');
    try {
      const before = await readKey<StoredState>(bucket, key);
      const { generation, begunAt, copies } = before?.value ?? NO_STATE;
      const [newest, ...older] = copies;
      const isOlder = (sequence: number): boolean => newest !== undefined && newest.sequence >= sequence;
      if (generation > this.generation || isOlder(state.sequence)) return null;
      const { sequence } = await state.copyTo(file);
      if (isOlder(sequence)) return null;
      const sha256 = await sha256Of(file);
      const stored = { name: `${prefix}states/${sha256}`, sha256, sequence };
      await store.upload(stored.name, file, signal);
      const next = { generation, begunAt, at: Date.now(), copies: copies.slice(0, 1) };
      const value = { ...next, copies: [stored, ...next.copies] };
      if ((await writeKey(bucket, key, value, before?.revision ?? null)) === null) {
        if (!(await this.kept()).includes(stored.name)) await store.remove(stored.name, signal);
        return null;
      }
      // The one before it stays: another machine may be reading it, and the newest may be lost.
      for (const { name } of older) await store.remove(name, signal);
      return stored;
    } finally {
      for (const suffix of ['', '.wal']) rmSync(`${file}${suffix}`, { force: true });
    }
  }
}

/** Downloads a copy to a file. Returns false if the object is gone or damaged. */
export async function isDownloaded(
  store: Pick<ObjectStore, 'download'>,
  { name, sha256 }: StateObject,
  file: string,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    return await store.download(name, file, sha256, signal);
  } catch (error) {
    if (error instanceof DamagedObjectError) return false;
    throw error;
  }
}

/** Generation of the state in a folder: 0 unless it was taken from a copy of a later one. */
export function generationIn(directory: string): number {
  const file = join(directory, GENERATION_FILE);
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

/**
 * Deletes what a folder has of an earlier generation, also what was set aside or is being written. A copy that another
 * process of this machine reads from the store stays.
 */
function clear(directory: string, generation: number): void {
  for (const file of readdirSync(directory))
    if (!file.startsWith(FETCHED)) rmSync(join(directory, file), { recursive: true, force: true });
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
