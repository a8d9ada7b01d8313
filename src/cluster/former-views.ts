/**
 * Deletes what views leave that answered before others: they do not answer again. A machine may still read them for a
 * moment after the switch.
 *
 * Test: test/cluster/shared-shard.test.ts.
 */
import type { ObjectStore } from '../store/objects/object-store.ts';
import type { KeyValueBucket } from '../stream/kv/key-value.ts';
import { readKey, writeKey, type ActiveViews, type StoredState, type ViewsKeys } from './views-bucket.ts';

/** Time for which they stay after they were first seen replaced, milliseconds. */
const KEEP_MS = 10 * 60_000;

export interface FormerViewsOptions {
  readonly bucket: KeyValueBucket;
  readonly store: Pick<ObjectStore, 'list' | 'remove'>;
  readonly keys: ViewsKeys;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  /** Default KEEP_MS. */
  readonly keepMs?: number;
}

/** Knows since when views are replaced. */
export class FormerViews {
  readonly #options: FormerViewsOptions;
  readonly #seenAt = new Map<string, number>();

  constructor(options: FormerViewsOptions) {
    this.#options = options;
  }

  /**
   * Deletes the objects and keys of views that were replaced long enough ago, while the views of a scope answer. Returns
   * the number of shards.
   */
  async clean(scope: string): Promise<number> {
    const { bucket, store, keys, now, keepMs = KEEP_MS } = this.#options;
    const active = (await readKey<ActiveViews>(bucket, keys.active))?.value;
    if (active === undefined || keys.scopeOf(active) !== scope) return 0;
    const former = new Set(active.former);
    let cleaned = 0;
    for (const { scope: other, key, stateKey, objects } of await keys.known(bucket)) {
      if (!former.has(other)) continue;
      const seenAt = this.#seenAt.get(other) ?? now();
      this.#seenAt.set(other, seenAt);
      if (now() - seenAt < keepMs) continue;
      const published = await bucket.get(key);
      const state = await readKey<StoredState>(bucket, stateKey);
      if (published === null && (state?.value.copies.length ?? 0) === 0) continue;
      for (const name of await store.list(objects)) await store.remove(name);
      if (published !== null) await bucket.remove(key, published.revision);
      // The generation stays: a machine that was away may have an earlier one.
      if (state !== null) await writeKey(bucket, stateKey, { ...state.value, copies: [] }, state.revision);
      cleaned += 1;
    }
    return cleaned;
  }
}
