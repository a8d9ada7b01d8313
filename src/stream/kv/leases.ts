/**
 * Divides the shards among the living workers by leases. At most one worker owns a shard at any time.
 *
 * Test: test/stream/kv/leases.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamConnection } from '../connection.ts';
import { divideShards } from './divide-shards.ts';
import { openKeyValue, type BucketOptions, type KeyValueBucket, type KeyValueWatch } from './key-value.ts';
import { HeldLease, NotOursError, now, type Lease, type Written } from './lease.ts';

/** A process that may hold leases. */
export interface LeaseHolder {
  /** Unique among all processes, past ones included: letters, digits and `-`. */
  readonly id: string;
  /** Scope in which `pid` is unique. */
  readonly machine: string;
  readonly pid: number;
}

/** The times of leases, milliseconds. `trustMs` must be less than `ttlMs`. */
export interface LeaseTiming {
  /** Time after the last renewal at which a lease expires. The bucket applies it: the same for all workers. */
  readonly ttlMs: number;
  readonly renewEveryMs: number;
  /** Time after the last renewal at which the holder no longer trusts its lease. */
  readonly trustMs: number;
  /** Time to wait after a change before a shard is given up for balance. */
  readonly settleMs: number;
}

const TIMING: LeaseTiming = { ttlMs: 4000, renewEveryMs: 1000, trustMs: 3500, settleMs: 1500 };
const LOOK_EVERY_MS = 250;
const ATTEMPT_MS = 1000;

export interface LeaseOptions {
  /** Workers with the same scope share the shards. Letters, digits, `-`, `.`. */
  readonly scope: string;
  readonly shards: number;
  readonly holder: LeaseHolder;
  /** Returns true if a holder's process has certainly ended: then its leases are taken before they expire. */
  readonly isDead: (holder: LeaseHolder) => boolean;
  /** Called when this process gains a shard. */
  readonly onGained: (lease: Lease) => void;
  /**
   * Called when a shard must be let go, or was lost (`lease.lost`). Resolves when the work on it has ended; only then
   * may another worker get it.
   */
  readonly onLetGo: (lease: Lease) => Promise<void>;
  readonly replicas?: number;
  readonly timing?: Partial<LeaseTiming>;
}

/** Opens the bucket of leases: a key that is not renewed within `ttlMs` expires. All processes give the same. */
export function openLeaseBucket(
  connection: StreamConnection,
  { ttlMs = TIMING.ttlMs, ...options }: BucketOptions,
): Promise<KeyValueBucket> {
  return openKeyValue(connection, 'leases', { ttlMs, ...options });
}

interface Announcement extends LeaseHolder {
  /** True once a worker takes shards. */
  readonly ready?: boolean;
}

interface Seen {
  readonly announcement: Announcement;
  readonly revision: number;
  /** `now()` of this process when the announcement arrived. */
  at: number;
}

/**
 * Divides the shards of one build of the views. Keys of the bucket `leases` expire unless they are renewed:
 * `<scope>.worker.<id>` announces a worker, `<scope>.shard.<n>` names the owner. Every write compares the revision, so
 * that one of two takers wins. All workers compute the same division from what they see; an owned shard moves only when
 * numbers differ by two or more.
 */
export class Leases {
  readonly #connection: StreamConnection;
  readonly #options: LeaseOptions;
  readonly #timing: LeaseTiming;
  readonly #bucket: KeyValueBucket;
  readonly #seen = new Map<string, Seen>();
  readonly #held = new Map<number, HeldLease>();
  /** Shards that are being let go; they are not taken again before that is done. */
  readonly #closing = new Map<number, Promise<void>>();
  readonly #stopListening: () => void;
  readonly #firstRound = Promise.withResolvers<void>();
  #watch: KeyValueWatch;
  #presence: number | null = null;
  #ready = false;
  #closed = false;
  #unevenSince: number | null = null;
  #wake: () => void = () => undefined;
  readonly #finished: Promise<void>;

  private constructor(connection: StreamConnection, bucket: KeyValueBucket, options: LeaseOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.#bucket = bucket;
    this.#watch = this.#follow();
    this.#stopListening = connection.onStateChange((state) => {
      // During the disconnect, this process could not receive the announcements of others.
      if (state === 'reconnected') for (const seen of this.#seen.values()) seen.at = now();
    });
    this.#finished = this.#run();
  }

  /** Announces this process to the others. It takes no shards before `compete`. */
  static async open(connection: StreamConnection, options: LeaseOptions): Promise<Leases> {
    const { replicas, timing } = options;
    const bucket = await openLeaseBucket(connection, {
      ...(replicas === undefined ? {} : { replicas }),
      ...(timing?.ttlMs === undefined ? {} : { ttlMs: timing.ttlMs }),
    });
    const leases = new Leases(connection, bucket, options);
    await leases.#watch.loaded;
    return leases;
  }

  /** Shards that this process holds, ascending. */
  get held(): number[] {
    return [...this.#held.keys()].toSorted((a, b) => a - b);
  }

  /** Shards that this process gets if the process that holds them now ends. */
  get successions(): number[] {
    if (!this.#ready || this.#closed) return [];
    const me = this.#options.holder.id;
    const { announced, ready } = this.#workers();
    const owners = this.#owners();
    const inherited = new Set<number>();
    for (const gone of new Set(owners)) {
      if (gone === null || gone === me) continue;
      const left = (workers: readonly string[]): string[] => workers.filter((id) => id !== gone);
      const after = divideShards(
        owners.map((owner) => (owner === gone ? null : owner)),
        { takers: left(announced), holders: left(ready) },
      );
      for (const [shard, owner] of after.entries())
        if (owners[shard] === gone && owner === me) inherited.add(shard);
    }
    return [...inherited];
  }

  /** Starts to take shards. Resolves after the first division. */
  compete(): Promise<void> {
    this.#ready = true;
    this.#wake();
    return this.#firstRound.promise;
  }

  /** Lets go of a shard, which this process may gain again. */
  async release(shard: number): Promise<void> {
    const lease = this.#held.get(shard);
    if (lease !== undefined) await this.#letGo(lease);
  }

  /** Lets go of all shards, so that others get them at once. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#firstRound.resolve();
    this.#wake();
    await this.#finished;
    // Leases are renewed meanwhile, as letting go may take long.
    const renewing = setInterval(() => void this.#renewAll(), this.#timing.renewEveryMs);
    try {
      await Promise.all([...this.#held.values()].map((lease) => this.#letGo(lease)));
      await Promise.all(this.#closing.values());
    } finally {
      clearInterval(renewing);
    }
    this.#stopListening();
    if (this.#presence !== null)
      await this.#attempt(this.#bucket.remove(this.#workerKey, this.#presence)).catch(() => undefined);
    await this.#watch.close();
  }

  get #workerKey(): string {
    return `${this.#options.scope}.worker.${this.#options.holder.id}`;
  }

  #shardKey(shard: number): string {
    return `${this.#options.scope}.shard.${shard}`;
  }

  #value(more: Partial<Announcement> = {}): string {
    return JSON.stringify({ ...this.#options.holder, ...more } satisfies Announcement);
  }

  #follow(): KeyValueWatch {
    const prefix = `${this.#options.scope}.`;
    const watch = this.#bucket.watch((key, value, revision) => {
      if (!key.startsWith(prefix)) return;
      const name = key.slice(prefix.length);
      if (value === null) this.#seen.delete(name);
      else this.#seen.set(name, { announcement: JSON.parse(value) as Announcement, revision, at: now() });
      if (value === null) this.#wake();
    });
    watch.loaded.catch(() => undefined);
    void watch.failed.then(() => {
      void watch.close();
      this.#seen.clear();
      if (!this.#closed) this.#watch = this.#follow();
    });
    return watch;
  }

  async #run(): Promise<void> {
    let renewAt = 0;
    while (!this.#closed) {
      if (performance.now() >= renewAt) {
        renewAt = performance.now() + this.#timing.renewEveryMs;
        await this.#renewAll();
      }
      if (this.#ready && !this.#closed) {
        await this.#divide();
        this.#firstRound.resolve();
      }
      if (this.#closed) return;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const aborted = new AbortController();
      await Promise.race([
        woken,
        sleep(LOOK_EVERY_MS, undefined, { signal: aborted.signal }).catch(() => undefined),
      ]);
      aborted.abort();
    }
  }

  async #renewAll(): Promise<void> {
    await Promise.all([
      this.#announce(),
      ...[...this.#held.values()].map((lease) => lease.renew().catch(() => undefined)),
    ]);
  }

  /** Renews the announcement. After a failure, the next renewal tries again. */
  async #announce(): Promise<void> {
    const value = this.#value({ ready: this.#ready });
    try {
      const { revision } = await this.#write(this.#workerKey, value, this.#presence);
      this.#presence = revision;
    } catch {
      this.#presence = null;
    }
  }

  /** Takes the free shards of this process, and gives up shards for balance. */
  async #divide(): Promise<void> {
    if (!this.#connection.connected) return;
    const me = this.#options.holder.id;
    const workers = this.#workers();
    const owners = this.#owners();
    const divided = divideShards(owners, { takers: workers.announced, holders: workers.ready });
    for (const [shard, owner] of owners.entries()) {
      const ours = divided[shard] === me && (owner === null || owner === me);
      if (ours && !this.#held.has(shard) && !this.#closing.has(shard)) await this.#take(shard);
    }
    const surplus = [...this.#held.values()].filter(
      ({ shard, lost }) => !lost && divided[shard] !== me && !this.#closing.has(shard),
    );
    if (surplus.length === 0) this.#unevenSince = null;
    else if (this.#unevenSince === null) this.#unevenSince = now();
    else if (now() - this.#unevenSince >= this.#timing.settleMs) {
      this.#unevenSince = null;
      for (const lease of surplus) void this.#letGo(lease);
    }
  }

  /** Ids of living workers, this one included, ascending. */
  #workers(): { announced: string[]; ready: string[] } {
    const me = this.#options.holder.id;
    const others = [...this.#seen]
      .filter(([name, seen]) => name.startsWith('worker.') && this.#lives(seen))
      .map(([, { announcement }]) => announcement)
      .filter(({ id }) => id !== me);
    return {
      announced: [...others.map(({ id }) => id), me].toSorted(),
      ready: [...others.filter(({ ready }) => ready === true).map(({ id }) => id), me].toSorted(),
    };
  }

  /**
   * The owner of each shard, as far as known; null: none. A shard may name this process although it is not held: its
   * lease was lost, and no other process has taken it.
   */
  #owners(): (string | null)[] {
    return Array.from({ length: this.#options.shards }, (_, shard) => {
      if (this.#held.get(shard)?.lost === false) return this.#options.holder.id;
      const seen = this.#seen.get(`shard.${shard}`);
      return seen === undefined || !this.#lives(seen) ? null : seen.announcement.id;
    });
  }

  #lives({ announcement, at }: Seen): boolean {
    const { ttlMs, renewEveryMs } = this.#timing;
    return now() - at < ttlMs - renewEveryMs / 2 && !this.#options.isDead(announcement);
  }

  async #take(shard: number): Promise<void> {
    const key = this.#shardKey(shard);
    const seen = this.#seen.get(`shard.${shard}`);
    const takenAt = now();
    let revision: number | null = null;
    try {
      const passed =
        seen !== undefined &&
        (seen.announcement.id === this.#options.holder.id || this.#options.isDead(seen.announcement));
      if (passed) revision = await this.#attempt(this.#bucket.update(key, this.#value(), seen.revision));
      revision ??= await this.#attempt(this.#bucket.create(key, this.#value()));
    } catch {
      return;
    }
    if (revision === null) return;
    const lease = new HeldLease(shard, {
      renewedAt: takenAt,
      trustMs: this.#timing.trustMs,
      renew: (last) => this.#write(key, this.#value(), last),
      revision,
      onLost: (lost) => void this.#letGo(lost),
    });
    this.#held.set(shard, lease);
    this.#options.onGained(lease);
  }

  /** Ends the work on a shard, then releases it. */
  #letGo(lease: HeldLease): Promise<void> {
    const { shard } = lease;
    const going = this.#closing.get(shard);
    if (going !== undefined) return going;
    const gone = (async () => {
      try {
        await this.#options.onLetGo(lease);
      } finally {
        await lease.end();
        if (!lease.lost) await this.#giveBack(lease);
        this.#held.delete(shard);
        this.#closing.delete(shard);
        this.#wake();
      }
    })();
    this.#closing.set(shard, gone);
    return gone;
  }

  /** Deletes the key; without an answer of the server, it expires. */
  async #giveBack({ shard, revision }: HeldLease): Promise<void> {
    try {
      await this.#attempt(this.#bucket.remove(this.#shardKey(shard), revision));
      // Deleted before the watch reports it: until then, the shard would seem to be owned by this process.
      this.#seen.delete(`shard.${shard}`);
    } catch {
      return;
    }
  }

  /**
   * Writes a key of this process: with revision `last`, with a revision that this process wrote without an
   * acknowledgement, or as a new key. Rejects with `NotOursError` when another process owns it, otherwise when the
   * server does not answer.
   */
  async #write(key: string, value: string, last: number | null): Promise<Written> {
    const at = now();
    let revision =
      last === null
        ? await this.#attempt(this.#bucket.create(key, value))
        : await this.#attempt(this.#bucket.update(key, value, last));
    if (revision === null) {
      const entry = await this.#attempt(this.#bucket.get(key));
      if (entry === null) revision = await this.#attempt(this.#bucket.create(key, value));
      else if ((JSON.parse(entry.value) as Announcement).id === this.#options.holder.id)
        revision = await this.#attempt(this.#bucket.update(key, value, entry.revision));
    }
    if (revision === null) throw new NotOursError(key);
    return { revision, at };
  }

  async #attempt<T>(request: Promise<T>): Promise<T> {
    request.catch(() => undefined);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('NATS does not answer')), ATTEMPT_MS);
    try {
      return await Promise.race([request, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
