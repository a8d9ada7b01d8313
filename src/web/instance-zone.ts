/**
 * Applies an instance's time zone to queries that name none.
 *
 * Test: test/web/instance-zone.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { UUID_PATTERN } from '../domain/ids.ts';
import type { InstanceFinder } from './dependencies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes the parameter `timeZone`. */
    hasTimeZone?: boolean;
  }
}

type Query = Readonly<Record<string, string | string[]>>;

/** Adds `timeZone` on every route of the scope that takes it. */
export function registerInstanceZone(
  scope: FastifyInstance,
  instances: Pick<InstanceFinder, 'timeZoneOf'>,
): void {
  scope.addHook('preHandler', async (request) => {
    if (request.routeOptions.config.hasTimeZone !== true) return;
    const query = request.query as Query;
    const { instanceId, timeZone } = query;
    if (timeZone !== undefined || typeof instanceId !== 'string' || !UUID_PATTERN.test(instanceId)) return;
    const zone = await instances.timeZoneOf(instanceId.toLowerCase());
    if (zone !== undefined) request.query = { ...query, timeZone: zone };
  });
}
