/** Covered by test/registry/sign-ins.test.ts. */
import { randomBytes } from 'node:crypto';
import { digestOf, isRawKey } from './api-keys.ts';
import { CatchUp } from './catch-up.ts';
import type { GuardedBucket } from './guarded-bucket.ts';
import type { KeyGrant, Keys } from './keys.ts';

/** A sign-in to the page: it may do what its key may, for as long as the key does. */
export interface SignIn {
  /** What a browser keeps: 256 random bits as base64url. It is stored only as a digest. */
  readonly token: string;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly endsAt: number;
}

interface StoredSignIn {
  /** Digest of the key. */
  readonly key: string;
  /** ISO 8601, UTC. */
  readonly endsAt: string;
}

const DAYS = 30;
/** Of one key: the next one ends the oldest. */
const MOST_OF_KEY = 100;
const TOKEN = /^[\w-]{43}$/;

/** The sign-ins that this process knows: `sign-in.<digest>` of the bucket. */
export class SignIns {
  readonly #bucket: GuardedBucket;
  readonly #keys: Pick<Keys, 'find' | 'grantOf'>;
  readonly #now: () => Date;
  readonly #known = new Map<string, StoredSignIn & { readonly revision: number }>();
  readonly #catchUp: CatchUp;

  constructor(bucket: GuardedBucket, keys: Pick<Keys, 'find' | 'grantOf'>, now: () => Date) {
    this.#bucket = bucket;
    this.#keys = keys;
    this.#now = now;
    this.#catchUp = new CatchUp({ newest: () => bucket.newestRevision('sign-in.*') });
  }

  clear(): void {
    this.#known.clear();
    this.#catchUp.reset();
  }

  /** The watch tells a write. */
  watched(digest: string, value: string | null, revision: number): void {
    if (value === null) this.#known.delete(digest);
    else this.#known.set(digest, { ...(JSON.parse(value) as StoredSignIn), revision });
    this.#catchUp.told(revision);
  }

  /** Null: there is no such key. */
  async open(rawKey: string): Promise<SignIn | null> {
    if (!isRawKey(rawKey) || (await this.#keys.find(rawKey)) === null) return null;
    const key = digestOf(rawKey);
    await this.#makeRoom(key);
    const token = randomBytes(32).toString('base64url');
    const digest = digestOf(token);
    const endsAt = new Date(this.#now().getTime() + DAYS * 86_400_000);
    const stored: StoredSignIn = { key, endsAt: endsAt.toISOString() };
    const revision = await this.#bucket.put(`sign-in.${digest}`, JSON.stringify(stored));
    this.#known.set(digest, { ...stored, revision });
    return { token, endsAt: endsAt.getTime() };
  }

  /** What memory says; undefined when the sign-in may be too new for it. */
  known(token: string): KeyGrant | null | undefined {
    if (!TOKEN.test(token)) return null;
    const signIn = this.#known.get(digestOf(token));
    if (signIn === undefined) return undefined;
    return this.#hasEnded(signIn) ? null : (this.#keys.grantOf(signIn.key) ?? null);
  }

  /** What the key of a sign-in may do; null: it has ended, or its key was revoked. */
  async find(token: string): Promise<KeyGrant | null> {
    const known = this.known(token);
    if (known !== undefined) return known;
    await this.#catchUp.done();
    return this.known(token) ?? null;
  }

  /** Ends a sign-in for ever. */
  async close(token: string): Promise<void> {
    const digest = digestOf(token);
    const entry = await this.#bucket.get(`sign-in.${digest}`);
    if (entry !== null) await this.#bucket.remove(`sign-in.${digest}`, entry.revision);
    this.#known.delete(digest);
  }

  #hasEnded({ endsAt }: StoredSignIn): boolean {
    return Date.parse(endsAt) <= this.#now().getTime();
  }

  /** Removes what has ended, and the oldest of a key that has too many. */
  async #makeRoom(key: string): Promise<void> {
    const oldestFirst = [...this.#known].toSorted(([, one], [, other]) => one.revision - other.revision);
    const own = oldestFirst.filter(([, signIn]) => signIn.key === key && !this.#hasEnded(signIn));
    const tooMany = own.slice(0, Math.max(0, own.length - MOST_OF_KEY + 1));
    const ended = oldestFirst.filter(([, signIn]) => this.#hasEnded(signIn));
    for (const [digest, { revision }] of [...ended, ...tooMany]) {
      await this.#bucket.remove(`sign-in.${digest}`, revision);
      this.#known.delete(digest);
    }
  }
}
