/**
 * The shards whose leases this process holds. A shard opens after its lease is gained, and closes when the lease goes.
 *
 * Test: test/worker/workers.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StateAwaitedError } from '../domain/sharing.ts';
import type { Logger } from '../logger.ts';
import { HeldStateError } from '../store/live/state-database.ts';
import { isAway } from '../stream/connection.ts';
import type { Lease } from '../stream/kv/lease.ts';
import type { WorkCounters } from './counters.ts';
import type { Shard } from './shard.ts';

const LOCK_WAIT_MS = 500;
/** Pause before another try to open a shard, milliseconds. */
const AWAIT_MS = 100;

export interface OwnedShardsOptions {
  /** Opens a shard's views. Waits up to `waitForLockMs` for another process to close them. */
  readonly open: (lease: Lease, waitForLockMs: number) => Promise<Shard>;
  /** Called with each opened shard; returns a function to call before the shard closes. */
  readonly onOpened: (lease: Lease, shard: Shard) => () => void;
  readonly logger: Logger;
}

interface Owned {
  readonly lease: Lease;
  letGo: boolean;
  /** Null before it is open and while it closes. */
  shard: Shard | null;
  beforeClose: () => void;
  /** Resolves to null if the lease went before the shard was open. */
  readonly opened: Promise<Shard | null>;
}

/** Opens shards as their leases are gained, and closes them as they go. */
export class OwnedShards {
  readonly #options: OwnedShardsOptions;
  readonly #owned = new Map<number, Owned>();
  readonly #failed = Promise.withResolvers<never>();

  constructor(options: OwnedShardsOptions) {
    this.#options = options;
    this.#failed.promise.catch(() => undefined);
  }

  /** Rejects when a shard cannot be opened or processed although this process holds its lease. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Resolves when all shards are open whose leases are held now. */
  async open(): Promise<void> {
    await Promise.race([Promise.all([...this.#owned.values()].map(({ opened }) => opened)), this.failed]);
  }

  /** The open shards with their counters. */
  get working(): { readonly shard: number; readonly counters: WorkCounters }[] {
    return [...this.#owned].flatMap(([number, { shard }]) =>
      shard === null ? [] : [{ shard: number, counters: shard.counters }],
    );
  }

  gain(lease: Lease): void {
    const owned: Owned = {
      lease,
      letGo: false,
      shard: null,
      beforeClose: () => undefined,
      opened: Promise.resolve().then(() => this.#open(owned)),
    };
    owned.opened.catch((error: unknown) => {
      if (!lease.lost) this.#failed.reject(error);
    });
    this.#owned.set(lease.shard, owned);
  }

  /** Lets the batch in work finish, unless the lease is lost, and closes the shard. */
  async letGo(lease: Lease): Promise<void> {
    const { shard, lost } = lease;
    const owned = this.#owned.get(shard);
    if (owned === undefined || owned.lease !== lease) return;
    owned.letGo = true;
    try {
      const opened = await owned.opened.catch(() => null);
      owned.shard = null;
      owned.beforeClose();
      await opened?.close();
    } finally {
      this.#owned.delete(shard);
    }
    const { logger } = this.#options;
    if (lost)
      logger.warn(
        { event: 'shard_lost', shard },
        'the worker lost the lease of a shard and closed its views',
      );
    else logger.info({ event: 'shard_let_go', shard }, 'views closed');
  }

  async #open(owned: Owned): Promise<Shard | null> {
    const { lease } = owned;
    let isWarned = false;
    while (!owned.letGo) {
      let shard: Shard;
      try {
        shard = await this.#options.open(lease, LOCK_WAIT_MS);
      } catch (error) {
        const isAwaited = error instanceof StateAwaitedError || isAway(error);
        if (!isAwaited && !(error instanceof HeldStateError)) throw error;
        if (!isWarned) {
          this.#options.logger.warn(
            { event: 'shard_awaited', shard: lease.shard, ...(isAwaited ? { err: error } : {}) },
            isAwaited
              ? 'what a shard needs cannot be read now: the worker waits until it can'
              : 'another process still has the views of a shard open: the worker waits until it closes them',
          );
        }
        isWarned = true;
        await sleep(AWAIT_MS);
        continue;
      }
      shard.run().catch((error: unknown) => {
        if (!lease.lost) this.#failed.reject(error);
      });
      owned.shard = shard;
      owned.beforeClose = this.#options.onOpened(lease, shard);
      return shard;
    }
    return null;
  }
}
