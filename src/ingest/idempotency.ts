import { createHash } from 'node:crypto';
import { AppError } from '../errors.ts';
import type { StreamConnection } from '../stream/connection.ts';
import { openKeyValue, type KeyValueBucket } from '../stream/key-value.ts';
import type { IngestBody } from './request-body.ts';

/** How long a key is remembered. */
export const IDEMPOTENCY_TTL_MS = 24 * 3600 * 1000;

/** The answer that a completed request got. */
export interface IdempotentAnswer {
  readonly instanceId: string;
  readonly sessionId: string;
  readonly position: number;
}

/** What the first request with a key settled for all that follow. */
export interface IdempotencyClaim {
  /** Decides the ids that this request is given; the same in every retry. */
  readonly seed: string;
  /** Microseconds; retries record the same time. */
  readonly acceptedAt: number;
  /** Absent until the request was stored. */
  readonly answer: IdempotentAnswer | undefined;
  /** Writes the answer down for retries. Failing to is harmless: a retry then publishes the request again. */
  complete(answer: IdempotentAnswer): Promise<void>;
}

/** Remembers (project, key) → body and answer, kept 24 h. */
export interface IdempotencyStore {
  /** The claim of an earlier request; null when the key is new. Throws as `claim`. */
  find(projectId: string, key: string, bodyDigest: string): Promise<IdempotencyClaim | null>;
  /**
   * Claims the key, or returns the claim of whoever was first. Throws AppError CONFLICT when the key was used
   * with another body, SERVICE_UNAVAILABLE when NATS cannot be asked.
   */
  claim(projectId: string, key: string, bodyDigest: string, acceptedAt: number): Promise<IdempotencyClaim>;
}

interface StoredClaim {
  readonly digest: string;
  readonly acceptedAt: number;
  readonly answer?: IdempotentAnswer;
}

const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** Checks the `Idempotency-Key` header. Throws AppError BAD_REQUEST. */
export function checkIdempotencyKey(key: string): void {
  if (!PRINTABLE.test(key)) {
    throw new AppError(
      'BAD_REQUEST',
      'The Idempotency-Key header must be 1 to 255 printable ASCII characters.',
    );
  }
}

/** SHA-256 (hex) of what a body means: the order of members does not matter. */
export function bodyDigest(body: IngestBody): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(body)))
    .digest('hex');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Opens the store in the key-value bucket `idempotency`. */
export async function openIdempotencyStore(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<IdempotencyStore> {
  const bucket = await openKeyValue(connection, 'idempotency', { ...options, ttlMs: IDEMPOTENCY_TTL_MS });

  const find: IdempotencyStore['find'] = async (projectId, key, digest) => {
    const name = nameOf(projectId, key);
    const entry = await asked(() => bucket.get(name));
    if (entry === null) return null;
    const stored = JSON.parse(entry.value) as StoredClaim;
    if (stored.digest !== digest) {
      throw new AppError(
        'CONFLICT',
        'The Idempotency-Key was used with another body. Use a new key for a new request.',
      );
    }
    return claimFrom(bucket, name, stored, entry.revision);
  };

  return {
    find,
    claim: async (projectId, key, digest, acceptedAt) => {
      const name = nameOf(projectId, key);
      const stored: StoredClaim = { digest, acceptedAt };
      const revision = await asked(() => bucket.create(name, JSON.stringify(stored)));
      if (revision !== null) return claimFrom(bucket, name, stored, revision);
      const first = await find(projectId, key, digest);
      if (first === null) {
        throw new AppError('SERVICE_UNAVAILABLE', 'The Idempotency-Key expired meanwhile. Try again.', {
          retryAfter: 1,
        });
      }
      return first;
    },
  };
}

function claimFrom(
  bucket: KeyValueBucket,
  name: string,
  stored: StoredClaim,
  revision: number,
): IdempotencyClaim {
  return {
    // The time is part of it: the same key after a day is another request.
    seed: `${name}:${stored.digest}:${stored.acceptedAt}`,
    acceptedAt: stored.acceptedAt,
    answer: stored.answer,
    complete: async (answer) => {
      const value: StoredClaim = { digest: stored.digest, acceptedAt: stored.acceptedAt, answer };
      await bucket.update(name, JSON.stringify(value), revision).catch(() => undefined);
    },
  };
}

function nameOf(projectId: string, key: string): string {
  return `${projectId}.${createHash('sha256').update(key).digest('hex')}`;
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new AppError('SERVICE_UNAVAILABLE', 'The Idempotency-Key cannot be checked now. Try again.', {
      retryAfter: 1,
      cause: error,
    });
  }
}
