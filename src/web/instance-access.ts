/**
 * Decides which instances a request may use; no other code does.
 *
 * Test: test/web/instance-access.test.ts.
 */
import type { FastifyRequest } from 'fastify';
import type { InstancePlace } from '../contract/route.ts';
import { AppError } from '../errors.ts';
import type { FoundKey } from './dependencies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** As declared by the route. Absent: callers limited to some instances may not use it. */
    instance?: InstancePlace;
  }
}

/** Returns true if the caller may see an instance of its project. */
export function seesInstance({ instances }: Pick<FoundKey, 'instances'>, instanceId: string): boolean {
  return instances === undefined || instances.has(instanceId.toLowerCase());
}

/**
 * Runs before the body is read. Throws AppError FORBIDDEN for a limited caller on a route that does not name its
 * instance.
 */
export function checkSaysInstance({ routeOptions }: FastifyRequest, { instances }: FoundKey): void {
  if (instances === undefined || routeOptions.config.instance !== undefined) return;
  throw new AppError('FORBIDDEN', 'You see some instances only, and this route is not limited to them.');
}

/**
 * Runs after the body is read, before any look-up. Throws AppError NOT_FOUND, as for an unknown instance, if the caller
 * may not see the named one.
 */
export function checkNamedInstance(request: FastifyRequest): void {
  const { key, routeOptions } = request;
  if (key?.instances === undefined) return;
  const named = namedBy(request, routeOptions.config.instance);
  // A request that names no instance is refused by its route.
  for (const id of [named].flat())
    if (typeof id === 'string' && !seesInstance(key, id)) throw noInstance(id.toLowerCase());
}

function namedBy({ query, params, body }: FastifyRequest, place: InstancePlace | undefined): unknown {
  if (place === 'path') return (params as { readonly instanceId?: unknown }).instanceId;
  const values = place === 'body' ? body : place === 'parameters' ? query : null;
  return (values as { readonly instanceId?: unknown } | null | undefined)?.instanceId;
}

export function noInstance(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no instance ${id}.`);
}
