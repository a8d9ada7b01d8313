/** Covered by test/web/ingest/acceptor.test.ts. */
import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { AppError } from '../../errors.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue } from '../../stream/kv/key-value.ts';

/** How long a key holds. */
export const IDEMPOTENCY_TTL_MS = 24 * 3600 * 1000;

/** What the first request with a key settled for all that follow. */
export interface IdempotencyClaim {
  /** Decides the ids that this request is given; the same in every retry. */
  readonly seed: string;
  /** Microseconds; retries record the same time. */
  readonly acceptedAt: number;
}

/**
 * Keeps (project, key) → body for 24 h. What decides the ids is settled by one write before the request
 * is stored, so that a retry needs no record of the answer: it gets the same ids, and stores the same request
 * again, which the worker drops by its request id.
 */
export interface IdempotencyStore {
  /**
   * Claims the key, or returns the claim of whoever was first. Throws AppError CONFLICT when the key was used
   * with another body, SERVICE_UNAVAILABLE when NATS cannot be asked.
   */
  claim(projectId: string, key: string, bodyDigest: string, acceptedAt: number): Promise<IdempotencyClaim>;
  /** The claim of whoever was first; null when nobody was. Throws as `claim`. */
  find(projectId: string, key: string, bodyDigest: string): Promise<IdempotencyClaim | null>;
}

/** A UUIDv7 of the claim's time and seed, another for each kind of thing. */
export function claimedId(kind: string, { seed, acceptedAt }: IdempotencyClaim): string {
  const random = createHash('sha256').update(`${kind}:${seed}`).digest().subarray(0, 16);
  return v7({ msecs: Math.floor(acceptedAt / 1000), seq: random.readUInt32BE(12), random });
}

interface StoredClaim {
  readonly digest: string;
  readonly acceptedAt: number;
}

/** Opens the store in the key-value bucket `idempotency`. */
export async function openIdempotencyStore(
  connection: StreamConnection,
  options: { readonly replicas?: number } = {},
): Promise<IdempotencyStore> {
  const bucket = await openKeyValue(connection, 'idempotency', { ...options, ttlMs: IDEMPOTENCY_TTL_MS });

  const firstClaim = (
    name: string,
    digest: string,
    { value }: { readonly value: string },
  ): IdempotencyClaim => {
    const first = JSON.parse(value) as StoredClaim;
    if (first.digest !== digest) throw otherBody();
    return claimFrom(name, first);
  };

  return {
    find: async (projectId, key, digest) => {
      const name = nameOf(projectId, key);
      const entry = await asked(() => bucket.get(name));
      return entry === null ? null : firstClaim(name, digest, entry);
    },
    claim: async (projectId, key, digest, acceptedAt) => {
      const name = nameOf(projectId, key);
      const mine: StoredClaim = { digest, acceptedAt };
      if ((await asked(() => bucket.create(name, JSON.stringify(mine)))) !== null)
        return claimFrom(name, mine);
      const entry = await asked(() => bucket.get(name));
      if (entry === null) {
        throw new AppError('SERVICE_UNAVAILABLE', 'The Idempotency-Key expired meanwhile. Try again.', {
          retryAfter: 1,
        });
      }
      return firstClaim(name, digest, entry);
    },
  };
}

/** The answer to a key that was used with another body. */
export function otherBody(): AppError {
  return new AppError(
    'CONFLICT',
    'The Idempotency-Key was used with another body. Use a new key for a new request.',
  );
}

// The time is part of the seed: the same key after a day is another request.
function claimFrom(name: string, { digest, acceptedAt }: StoredClaim): IdempotencyClaim {
  return { seed: `${name}:${digest}:${acceptedAt}`, acceptedAt };
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
