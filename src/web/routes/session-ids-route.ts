/**
 * POST /v1/instances/{instanceId}/session-ids/: issues session ids for a caller's own ids.
 *
 * Test: test/web/instances-route.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { externalIdsSchema, ISSUE_SESSION_IDS, TOO_MANY_IDS } from '../../contract/instances.ts';
import { MAX_EXTERNAL_IDS } from '../../domain/limits.ts';
import { checked, invalidRequest } from '../ingest/validation.ts';
import { takeJson, type BodyReader } from '../body.ts';
import type { InstanceRegistry } from '../dependencies.ts';
import { noInstance } from '../instance-access.ts';
import { serve } from '../serve.ts';

/** Size of the most and longest ids, with every character escaped. */
const BODY_BYTES = 4 * 1024 * 1024;

export function registerSessionIdsRoute(
  v1: FastifyInstance,
  instances: Pick<InstanceRegistry, 'issueSessionIds'>,
  bodies: Pick<BodyReader, 'readJson'>,
): void {
  // Its bodies are larger than those of other routes, so it has a scope of its own.
  void v1.register(async (scope) => {
    takeJson(scope, bodies, BODY_BYTES);
    serve(scope, ISSUE_SESSION_IDS, async ({ request, id }) => {
      refuseTooMany(request.body);
      const { externalIds } = checked(externalIdsSchema, request.body);
      const { projectId } = request;
      const sessionIds = await instances.issueSessionIds({ projectId, instanceId: id, externalIds });
      if (sessionIds === null) throw noInstance(id);
      return { sessionIds };
    });
  });
}

/** Checked before the schema, which would list the faults of each id. */
function refuseTooMany(json: unknown): void {
  const ids = typeof json === 'object' && json !== null && 'externalIds' in json ? json.externalIds : null;
  if (!Array.isArray(ids) || ids.length <= MAX_EXTERNAL_IDS) return;
  throw invalidRequest([{ path: 'externalIds', message: TOO_MANY_IDS }]);
}
