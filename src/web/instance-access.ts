/** Which instances a request may name: the one place that decides it. Covered by test/web/instance-access.test.ts. */
import type { FastifyRequest } from 'fastify';
import type { InstancePlace } from '../contract/route.ts';
import { AppError } from '../errors.ts';
import type { FoundKey } from './dependencies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** As the route declares it. Absent: whoever sees some instances only may not use the route. */
    instance?: InstancePlace;
  }
}

/** Whether an instance of the caller's project is one that the caller sees. */
export function seesInstance({ instances }: Pick<FoundKey, 'instances'>, instanceId: string): boolean {
  return instances === undefined || instances.has(instanceId.toLowerCase());
}

/** Before the body is read. Throws AppError FORBIDDEN where the route does not say which instance it is about. */
export function checkSaysInstance({ routeOptions }: FastifyRequest, { instances }: FoundKey): void {
  if (instances === undefined || routeOptions.config.instance !== undefined) return;
  throw new AppError('FORBIDDEN', 'You see some instances only, and this route is not limited to them.');
}

/**
 * After the body is read, before anything is looked up. Throws AppError NOT_FOUND, as for an instance that does not
 * exist, where the caller does not see the one that the request names.
 */
export function checkNamedInstance(request: FastifyRequest): void {
  const { key, routeOptions } = request;
  if (key?.instances === undefined) return;
  const named = namedBy(request, routeOptions.config.instance);
  // Whatever names no instance is refused by the route itself.
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
