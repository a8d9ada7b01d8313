/**
 * A lease of one shard. Before another worker may own the shard, this process stops trusting its lease.
 *
 * Test: test/stream/kv/leases.test.ts.
 */

/** A lease of one shard, valid while it is renewed. */
export interface Lease {
  readonly shard: number;
  /** True from the moment at which another worker may own the shard. A lost lease stays lost; a new one may follow. */
  readonly lost: boolean;
  /**
   * Resolves while no other worker can own the shard. Asks the server when the last renewal is not recent, as after a
   * pause of the process. Rejects with LeaseLostError.
   */
  confirm(): Promise<void>;
}

/** Another worker may own the shard, so this process must not commit. */
export class LeaseLostError extends Error {
  constructor(shard: number) {
    super(`the lease of shard ${shard} was lost: another worker may own it`);
    this.name = 'LeaseLostError';
  }
}

/** A successful write of a lease's key. */
export interface Written {
  readonly revision: number;
  /** `now()` before the request. */
  readonly at: number;
}

/** The key of the lease belongs to another process. */
export class NotOursError extends Error {}

interface HeldOptions {
  readonly revision: number;
  readonly renewedAt: number;
  readonly trustMs: number;
  readonly renew: (revision: number) => Promise<Written>;
  readonly onLost: (lease: HeldLease) => void;
}

/** A lease that this process holds and renews. */
export class HeldLease implements Lease {
  readonly shard: number;
  lost = false;
  revision: number;
  readonly #options: HeldOptions;
  #renewedAt: number;
  #renewing: Promise<void> | null = null;
  #ended = false;

  constructor(shard: number, options: HeldOptions) {
    this.shard = shard;
    this.revision = options.revision;
    this.#options = options;
    this.#renewedAt = options.renewedAt;
  }

  async confirm(): Promise<void> {
    if (this.#trusted) return;
    if (!this.lost) await this.renew().catch(() => undefined);
    if (!this.#trusted) {
      this.#lose();
      throw new LeaseLostError(this.shard);
    }
  }

  /** Rejects when it was not renewed: it is lost, or a later attempt may succeed. */
  renew(): Promise<void> {
    if (this.lost || this.#ended) return Promise.reject(new LeaseLostError(this.shard));
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  /** Ends the lease; resolves when no renewal is running, and none will follow. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#renewing?.catch(() => undefined);
  }

  get #trusted(): boolean {
    const elapsedMs = now() - this.#renewedAt;
    return !this.lost && elapsedMs >= 0 && elapsedMs < this.#options.trustMs;
  }

  async #renew(): Promise<void> {
    try {
      const { revision, at } = await this.#options.renew(this.revision);
      this.revision = revision;
      this.#renewedAt = at;
    } catch (error) {
      if (error instanceof NotOursError || !this.#trusted) this.#lose();
      throw error;
    }
  }

  #lose(): void {
    if (this.lost || this.#ended) return;
    this.lost = true;
    this.#options.onLost(this);
  }
}

/** Milliseconds that continue while the process is stopped or the machine sleeps. They may jump with the clock. */
export function now(): number {
  return Math.max(performance.now(), Date.now() - startedAt);
}
const startedAt = Date.now() - performance.now();
