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
import { clearDamage } from '../store/damage.ts';
import { DatabaseError, quoted, withDatabase } from '../store/duckdb.ts';
import { HeldStateError } from '../store/live/state-database.ts';
import { sha256Of, type ObjectStore } from '../store/objects/object-store.ts';
import { readManifest, removePublished } from '../store/published/manifest.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { readKey, writeKey, type StoredState } from './views-bucket.ts';

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

  /**
   * Takes the stored copy if it has counted more of the stream than the folder has. What was in the folder goes: a copy
   * is whole. Call it before the state is opened.
   *
   * @throws HeldStateError while another process has the state open
   * @throws DamagedObjectError, ObjectStoreError
   */
  async fetchNewer(): Promise<StoredState | null> {
    const { bucket, store, key, directory, shard, logger } = this.#options;
    const file = join(directory, 'state.duckdb');
    const stored = (await readKey<StoredState>(bucket, key))?.value;
    const own = existsSync(file) ? (readManifest(directory)?.sequence ?? 0) : -1;
    if (stored === undefined || stored.sequence <= own) return null;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const fetched = join(directory, 'fetched.duckdb');
    if (!(await store.download(stored.name, fetched, stored.sha256))) {
      logger.warn(
        { event: 'state_copy_gone', shard },
        'the copy of a shard is no longer in the object store: the worker counts from what it has',
      );
      return null;
    }
    if (existsSync(file)) await assertClosed(file);
    rmSync(`${file}.wal`, { force: true });
    // Published files of the state before it would be continued.
    removePublished(directory);
    renameSync(fetched, file);
    for (const damaged of ['state', 'segments'] as const) clearDamage(directory, damaged);
    logger.info(
      { event: 'state_copy_taken', shard, sequence: stored.sequence },
      'the worker goes on with a copy of the shard from the object store',
    );
    return stored;
  }

  /** Stores a copy; `copyTo` writes it to a file. A newer copy of another owner stays. */
  async store(state: OpenState): Promise<StoredState | null> {
    const { bucket, store, key, prefix, directory } = this.#options;
    const file = join(directory, 'upload.duckdb');
    try {
      const before = await readKey<StoredState>(bucket, key);
      if (before !== null && before.value.sequence >= state.sequence) return null;
      const { sequence } = await state.copyTo(file);
      const sha256 = await sha256Of(file);
      const stored = {
        name: `${prefix}states/${sha256}`,
        sha256,
        sequence,
        at: Date.now(),
        ...(before === null ? {} : { before: before.value.name }),
      };
      await store.upload(stored.name, file);
      if ((await writeKey(bucket, key, stored, before?.revision ?? null)) === null) return null;
      // The one before it stays: another machine may be reading it.
      if (before?.value.before !== undefined) await store.remove(before.value.before);
      return stored;
    } finally {
      for (const suffix of ['', '.wal']) rmSync(`${file}${suffix}`, { force: true });
    }
  }
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
