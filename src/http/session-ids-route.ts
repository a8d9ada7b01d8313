/** Covered by test/http/instances-route.test.ts. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { UUID_PATTERN } from '../domain/ids.ts';
import { lengthOf, MAX_EXTERNAL_ID_LENGTH, MAX_EXTERNAL_IDS } from '../domain/limits.ts';
import { checked, invalidRequest } from '../ingest/validation.ts';
import type { BodyReader } from './body.ts';
import type { InstanceRegistry } from './dependencies.ts';
import { noInstance, readId } from './instance-request.ts';

/** As many ids as there may be, each as long as it may be, with every character escaped. */
const BODY_BYTES = 4 * 1024 * 1024;

const TOO_MANY = `must hold at most ${MAX_EXTERNAL_IDS} ids`;

const externalId = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .refine(
    (text) => lengthOf(text) <= MAX_EXTERNAL_ID_LENGTH,
    `must be at most ${MAX_EXTERNAL_ID_LENGTH} characters long`,
  )
  .refine((text) => text.isWellFormed(), 'must not contain an unpaired surrogate')
  .meta({ maxLength: MAX_EXTERNAL_ID_LENGTH });

/** POST /v1/instances/{instanceId}/session-ids/: its body. */
export const externalIdsSchema = z.strictObject(
  {
    externalIds: z
      .array(externalId, 'must be an array')
      .min(1, 'must not be empty')
      .max(MAX_EXTERNAL_IDS, TOO_MANY)
      .describe('What you call the sessions.'),
  },
  'must be a JSON object',
);

export const sessionIdsSchema = z.strictObject({
  sessionIds: z
    .array(z.string().regex(UUID_PATTERN).meta({ format: 'uuid' }))
    .describe('In the order of the externalIds.'),
});

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
    const path = '/instances/:instanceId/session-ids';
    const options = { config: { scope: 'ingest' } } as const;
    scope.post<{ Params: { instanceId: string } }>(path, options, async (request) => {
      const instanceId = readId('instanceId', request.params.instanceId);
      refuseTooMany(request.body);
      const { externalIds } = checked(externalIdsSchema, request.body);
      const { projectId } = request;
      const sessionIds = await instances.issueSessionIds({ projectId, instanceId, externalIds });
      if (sessionIds === null) throw noInstance(instanceId);
      return { sessionIds };
    });
  });
}

/** Looked at first: there is no sense in naming the faults of each. */
function refuseTooMany(json: unknown): void {
  const ids = typeof json === 'object' && json !== null && 'externalIds' in json ? json.externalIds : null;
  if (!Array.isArray(ids) || ids.length <= MAX_EXTERNAL_IDS) return;
  throw invalidRequest([{ path: 'externalIds', message: TOO_MANY }]);
}
