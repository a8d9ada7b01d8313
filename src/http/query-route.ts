/** Covered by test/http/app.test.ts. */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import { parseQueryParameters } from '../query/parameters.ts';
import type { InstanceFinder, QueryRunner } from './dependencies.ts';

/** GET /v1/query/: the metrics of one instance's entities. */
export function registerQueryRoute(
  scope: FastifyInstance,
  dependencies: { readonly runner: QueryRunner; readonly instances: InstanceFinder; readonly waitMs: number },
): void {
  const { runner, instances, waitMs } = dependencies;
  scope.get('/query', async (request, reply) => {
    const position = readWaitForPosition(request.headers['x-wait-for-position']);
    const parameters = parseQueryParameters(request.query as Record<string, string | string[]>);
    const { instanceId } = parameters;
    if ((await instances.projectOf(instanceId)) !== request.projectId) {
      throw new AppError('NOT_FOUND', `There is no instance ${instanceId}.`);
    }
    if (position !== null) {
      const reached = await runner.waitFor(instanceId, position, waitMs);
      void reply.header('X-Wait-Result', reached ? 'reached' : 'timeout');
    }
    return runner.run(parameters, request.projectId);
  });
}

/** What ingest answered as `X-Stream-Position`. */
function readWaitForPosition(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  const position = typeof header === 'string' && /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(position)) return position;
  const message = 'must be the X-Stream-Position of an ingest answer';
  throw new AppError('VALIDATION_ERROR', `The X-Wait-For-Position header ${message}.`, {
    details: [{ path: 'X-Wait-For-Position', message }],
  });
}

/**
 * Reads a query string: each name to its value, or to all its values when it is repeated. No name can
 * reach an object's prototype.
 */
export function parseQueryString(text: string): Record<string, string | string[]> {
  const values = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of new URLSearchParams(text)) {
    const known = values[name];
    values[name] = known === undefined ? value : [known, value].flat();
  }
  return values;
}
