/** Covered by test/http/instance-zone.test.ts. */
import type { FastifyInstance } from 'fastify';
import { UUID_PATTERN } from '../domain/ids.ts';
import type { InstanceFinder } from './dependencies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** It takes the parameter `timeZone`. */
    hasTimeZone?: boolean;
  }
}

type Query = Readonly<Record<string, string | string[]>>;

/** A question without a time zone means that of its instance. */
export async function inZoneOfInstance(
  query: Query,
  instances: Pick<InstanceFinder, 'timeZoneOf'>,
): Promise<Query> {
  const { instanceId, timeZone } = query;
  if (timeZone !== undefined || typeof instanceId !== 'string' || !UUID_PATTERN.test(instanceId))
    return query;
  const zone = await instances.timeZoneOf(instanceId.toLowerCase());
  return zone === undefined ? query : { ...query, timeZone: zone };
}

/** The same for every route of a scope that takes a time zone. */
export function registerInstanceZone(
  scope: FastifyInstance,
  instances: Pick<InstanceFinder, 'timeZoneOf'>,
): void {
  scope.addHook('preHandler', async (request) => {
    if (request.routeOptions.config.hasTimeZone === true)
      request.query = await inZoneOfInstance(request.query as Query, instances);
  });
}
