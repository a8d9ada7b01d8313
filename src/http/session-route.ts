/** Covered by test/http/session-route.test.ts. */
import type { FastifyInstance } from 'fastify';
import { UUID_PATTERN } from '../domain/ids.ts';
import { AppError } from '../errors.ts';
import { checked, invalidRequest } from '../ingest/validation.ts';
import { sessionParameterSchemas, type SessionParameters } from '../query/session-schema.ts';
import type { InstanceFinder, QueryRunner, SessionReader } from './dependencies.ts';
import { waitForPosition } from './wait-for-position.ts';

/** GET /v1/sessions/{sessionId}: one conversation, message by message. */
export function registerSessionRoute(
  scope: FastifyInstance,
  dependencies: {
    readonly runner: QueryRunner;
    readonly sessions: SessionReader;
    readonly instances: InstanceFinder;
    readonly waitMs: number;
  },
): void {
  const { sessions, instances } = dependencies;
  scope.get<{ Params: { sessionId: string } }>('/sessions/:sessionId', async (request, reply) => {
    const sessionId = request.params.sessionId.toLowerCase();
    if (!UUID_PATTERN.test(sessionId))
      throw invalidRequest([{ path: 'sessionId', message: 'must be a UUID' }]);
    const parameters = readParameters(request.query as Readonly<Record<string, string | string[]>>);
    const { instanceId } = parameters;
    if ((await instances.projectOf(instanceId)) !== request.projectId) {
      throw new AppError('NOT_FOUND', `There is no instance ${instanceId}.`);
    }
    await waitForPosition(request, reply, instanceId, dependencies);
    return sessions.read(sessionId, parameters, request.projectId);
  });
}

function readParameters(raw: Readonly<Record<string, string | string[]>>): SessionParameters {
  const repeated = Object.keys(raw).filter((parameter) => Array.isArray(raw[parameter]));
  if (repeated.length > 0)
    throw invalidRequest(repeated.map((path) => ({ path, message: 'must be given once' })));
  return checked(sessionParameterSchemas, { ...raw }, 'is not a parameter of this operation');
}
