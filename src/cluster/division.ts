/**
 * Divides the shards of the views that answer among more shards: their instances need not be counted anew.
 *
 * Test: test/cluster/division.test.ts.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { StateAwaitedError } from '../domain/sharing.ts';
import type { Logger } from '../logger.ts';
import type { ObjectStore } from '../store/objects/object-store.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { moveState, readState as readPacks, writeLogInto } from './read-state.ts';
import {
  readKey,
  readState,
  type ActiveViews,
  type SharedDefinition,
  type StateObject,
  type ViewsKeys,
} from './views-bucket.ts';

/** A copy of the state that is divided. */
const WHOLE = 'whole.duckdb';

export interface DivisionOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'upload' | 'download' | 'list' | 'remove'>;
  readonly keys: ViewsKeys;
  /** The views that are made. */
  readonly views: SharedDefinition;
  /** Returns the shards among `others` that have instances of a shard among `shards`. */
  readonly sharedWith: (shard: number, shards: number, others: number) => readonly number[];
  /** Makes `state.duckdb` of `directory` from what a state has of the instances of a shard. The state may be changed. */
  readonly divide: (state: string, directory: string, shard: number) => Promise<unknown>;
  readonly logger: Logger;
}

/** Divides states. */
export class Division {
  readonly #options: DivisionOptions;
  /** One after the other: each takes disk and memory for a whole state. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: DivisionOptions) {
    this.#options = options;
  }

  /**
   * Makes the state of a shard from the newest copy of the one that has all of its instances, if that one answers and has
   * the same definition. Returns the stream sequence of the state; null if there is none that can be divided.
   *
   * @throws ObjectStoreError
   * @throws StateAwaitedError when data was taken out of that state meanwhile
   */
  async make(shard: number, directory: string): Promise<number | null> {
    const made = this.#last.then(() => this.#make(shard, directory));
    this.#last = made.catch(() => undefined);
    return made;
  }

  async #make(shard: number, directory: string): Promise<number | null> {
    const { bucket, store, keys, views, sharedWith, divide, logger } = this.#options;
    const active = (await readKey<ActiveViews>(bucket, keys.active))?.value;
    if (active === undefined || active.definition !== views.definition || active.shards === views.shards)
      return null;
    const [whole, ...others] = sharedWith(shard, views.shards, active.shards);
    if (whole === undefined || others.length > 0) return null;
    const { stateKey, objects } = keys.of(active, whole);
    const file = join(directory, WHOLE);
    try {
      const { generation, copies } = await readState(bucket, stateKey);
      const at = { store, prefix: objects, temporary: file };
      let taken: StateObject | null = null;
      for (const copy of copies) if (taken === null && (await readPacks(at, copy, file))) taken = copy;
      if (taken === null) return null;
      await writeLogInto(file);
      await divide(file, directory, shard);
      if ((await readState(bucket, stateKey)).generation !== generation) {
        rmSync(join(directory, 'state.duckdb'), { force: true });
        throw new StateAwaitedError(shard, { cause: new Error('data was taken out of it meanwhile') });
      }
      logger.info(
        { event: 'shard_divided', shard, of: whole, sequence: taken.sequence },
        `the worker goes on with what shard ${whole} of ${active.shards} has of the shard`,
      );
      return taken.sequence;
    } finally {
      moveState(file, null);
    }
  }
}
