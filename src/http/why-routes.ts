/** Covered by test/e2e/why-rules.test.ts. */
import type { FastifyInstance } from 'fastify';
import { UUID_PATTERN } from '../domain/ids.ts';
import { AppError } from '../errors.ts';
import { checked, invalidRequest } from '../ingest/validation.ts';
import { WHY_PATHS, whyParameterSchemas, type WhyParameters, type WhyPath } from '../query/why/why-schema.ts';
import type { InstanceFinder, QueryRunner, WhyReader } from './dependencies.ts';
import { waitForPosition } from './wait-for-position.ts';

/** GET /v1/topics/{id} and its like: what is behind the numbers of one entity. */
export function registerWhyRoutes(
  scope: FastifyInstance,
  dependencies: {
    readonly runner: QueryRunner;
    readonly why: WhyReader;
    readonly instances: InstanceFinder;
    readonly waitMs: number;
  },
): void {
  const { why, instances } = dependencies;
  for (const path of Object.keys(WHY_PATHS) as WhyPath[]) {
    scope.get<{ Params: { id: string } }>(`/${path}/:id`, async (request, reply) => {
      const id = request.params.id.toLowerCase();
      if (!UUID_PATTERN.test(id)) throw invalidRequest([{ path: 'id', message: 'must be a UUID' }]);
      const parameters = readParameters(request.query as Readonly<Record<string, string | string[]>>);
      const { instanceId } = parameters;
      if ((await instances.projectOf(instanceId)) !== request.projectId) {
        throw new AppError('NOT_FOUND', `There is no instance ${instanceId}.`);
      }
      await waitForPosition(request, reply, instanceId, dependencies);
      return why.read(WHY_PATHS[path], id, parameters, request.projectId);
    });
  }
}

function readParameters(raw: Readonly<Record<string, string | string[]>>): WhyParameters {
  const repeated = Object.keys(raw).filter((parameter) => Array.isArray(raw[parameter]));
  if (repeated.length > 0)
    throw invalidRequest(repeated.map((path) => ({ path, message: 'must be given once' })));
  return checked(whyParameterSchemas, { ...raw }, 'is not a parameter of this operation');
}
