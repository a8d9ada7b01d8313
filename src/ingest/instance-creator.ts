import type { Instance, Registry } from '../registry/registry.ts';
import { bodyDigest } from './body-digest.ts';
import { claimedId, type IdempotencyStore } from './idempotency.ts';

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
    return registry.createInstance({ projectId, name, id: claimedId('instance', claim) });
  };
}
