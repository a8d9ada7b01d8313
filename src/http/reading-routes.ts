/** Covered by test/e2e/session-rules.test.ts, why-rules.test.ts,
 * changes-rules.test.ts and overview-rules.test.ts. */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { UUID_PATTERN } from '../domain/ids.ts';
import { invalidRequest } from '../ingest/validation.ts';
import { changesParameterSchemas } from '../query/changes/changes-schema.ts';
import { curationsParameterSchemas } from '../query/curations/curations-schema.ts';
import { overviewParameterSchemas } from '../query/overview/overview-schema.ts';
import { sessionParameterSchemas } from '../query/session-schema.ts';
import { WHY_PATHS, whyParameterSchemas, type WhyPath } from '../query/why/why-schema.ts';
import type { HttpDependencies } from './dependencies.ts';
import { enterInstance, readParameters } from './instance-request.ts';

type Reading = NonNullable<HttpDependencies['query']> & { readonly waitMs: number };

/** The routes that read the views of one instance, besides GET /v1/query/. */
export function registerReadingRoutes(scope: FastifyInstance, reading: Reading): void {
  const { sessions, why, changes, overview, curations } = reading;
  register(scope, reading, '/sessions', sessionParameterSchemas, {
    id: 'sessionId',
    answer: (parameters, id, caller) => sessions.read(id, parameters, caller),
  });
  for (const path of Object.keys(WHY_PATHS) as WhyPath[]) {
    register(scope, reading, `/${path}`, whyParameterSchemas, {
      id: 'id',
      answer: (parameters, id, caller) => why.read(WHY_PATHS[path], id, parameters, caller),
    });
  }
  register(scope, reading, '/overview', overviewParameterSchemas, {
    id: null,
    answer: (parameters, _, caller) => overview.read(parameters, caller),
  });
  register(scope, reading, '/curations', curationsParameterSchemas, {
    id: null,
    answer: (parameters, _, caller) => curations.read(parameters, caller),
  });
  register(scope, reading, '/changes', changesParameterSchemas, {
    id: null,
    answer: (parameters, _, caller) => changes.read(parameters, caller),
  });
}

/** GET `path`, or with an id behind it. */
function register<Schema extends z.ZodType<{ readonly instanceId: string }>>(
  scope: FastifyInstance,
  reading: Reading,
  path: string,
  schema: Schema,
  route: {
    /** The name of the UUID behind the path; null: none. */
    readonly id: string | null;
    readonly answer: (parameters: z.output<Schema>, id: string, caller: string) => Promise<unknown>;
  },
): void {
  const url = route.id === null ? path : `${path}/:${route.id}`;
  const config = { scope: 'query' } as const;
  scope.get<{ Params: Readonly<Record<string, string>> }>(url, { config }, async (request, reply) => {
    const id = route.id === null ? '' : (request.params[route.id] ?? '').toLowerCase();
    if (route.id !== null && !UUID_PATTERN.test(id))
      throw invalidRequest([{ path: route.id, message: 'must be a UUID' }]);
    const parameters = readParameters(schema, request.query);
    await enterInstance(request, reply, parameters.instanceId, reading);
    return route.answer(parameters, id, request.projectId);
  });
}
