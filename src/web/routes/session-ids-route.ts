/** Covered by test/web/instances-route.test.ts. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { externalIdsSchema, ISSUE_SESSION_IDS, TOO_MANY_IDS } from '../../contract/instances.ts';
import { MAX_EXTERNAL_IDS } from '../../domain/limits.ts';
import { checked, invalidRequest } from '../ingest/validation.ts';
import type { BodyReader } from '../body.ts';
import type { InstanceRegistry } from '../dependencies.ts';
import { noInstance } from '../instance-access.ts';
import { serve } from '../serve.ts';

/** As many ids as there may be, each as long as it may be, with every character escaped. */
const BODY_BYTES = 4 * 1024 * 1024;

/** POST /v1/instances/{instanceId}/session-ids/: session ids of ours for ids of the caller's own. */
export function registerSessionIdsRoute(
  v1: FastifyInstance,
  instances: Pick<InstanceRegistry, 'issueSessionIds'>,
  bodies: Pick<BodyReader, 'readJson'>,
): void {
  // A scope of its own: its bodies are larger than those of other routes.
  void v1.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
      bodies.readJson(request.headers, payload, request.held, BODY_BYTES),
    );
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

/** Looked at first: there is no sense in naming the faults of each. */
function refuseTooMany(json: unknown): void {
  const ids = typeof json === 'object' && json !== null && 'externalIds' in json ? json.externalIds : null;
  if (!Array.isArray(ids) || ids.length <= MAX_EXTERNAL_IDS) return;
  throw invalidRequest([{ path: 'externalIds', message: TOO_MANY_IDS }]);
}
