/**
 * Copies of a shard's state in the object store, so that another machine goes on from the newest one and not from the
 * first entry of the stream.
 *
 * Test: test/cluster/shared-shard.test.ts.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenState } from '../domain/sharing.ts';
import type { Logger } from '../logger.ts';
import { clearDamage, notedDamage } from '../store/damage.ts';
import { DatabaseError, quoted, withDatabase } from '../store/duckdb.ts';
import { HeldStateError } from '../store/live/state-database.ts';
import { DamagedObjectError, sha256Of, type ObjectStore } from '../store/objects/object-store.ts';
import { readManifest, removePublished } from '../store/published/manifest.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { readKey, writeKey, type StateObject, type StoredState } from './views-bucket.ts';

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
    const stored = (await readKey<StoredState>(this.#options.bucket, this.#options.key))?.value;
    return [stored, stored?.before].flatMap((each) => (each === undefined ? [] : [each.name]));
  }

  /** Stream sequence of the state in the folder, as far as it was published; -1 if there is none, or it is damaged. */
  get own(): number {
    const { directory } = this.#options;
    if (!existsSync(join(directory, 'state.duckdb')) || notedDamage(directory, 'state') !== null) return -1;
    return readManifest(directory)?.sequence ?? 0;
  }

  /**
   * Takes the newest stored copy that can be read, if it has counted more of the stream than the folder has. What was
   * in the folder goes: a copy is whole. Call it before the state is opened.
   *
   * @throws HeldStateError while another process has the state open
   * @throws ObjectStoreError
   */
  async fetchNewer(): Promise<StateObject | null> {
    const { bucket, key, directory, shard, logger } = this.#options;
    const stored = (await readKey<StoredState>(bucket, key))?.value;
    if (stored === undefined || stored.sequence <= this.own) return null;
    const file = join(directory, 'state.duckdb');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (existsSync(file)) await assertClosed(file);
    const fetched = join(directory, 'fetched.duckdb');
    for (const copy of [stored, ...(stored.before === undefined ? [] : [stored.before])]) {
      if (copy.sequence <= this.own || !(await this.#isFetched(copy, fetched))) continue;
      rmSync(`${file}.wal`, { force: true });
      // Published files of the state before it would be continued.
      removePublished(directory);
      renameSync(fetched, file);
      for (const damaged of ['state', 'segments'] as const) clearDamage(directory, damaged);
      logger.info(
        { event: 'state_copy_taken', shard, sequence: copy.sequence },
        'the worker goes on with a copy of the shard from the object store',
      );
      return copy;
    }
    return null;
  }

  async #isFetched(copy: StateObject, file: string): Promise<boolean> {
    const { store, shard, logger } = this.#options;
    try {
      if (await store.download(copy.name, file, copy.sha256)) return true;
    } catch (error) {
      if (!(error instanceof DamagedObjectError)) throw error;
    }
    logger.warn(
      { event: 'state_copy_lost', shard, sequence: copy.sequence },
      'a copy of a shard is gone from the object store, or damaged',
    );
    return false;
  }

  /** Stores a copy, unless what is stored has counted as much. A newer copy of another owner stays. */
  async store(state: OpenState, signal?: AbortSignal): Promise<StoredState | null> {
    const { bucket, store, key, prefix, directory } = this.#options;
    const file = join(directory, 'upload.duckdb');
    try {
      const before = await readKey<StoredState>(bucket, key);
      if (before !== null && before.value.sequence >= state.sequence) return null;
      const { sequence } = await state.copyTo(file);
      if (before !== null && before.value.sequence >= sequence) return null;
      const sha256 = await sha256Of(file);
      const stored: StoredState = {
        name: `${prefix}states/${sha256}`,
        sha256,
        sequence,
        at: Date.now(),
        ...(before === null ? {} : { before: objectOf(before.value) }),
      };
      await store.upload(stored.name, file, signal);
      if ((await writeKey(bucket, key, stored, before?.revision ?? null)) === null) return null;
      // The one before it stays: another machine may be reading it, and the newest may be lost.
      if (before?.value.before !== undefined) await store.remove(before.value.before.name, signal);
      return stored;
    } finally {
      for (const suffix of ['', '.wal']) rmSync(`${file}${suffix}`, { force: true });
    }
  }
}

function objectOf({ name, sha256, sequence }: StateObject): StateObject {
  return { name, sha256, sequence };
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
