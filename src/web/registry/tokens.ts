/** Tokens of which only digests are stored. Covered by test/web/registry/sign-ins.test.ts and test/web/registry/links.test.ts. */
import { randomBytes } from 'node:crypto';
import { digestOf } from './api-keys.ts';
import { CatchUp } from './catch-up.ts';
import type { GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';

/** What is stored of a token that ends. */
export interface Ending {
  /** ISO 8601, UTC. */
  readonly endsAt: string;
}

/** A stored one, and where it is stored. */
export interface Known<Stored> {
  readonly digest: string;
  readonly stored: Stored;
  readonly revision: number;
}

const TOKEN = /^[\w-]{43}$/;

/**
 * The tokens of one kind that this process knows: `<kind>.<digest>` of the bucket. A token is 256 random bits as
 * base64url; what has ended is found no more, and is removed when the next one is issued.
 */
export class Tokens<Stored extends Ending> {
  readonly #bucket: GuardedBucket;
  readonly #kind: string;
  readonly #now: () => Date;
  readonly #known = new Map<string, { readonly stored: Stored; readonly revision: number }>();
  readonly #catchUp: CatchUp;

  constructor(bucket: GuardedBucket, kind: string, now: () => Date) {
    this.#bucket = bucket;
    this.#kind = kind;
    this.#now = now;
    this.#catchUp = new CatchUp({ newest: () => bucket.newestRevision(`${kind}.*`) });
  }

  clear(): void {
    this.#known.clear();
    this.#catchUp.reset();
  }

  /** The watch tells a write. */
  watched(digest: string, value: string | null, revision: number): void {
    if (value === null) this.#known.delete(digest);
    else this.#known.set(digest, { stored: JSON.parse(value) as Stored, revision });
    this.#catchUp.told(revision);
  }

  /** A new token. */
  async issue(stored: Stored): Promise<string> {
    for (const known of this.#all().filter(({ stored: { endsAt } }) => this.#hasEnded(endsAt)))
      await this.remove(known);
    const token = randomBytes(32).toString('base64url');
    const digest = digestOf(token);
    const revision = await this.#bucket.put(`${this.#kind}.${digest}`, JSON.stringify(stored));
    this.#known.set(digest, { stored, revision });
    return token;
  }

  /** What memory says; null: it is no token, or has ended; undefined: it may be too new. */
  known(token: string): Stored | null | undefined {
    if (!TOKEN.test(token)) return null;
    const stored = this.#known.get(digestOf(token))?.stored;
    return stored !== undefined && this.#hasEnded(stored.endsAt) ? null : stored;
  }

  /** Resolves once memory has all that was stored when it was asked. */
  caughtUp(): Promise<void> {
    return this.#catchUp.done();
  }

  /** Those that have not ended, the oldest first. */
  living(): Known<Stored>[] {
    return this.#all().filter(({ stored: { endsAt } }) => !this.#hasEnded(endsAt));
  }

  async remove({ digest, revision }: Pick<Known<Stored>, 'digest' | 'revision'>): Promise<void> {
    await this.#bucket.remove(`${this.#kind}.${digest}`, revision);
    this.#known.delete(digest);
  }

  /** Ends a token for ever, also one that memory does not know yet. */
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
