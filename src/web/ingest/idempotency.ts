/**
 * Keeps idempotency keys for 24 h. One write before the request is stored fixes its ids, so a retry needs no stored
 * answer: it gets the same ids and stores the same request again, which the worker drops by its request id.
 *
 * Test: test/web/ingest/acceptor.test.ts.
 */
import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Turns } from '../../domain/turns.ts';
import { AppError, unavailable } from '../../errors.ts';
import type { StreamConnection } from '../../stream/connection.ts';
import { openKeyValue } from '../../stream/kv/key-value.ts';

/** Lifetime of a key. */
export const IDEMPOTENCY_TTL_MS = 24 * 3600 * 1000;

/** The ids and time that the first request with a key fixed for its retries. */
export interface IdempotencyClaim {
  /** Determines the ids of the request; the same in every retry. */
  readonly seed: string;
  /** Microseconds since 1970-01-01 UTC; the same in every retry. */
  readonly acceptedAt: number;
}

/** Maps (project, key) to the body's digest. */
export interface IdempotencyStore {
  /**
   * Claims the key, or returns the first request's claim. Throws AppError CONFLICT if the key was used with another
   * body, SERVICE_UNAVAILABLE while NATS is unreachable.
   */
  claim(projectId: string, key: string, bodyDigest: string, acceptedAt: number): Promise<IdempotencyClaim>;
  /** Returns the first request's claim, or null. Throws as `claim`. */
  find(projectId: string, key: string, bodyDigest: string): Promise<IdempotencyClaim | null>;
}

/** What fixes the ids and time of a request before it is stored. */
export interface Settling {
  readonly idempotency: IdempotencyStore;
  /** Turns for the writes that precede storing: see `createClaimTurns`. */
  readonly turns: Turns;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
}

/** Returns a UUIDv7 from the claim's time and seed; another one for each `kind`. */
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
      if (entry === null) throw unavailable('The Idempotency-Key expired meanwhile. Try again.');
      return firstClaim(name, digest, entry);
    },
  };
}

export function otherBody(): AppError {
  return new AppError(
    'CONFLICT',
    'The Idempotency-Key was used with another body. Use a new key for a new request.',
  );
}

// The seed includes the time: after a day, the same key means another request.
function claimFrom(name: string, { digest, acceptedAt }: StoredClaim): IdempotencyClaim {
  return { seed: `${name}:${digest}:${acceptedAt}`, acceptedAt };
}

function nameOf(projectId: string, key: string): string {
  return `${projectId}.${createHash('sha256').update(key).digest('hex')}`;
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unavailable('The Idempotency-Key cannot be checked now. Try again.', { cause });
  }
}
