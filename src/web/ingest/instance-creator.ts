/**
 * Creates instances. Requests with the same `idempotencyKey` get the same instance.
 *
 * Test: test/web/instances-route.test.ts.
 */
import type { Turns } from '../../domain/turns.ts';
import type { Instance, Registry } from '../registry/registry.ts';
import { bodyDigest } from './body-digest.ts';
import { claimedId, type IdempotencyStore } from './idempotency.ts';

export interface InstanceCreatorParts {
  readonly registry: Pick<Registry, 'createInstance'>;
  readonly idempotency: IdempotencyStore;
  /** See `createClaimTurns`. */
  readonly turns: Turns;
  /** Microseconds since 1970-01-01 UTC. */
  readonly clock: () => number;
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
