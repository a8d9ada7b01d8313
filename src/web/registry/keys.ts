/**
 * The API keys of the registry. Revocation is final: a late older state never restores a key.
 *
 * Test: test/web/registry/registry.test.ts.
 */
import { LRUCache } from 'lru-cache';
import { inOrder, isKeyScope, KEY_SCOPES, type KeyScope } from '../../domain/key-scopes.ts';
import { digestOf, isRawKey, keyIdOf, newRawKey, type KeyEnvironment } from './api-keys.ts';
import { CatchUp } from './catch-up.ts';
import { byCreation, change, type GuardedBucket } from '../../stream/ledgers/guarded-bucket.ts';
import { KeyUse } from './key-use.ts';

/** Rights of a request with a valid key. */
export interface KeyGrant {
  readonly keyId: string;
  readonly projectId: string;
  readonly env: KeyEnvironment;
  /** In the order of KEY_SCOPES. */
  readonly scopes: readonly KeyScope[];
}

export interface ApiKey extends KeyGrant {
  /** Its creator's note. */
  readonly label: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

export interface ListedKey extends ApiKey {
  /** ISO 8601, UTC, exact to about a minute; null for a key that was never used. */
  readonly lastUsedAt: string | null;
}

export interface NewKey {
  readonly projectId: string;
  readonly env: KeyEnvironment;
  readonly label?: string | undefined;
  /** Default: all. */
  readonly scopes?: readonly KeyScope[] | undefined;
}

interface StoredKey {
  readonly projectId: string;
  readonly env: KeyEnvironment;
  readonly label?: string;
  /** Missing: all scopes, including those of later versions. */
  readonly scopes?: readonly string[];
  readonly createdAt: string;
  readonly revokedAt?: string;
}

const UNKNOWN_KEPT = 10_000;
const UNKNOWN_MS = 1000;

/** Keys of the bucket: `key.<digest>`, and `used.<digest>` → time of the last use. */
export class Keys {
  readonly #bucket: GuardedBucket;
  readonly #now: () => Date;
  readonly #known = new Map<string, ApiKey>();
  /** Digests that belonged to no key a moment ago. */
  readonly #unknown = new LRUCache<string, true>({ max: UNKNOWN_KEPT, ttl: UNKNOWN_MS });
  readonly #catchUp: CatchUp;
  readonly #use: KeyUse;

  constructor(bucket: GuardedBucket, now: () => Date) {
    this.#bucket = bucket;
    this.#catchUp = new CatchUp({ newest: () => bucket.newestRevision('key.*') });
    this.#now = now;
    this.#use = new KeyUse({ now, write: (digest, at) => bucket.put(`used.${digest}`, at) });
  }

  clear(): void {
    this.#known.clear();
    this.#unknown.clear();
    this.#catchUp.reset();
  }

  watched(digest: string, value: string | null, revision: number): void {
    this.#take(digest, value);
    this.#catchUp.delivered(revision);
  }

  #take(digest: string, value: string | null): void {
    // An older state that arrives late must not restore a revoked key.
    if (value === null) this.#known.delete(digest);
    else if (typeof this.#known.get(digest)?.revokedAt !== 'string')
      this.#known.set(digest, keyFrom(digest, value));
  }

  watchedUse(digest: string, at: string | null): void {
    if (at !== null) this.#use.written(digest, at);
  }

  /** Looks a key up in memory; undefined if it may be too new to be there. */
  known(rawKey: string): KeyGrant | null | undefined {
    if (!isRawKey(rawKey)) return null;
    const digest = digestOf(rawKey);
    return this.grantOf(digest) ?? (this.#unknown.has(digest) ? null : undefined);
  }

  /** Looks a key up in memory by its digest; undefined if it may be too new to be there. */
  grantOf(digest: string): KeyGrant | null | undefined {
    const key = this.#known.get(digest);
    if (key === undefined) return undefined;
    if (key.revokedAt !== null) return null;
    this.#use.note(digest);
    return { keyId: key.keyId, projectId: key.projectId, env: key.env, scopes: key.scopes };
  }

  /** Finds a key's digest by its id. */
  digestOf(keyId: string): string | undefined {
    return [...this.#known.keys()].find((digest) => keyIdOf(digest) === keyId);
  }

  /** Returns the rights of a key; null if it is unknown, malformed or revoked. */
  async find(rawKey: string): Promise<KeyGrant | null> {
    const found = await this.#catchUp.find(() => this.known(rawKey));
    if (found === undefined) this.#unknown.set(digestOf(rawKey), true);
    return found ?? null;
  }

  async create(options: NewKey): Promise<{ readonly rawKey: string; readonly key: ApiKey }> {
    const rawKey = newRawKey(options.env);
    return { rawKey, key: await this.store(rawKey, options) };
  }

  async store(rawKey: string, { projectId, env, label, scopes }: NewKey): Promise<ApiKey> {
    const stored: StoredKey = {
      projectId,
      env,
      ...(label === undefined ? {} : { label }),
      ...(scopes === undefined ? {} : { scopes: inOrder(scopes) }),
      createdAt: this.#now().toISOString(),
    };
    const digest = digestOf(rawKey);
    const value = JSON.stringify(stored);
    await this.#bucket.create(`key.${digest}`, value);
    this.#take(digest, value);
    return keyFrom(digest, value);
  }

  /** Oldest first, revoked keys included. */
  list(): ListedKey[] {
    return [...this.#known]
      .map(([digest, key]) => ({ ...key, lastUsedAt: this.#use.lastUsedAt(digest) }))
      .sort(byCreation((key) => key.keyId));
  }

  /** Revokes a key for good; false for an unknown key. */
  async revoke(keyId: string): Promise<boolean> {
    const digest = this.digestOf(keyId);
    if (digest === undefined) return false;
    let found = false;
    const revoked = await change(this.#bucket, `key.${digest}`, ({ value }) => {
      found = true;
      const stored = JSON.parse(value) as StoredKey;
      if (stored.revokedAt !== undefined) return null;
      return JSON.stringify({ ...stored, revokedAt: this.#now().toISOString() });
    });
    if (revoked !== null) this.#take(digest, revoked.value);
    return found;
  }

  /** Writes the pending last uses. */
  async close(): Promise<void> {
    await this.#use.close();
  }
}

function keyFrom(digest: string, value: string): ApiKey {
  const stored = JSON.parse(value) as StoredKey;
  return {
    keyId: keyIdOf(digest),
    projectId: stored.projectId,
    env: stored.env,
    scopes: stored.scopes === undefined ? KEY_SCOPES : inOrder(stored.scopes.filter(isKeyScope)),
    label: stored.label ?? null,
    createdAt: stored.createdAt,
    revokedAt: stored.revokedAt ?? null,
  };
}
