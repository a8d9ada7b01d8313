/**
 * Applies what an instance means where a query does not say: its time zone, and the sessions that it leaves out.
 *
 * Test: test/web/instance-defaults.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { choiceOf, nameOfChoice, type LeftOut } from '../domain/attributes.ts';
import { UUID_PATTERN } from '../domain/ids.ts';
import { segmentNameOf } from '../query/segments.ts';
import type { InstanceFinder } from './dependencies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes the parameter `timeZone`. */
    hasTimeZone?: boolean;
    /** The route takes the parameters `segment.NAME`. */
    hasSegment?: boolean;
  }
}

type Query = Readonly<Record<string, string | string[]>>;

/** Adds `timeZone` and `segment.NAME!` on every route of the scope that takes them. */
export function registerInstanceDefaults(
  scope: FastifyInstance,
  instances: Pick<InstanceFinder, 'defaultsOf'>,
): void {
  scope.addHook('preHandler', async (request) => {
    const { hasTimeZone = false, hasSegment = false } = request.routeOptions.config;
    if (!hasTimeZone && !hasSegment) return;
    const query = request.query as Query;
    const { instanceId } = query;
    if (typeof instanceId !== 'string' || !UUID_PATTERN.test(instanceId)) return;
    const { timeZone, leaveOut = {} } = await instances.defaultsOf(instanceId.toLowerCase());
    request.query = {
      ...query,
      ...(hasTimeZone && query['timeZone'] === undefined && timeZone !== undefined ? { timeZone } : {}),
      ...(hasSegment ? withoutAsked(leaveOut, query) : {}),
    };
  });
}

/** Returns the parameters for what is left out, but of attributes that the query asks for itself. */
function withoutAsked(leaveOut: LeftOut, query: Query): Record<string, string[]> {
  const asked = new Set([
    query['segmentKey'],
    ...Object.keys(query).flatMap((name) => {
      const segment = segmentNameOf(name);
      return segment === undefined ? [] : [choiceOf(segment, []).name];
    }),
  ]);
  return Object.fromEntries(
    Object.entries(leaveOut).flatMap(([name, values]) =>
      asked.has(name) ? [] : [[`segment.${nameOfChoice({ name, isLeftOut: true })}`, [...values]]],
    ),
  );
}
