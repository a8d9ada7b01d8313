import { digestOf, isRawKey, keyIdOf, newRawKey, type KeyEnvironment } from './api-keys.ts';
import { byCreation, change, type GuardedBucket } from './guarded-bucket.ts';
import { KeyUse } from './key-use.ts';

/** What a request may do that shows a valid key. */
export interface KeyGrant {
  readonly keyId: string;
  readonly projectId: string;
  readonly env: KeyEnvironment;
}

export interface ApiKey extends KeyGrant {
  /** What its maker wrote on it. */
  readonly label: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

/** A key as listed. */
export interface ListedKey extends ApiKey {
  /** ISO 8601, UTC, exact to about a minute; null when it was never used. */
  readonly lastUsedAt: string | null;
}

export interface NewKey {
  readonly projectId: string;
  readonly env: KeyEnvironment;
  readonly label?: string | undefined;
}

interface StoredKey {
  readonly projectId: string;
  readonly env: KeyEnvironment;
  readonly label?: string;
  readonly createdAt: string;
  readonly revokedAt?: string;
}

/** The keys that this process knows: `key.<digest>` of the bucket, and `used.<digest>` → when it was last used. */
export class Keys {
  readonly #bucket: GuardedBucket;
  readonly #now: () => Date;
  readonly #known = new Map<string, ApiKey>();
  readonly #use: KeyUse;

  constructor(bucket: GuardedBucket, now: () => Date) {
    this.#bucket = bucket;
    this.#now = now;
    this.#use = new KeyUse({ now, write: (digest, at) => bucket.put(`used.${digest}`, at) });
  }

  clear(): void {
    this.#known.clear();
  }

  remember(digest: string, value: string | null): void {
    // Revoked is for ever: an older state that the watch tells late must not bring a key back.
    if (value === null) this.#known.delete(digest);
    else if (typeof this.#known.get(digest)?.revokedAt !== 'string')
      this.#known.set(digest, keyFrom(digest, value));
  }

  rememberUse(digest: string, at: string | null): void {
    if (at !== null) this.#use.remember(digest, at);
  }

  async find(rawKey: string): Promise<KeyGrant | null> {
    if (!isRawKey(rawKey)) return null;
    const digest = digestOf(rawKey);
    const key = this.#known.get(digest) ?? (await this.#ask(digest));
    if (key === null || key.revokedAt !== null) return null;
    this.#use.note(digest);
    return { keyId: key.keyId, projectId: key.projectId, env: key.env };
  }

  async create(options: NewKey): Promise<{ readonly rawKey: string; readonly key: ApiKey }> {
    const rawKey = newRawKey(options.env);
    return { rawKey, key: await this.store(rawKey, options) };
  }

  async store(rawKey: string, { projectId, env, label }: NewKey): Promise<ApiKey> {
    const stored: StoredKey = {
      projectId,
      env,
      ...(label === undefined ? {} : { label }),
      createdAt: this.#now().toISOString(),
    };
    const digest = digestOf(rawKey);
    const value = JSON.stringify(stored);
    await this.#bucket.create(`key.${digest}`, value);
    this.remember(digest, value);
    return keyFrom(digest, value);
  }

  list(): ListedKey[] {
    return [...this.#known]
      .map(([digest, key]) => ({ ...key, lastUsedAt: this.#use.lastUsedAt(digest) }))
      .sort(byCreation((key) => key.keyId));
  }

  async revoke(keyId: string): Promise<boolean> {
    const digest = [...this.#known.keys()].find((candidate) => keyIdOf(candidate) === keyId);
    if (digest === undefined) return false;
    let found = false;
    const revoked = await change(this.#bucket, `key.${digest}`, ({ value }) => {
      found = true;
      const stored = JSON.parse(value) as StoredKey;
      if (stored.revokedAt !== undefined) return null;
      return JSON.stringify({ ...stored, revokedAt: this.#now().toISOString() });
    });
    if (revoked !== null) this.remember(digest, revoked.value);
    return found;
  }

  /** Writes what is not written yet of keys' last uses. */
  async close(): Promise<void> {
    await this.#use.close();
  }

  async #ask(digest: string): Promise<ApiKey | null> {
    const entry = await this.#bucket.get(`key.${digest}`);
    return entry === null ? null : keyFrom(digest, entry.value);
  }
}

function keyFrom(digest: string, value: string): ApiKey {
  const stored = JSON.parse(value) as StoredKey;
  return {
    keyId: keyIdOf(digest),
    projectId: stored.projectId,
    env: stored.env,
    label: stored.label ?? null,
    createdAt: stored.createdAt,
    revokedAt: stored.revokedAt ?? null,
  };
}
