/**
 * Creates instances. Requests with the same `idempotencyKey` get the same instance.
 *
 * Test: test/web/instances-route.test.ts.
 */
import type { Instance, Registry } from '../registry/registry.ts';
import { bodyDigest } from './body-digest.ts';
import { claimedId, type Settling } from './idempotency.ts';

export interface InstanceCreatorParts extends Settling {
  readonly registry: Pick<Registry, 'createInstance'>;
}

export interface InstanceRequest {
  /** The project of the request's key. */
  readonly projectId: string;
  readonly name?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export type InstanceCreator = (request: InstanceRequest) => Promise<Instance>;

/**
 * The creator throws AppError CONFLICT for a key that was used with another body, and the errors of IdempotencyStore
 * and Registry.
 */
export function createInstanceCreator(parts: InstanceCreatorParts): InstanceCreator {
  const { registry, idempotency, turns, clock } = parts;
  return ({ projectId, name, idempotencyKey }) =>
    turns.run(projectId, async () => {
      if (idempotencyKey === undefined) return registry.createInstance({ projectId, name });
      const claim = await idempotency.claim(projectId, idempotencyKey, bodyDigest({ name }), clock());
      return registry.createInstance({ projectId, name, id: claimedId('instance', claim) });
    });
}
