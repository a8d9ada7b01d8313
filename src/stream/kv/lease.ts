/** Covered by test/stream/kv/leases.test.ts. Proof that one shard is ours, for as long as it is renewed. */
export interface Lease {
  readonly shard: number;
  /** True from the moment at which another worker may have it. It never comes back; a new lease may. */
  readonly lost: boolean;
  /**
   * Resolves when no other worker can own the shard; asks the server when the last renewal is not recent (the
   * process was paused, or very busy). Rejects with LeaseLostError.
   */
  confirm(): Promise<void>;
}

/** The shard may be another worker's by now: what was not committed must not be. */
export class LeaseLostError extends Error {
  constructor(shard: number) {
    super(`the lease of shard ${shard} was lost: another worker may own it`);
    this.name = 'LeaseLostError';
  }
}

export interface Written {
  readonly revision: number;
  /** `now()` before it was asked for. */
  readonly at: number;
}

/** The key that a lease stands for is another process's. */
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

  /** Rejects when it was not renewed; then it is lost, or there is time left to try again. */
  renew(): Promise<void> {
    if (this.lost || this.#ended) return Promise.reject(new LeaseLostError(this.shard));
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  /** It was let go: resolves when no renewal is under way, and there will be none. */
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

/** Milliseconds that go on while the process is stopped, and while the machine sleeps. They may jump with its clock. */
export function now(): number {
  return Math.max(performance.now(), Date.now() - startedAt);
}
const startedAt = Date.now() - performance.now();
