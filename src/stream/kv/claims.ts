/**
 * Claims on pieces of work that some processes divide among themselves, one after the other. A claim of a process that
 * has ended expires. Two processes may work on the same piece after a pause: whoever completes it has to compare
 * revisions.
 *
 * Test: test/stream/kv/claims.test.ts.
 */
import type { StreamConnection } from '../connection.ts';
import type { KeyValueBucket } from './key-value.ts';
import { openLeaseBucket, type LeaseHolder } from './leases.ts';
import { isDeadHolder } from './process-identity.ts';

const RENEW_MS = 1000;

/** A claim, renewed until it is released. */
export interface Claim {
  /** True once another process may have the piece. */
  readonly lost: boolean;
  release(): Promise<void>;
}

export class Claims {
  readonly #bucket: KeyValueBucket;
  readonly #holder: LeaseHolder;

  private constructor(bucket: KeyValueBucket, holder: LeaseHolder) {
    this.#bucket = bucket;
    this.#holder = holder;
  }

  static async open(connection: StreamConnection, holder: LeaseHolder, replicas: number): Promise<Claims> {
    return new Claims(await openLeaseBucket(connection, { replicas }), holder);
  }

  /** True while a living process has claimed a piece. */
  async isTaken(key: string): Promise<boolean> {
    const entry = await this.#bucket.get(key);
    return entry !== null && !this.#isOfDead(entry.value);
  }

  /** Claims a piece; null if another living process has it. */
  async take(key: string): Promise<Claim | null> {
    let revision = await this.#bucket.create(key, this.#value);
    if (revision === null) {
      const entry = await this.#bucket.get(key);
      if (entry !== null && this.#isOfDead(entry.value))
        revision = await this.#bucket.update(key, this.#value, entry.revision);
    }
    return revision === null ? null : this.#renewed(key, revision);
  }

  #renewed(key: string, first: number): Claim {
    let revision = first;
    let lost = false;
    let renewing: Promise<void> = Promise.resolve();
    const renew = async (): Promise<void> => {
      // After a pause it may have expired.
      const next =
        (await this.#bucket.update(key, this.#value, revision)) ??
        (await this.#bucket.create(key, this.#value));
      if (next === null) lost = true;
      else revision = next;
    };
    const timer = setInterval(() => {
      // Without an answer of the server, the next renewal tries again.
      if (!lost) renewing = renewing.then(renew).catch(() => undefined);
    }, RENEW_MS);
    return {
      get lost() {
        return lost;
      },
      release: async () => {
        clearInterval(timer);
        await renewing;
        // Without an answer, it expires.
        if (!lost) await this.#bucket.remove(key, revision).catch(() => false);
      },
    };
  }

  get #value(): string {
    return JSON.stringify(this.#holder);
  }

  #isOfDead(value: string): boolean {
    return isDeadHolder(this.#holder)(JSON.parse(value) as LeaseHolder);
  }
}
