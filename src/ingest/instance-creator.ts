import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Instance, Registry } from '../registry/registry.ts';
import { bodyDigest } from './body-digest.ts';
import type { IdempotencyClaim, IdempotencyStore } from './idempotency.ts';

export interface InstanceCreatorParts {
  readonly registry: Pick<Registry, 'createInstance'>;
  readonly idempotency: IdempotencyStore;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
}

export interface InstanceRequest {
  /** The project of the request's key. */
  readonly projectId: string;
  readonly name?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Creates an instance; for the same `idempotencyKey` it is the same each time. */
export type InstanceCreator = (request: InstanceRequest) => Promise<Instance>;

/**
 * Covered by test/http/instances-route.test.ts. What it makes throws AppError CONFLICT for a key that was used with
 * another body, and as IdempotencyStore and Registry do.
 */
export function createInstanceCreator(parts: InstanceCreatorParts): InstanceCreator {
  const { registry, idempotency, clock } = parts;
  return async ({ projectId, name, idempotencyKey }) => {
    if (idempotencyKey === undefined) return registry.createInstance({ projectId, name });
    const claim = await idempotency.claim(projectId, idempotencyKey, bodyDigest({ name }), clock());
    return registry.createInstance({ projectId, name, id: claimedInstanceId(claim) });
  };
}

/** A UUIDv7 of the claim's time and seed. */
export function claimedInstanceId({ seed, acceptedAt }: IdempotencyClaim): string {
  const random = createHash('sha256').update(`instance:${seed}`).digest().subarray(0, 16);
  return v7({ msecs: Math.floor(acceptedAt / 1000), seq: random.readUInt32BE(12), random });
}
