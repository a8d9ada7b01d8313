/**
 * Views that several machines share: each shard is counted by one of them, and read by all. The definition of the rows
 * is part of every key, so machines with other code, models or views count apart, and answer once they have counted as
 * much.
 *
 * Test: test/cluster/machines.test.ts.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenState, SharedShard, SharedShards } from '../domain/sharing.ts';
import type { Logger } from '../logger.ts';
import type { ObjectStore } from '../store/objects/object-store.ts';
import { completeUntil } from '../store/published/manifest.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { ShardUploads } from './shard-uploads.ts';
import { StateCopies } from './state-copies.ts';
import {
  objectsOf,
  readKey,
  writeKey,
  ViewsKeys,
  type PublishedShard,
  type SharedDefinition,
  type StoredState,
} from './views-bucket.ts';

/** Time between two copies of a state, milliseconds; more where a copy takes long. */
const COPY_MS = 120_000;
/** Time for the last upload when a shard is handed over: the store may not answer, milliseconds. */
const HAND_OVER_MS = 3000;
/** Share of the time that copies may take. */
const COPY_SHARE = 0.05;

export interface SharedViewsOptions {
  readonly bucket: KeyValueBucket;
  readonly store: ObjectStore;
  readonly keys: ViewsKeys;
  /** The views that this process makes. */
  readonly views: SharedDefinition;
  readonly logger: Logger;
  /** Default COPY_MS. */
  readonly copyMs?: number;
}

/** The part of a worker in the shared views. */
export class SharedViews implements SharedShards {
  readonly #options: SharedViewsOptions;

  constructor(options: SharedViewsOptions) {
    this.#options = options;
  }

  get scope(): string {
    return this.#options.keys.scopeOf(this.#options.views);
  }

  async prepare(shard: number, directory: string): Promise<void> {
    await this.#copiesOf(shard, directory).fetchNewer();
  }

  async open(shard: number, directory: string, state: OpenState): Promise<SharedShard> {
    const { bucket, store, keys, views, logger, copyMs = COPY_MS } = this.#options;
    const copies = this.#copiesOf(shard, directory);
    const stored = await readKey<StoredState>(bucket, keys.state(views, shard));
    const uploads = await ShardUploads.open({
      bucket,
      store,
      key: keys.shard(views, shard),
      prefix: objectsOf(views, shard),
      run: randomUUID(),
      directory,
      shard,
      logger,
      onPublished: () => this.#answerOnceComplete(),
    });
    const kept = stored === null ? [] : [stored.value.name, stored.value.before ?? ''];
    await uploads.adoptLeft(new Set(kept));
    let copied: Promise<unknown> = Promise.resolve();
    let timer: NodeJS.Timeout;
    const copy = async (): Promise<void> => {
      const startedAt = performance.now();
      try {
        await copies.store(state);
      } catch (error) {
        logger.warn(
          { event: 'state_copy_failed', shard, err: error },
          'a copy of the shard could not be stored: the worker tries again later',
        );
      }
      later(Math.max(copyMs, (performance.now() - startedAt) / COPY_SHARE));
    };
    const later = (ms: number): void => {
      timer = setTimeout(() => {
        copied = copy();
      }, ms);
    };
    later(copyMs);
    return {
      published: () => uploads.push(),
      close: async () => {
        await copied;
        clearTimeout(timer);
        await Promise.race([uploads.settle(), sleep(HAND_OVER_MS)]);
        if (!uploads.isReplaced) await copy();
        clearTimeout(timer);
        await uploads.close();
      },
    };
  }

  #copiesOf(shard: number, directory: string): StateCopies {
    const { bucket, store, keys, views, logger } = this.#options;
    return new StateCopies({
      bucket,
      store,
      key: keys.state(views, shard),
      prefix: objectsOf(views, shard),
      directory,
      shard,
      logger,
    });
  }

  /** Lets our views answer once each shard has counted as much as those that answer now. */
  async #answerOnceComplete(): Promise<void> {
    const { bucket, keys, views, logger } = this.#options;
    const active = await readKey<SharedDefinition>(bucket, keys.active);
    if (active !== null && keys.scopeOf(active.value) === this.scope) return;
    const reached = await this.#reached(views);
    const least = active === null ? 0 : Math.max(...(await this.#reached(active.value)));
    if (Math.min(...reached) < Math.max(0, least)) return;
    if ((await writeKey(bucket, keys.active, views, active?.revision ?? null)) === null) return;
    logger.info(
      { event: 'views_switched', shards: views.shards },
      active === null ? 'these views answer on all machines' : 'these views answer in place of others',
    );
  }

  /** The sequence up to which each shard is published completely; -1 where nothing is. */
  #reached(views: SharedDefinition): Promise<number[]> {
    const { bucket, keys } = this.#options;
    return Promise.all(
      Array.from({ length: views.shards }, async (_, shard) => {
        const entry = await readKey<PublishedShard>(bucket, keys.shard(views, shard));
        const manifest = entry?.value.manifest ?? null;
        return manifest === null ? -1 : completeUntil(manifest);
      }),
    );
  }
}
