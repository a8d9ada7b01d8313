/**
 * The dashboard sign-ins of the registry. A sign-in has the rights of its key, and ends with it.
 *
 * Test: test/web/registry/sign-ins.test.ts.
 */
import { digestOf, isRawKey } from './api-keys.ts';
import type { GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';
import type { KeyGrant, Keys } from './keys.ts';
import { Tokens, type Ending } from './tokens.ts';

export interface SignIn {
  /** The browser's token: 256 random bits as base64url. Only its digest is stored. */
  readonly token: string;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly endsAt: number;
}

interface StoredSignIn extends Ending {
  readonly key: string;
}

const DAYS = 30;
/** Limit of one key's sign-ins; the next one ends the oldest. */
const MOST_OF_KEY = 100;

/** Keys of the bucket: `sign-in.<digest>`. */
export class SignIns {
  readonly #keys: Pick<Keys, 'find' | 'grantOf'>;
  readonly #now: () => Date;
  readonly #tokens: Tokens<StoredSignIn>;

  constructor(bucket: GuardedBucket, keys: Pick<Keys, 'find' | 'grantOf'>, now: () => Date) {
    this.#keys = keys;
    this.#now = now;
    this.#tokens = new Tokens(bucket, 'sign-in', now);
  }

  clear(): void {
    this.#tokens.clear();
  }

  watched(...write: Parameters<Tokens<StoredSignIn>['watched']>): void {
    this.#tokens.watched(...write);
  }

  /** Opens a sign-in; null for an unknown key. */
  async open(rawKey: string): Promise<SignIn | null> {
    if (!isRawKey(rawKey) || (await this.#keys.find(rawKey)) === null) return null;
    const key = digestOf(rawKey);
    const own = this.#tokens.living().filter(({ stored }) => stored.key === key);
    for (const oldest of own.slice(0, Math.max(0, own.length - MOST_OF_KEY + 1)))
      await this.#tokens.remove(oldest);
    const endsAt = new Date(this.#now().getTime() + DAYS * 86_400_000);
    const token = await this.#tokens.issue({ key, endsAt: endsAt.toISOString() });
    return { token, endsAt: endsAt.getTime() };
  }

  /** Looks a sign-in up in memory; undefined if it may be too new to be there. */
  known(token: string): KeyGrant | null | undefined {
    const signIn = this.#tokens.known(token);
    return signIn && (this.#keys.grantOf(signIn.key) ?? null);
  }

  /** Returns the rights of the sign-in's key; null if it has ended or its key was revoked. */
  async find(token: string): Promise<KeyGrant | null> {
    return (await this.#tokens.catchUp.find(() => this.known(token))) ?? null;
  }

  /** Ends a sign-in for good. */
  async close(token: string): Promise<void> {
    await this.#tokens.close(token);
  }
}
