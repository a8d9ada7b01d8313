/**
 * Tokens that expire. Only their digests are stored.
 *
 * Test: test/web/registry/sign-ins.test.ts, test/web/registry/links.test.ts.
 */
import { randomBytes } from 'node:crypto';
import { digestOf } from './api-keys.ts';
import { CatchUp } from './catch-up.ts';
import type { GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';

export interface Ending {
  /** ISO 8601, UTC. */
  readonly endsAt: string;
}

/** A stored value with its key and revision. */
export interface Known<Stored> {
  readonly digest: string;
  readonly stored: Stored;
  readonly revision: number;
}

const TOKEN = /^[\w-]{43}$/;

/**
 * The tokens of one kind: `<kind>.<digest>` of the bucket. A token is 256 random bits as base64url. Expired tokens are
 * not found, and are removed when the next one is issued.
 */
export class Tokens<Stored extends Ending> {
  readonly #bucket: GuardedBucket;
  readonly #kind: string;
  readonly #now: () => Date;
  readonly #known = new Map<string, { readonly stored: Stored; readonly revision: number }>();
  readonly catchUp: CatchUp;

  constructor(bucket: GuardedBucket, kind: string, now: () => Date) {
    this.#bucket = bucket;
    this.#kind = kind;
    this.#now = now;
    this.catchUp = new CatchUp({ newest: () => bucket.newestRevision(`${kind}.*`) });
  }

  clear(): void {
    this.#known.clear();
    this.catchUp.reset();
  }

  watched(digest: string, value: string | null, revision: number): void {
    if (value === null) this.#known.delete(digest);
    else this.#known.set(digest, { stored: JSON.parse(value) as Stored, revision });
    this.catchUp.delivered(revision);
  }

  /** Stores a value under a new token, and removes expired ones. */
  async issue(stored: Stored): Promise<string> {
    for (const known of this.#all().filter(({ stored: { endsAt } }) => this.#hasEnded(endsAt)))
      await this.remove(known);
    const token = randomBytes(32).toString('base64url');
    const digest = digestOf(token);
    const revision = await this.#bucket.put(`${this.#kind}.${digest}`, JSON.stringify(stored));
    this.#known.set(digest, { stored, revision });
    return token;
  }

  /** Looks a token up in memory. Null: it is malformed or has expired; undefined: it may be too new to be there. */
  known(token: string): Stored | null | undefined {
    if (!TOKEN.test(token)) return null;
    const stored = this.#known.get(digestOf(token))?.stored;
    return stored !== undefined && this.#hasEnded(stored.endsAt) ? null : stored;
  }

  /** Returns the unexpired values, oldest first. */
  living(): Known<Stored>[] {
    return this.#all().filter(({ stored: { endsAt } }) => !this.#hasEnded(endsAt));
  }

  async remove({ digest, revision }: Pick<Known<Stored>, 'digest' | 'revision'>): Promise<void> {
    await this.#bucket.remove(`${this.#kind}.${digest}`, revision);
    this.#known.delete(digest);
  }

  /** Ends a token for good, even if memory lacks it. */
  async close(token: string): Promise<void> {
    const digest = digestOf(token);
    const entry = await this.#bucket.get(`${this.#kind}.${digest}`);
    if (entry !== null) await this.remove({ digest, revision: entry.revision });
    this.#known.delete(digest);
  }

  #all(): Known<Stored>[] {
    return [...this.#known]
      .map(([digest, known]) => ({ digest, ...known }))
      .sort((one, other) => one.revision - other.revision);
  }

  #hasEnded(endsAt: string): boolean {
    return Date.parse(endsAt) <= this.#now().getTime();
  }
}
