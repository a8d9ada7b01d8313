/** Covered by test/http/key-scopes.test.ts. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { KEY_SCOPES } from '../domain/key-scopes.ts';
import { UUID_PATTERN } from '../domain/ids.ts';
import { AppError } from '../errors.ts';
import { readParameters } from './instance-request.ts';

/** The answer of GET /v1/key/. */
export const keySchema = z.strictObject({
  keyId: z.string().describe('The name of the key in lists; it tells nothing about the key.'),
  projectId: z
    .string()
    .regex(new RegExp(UUID_PATTERN.source))
    .meta({ format: 'uuid' })
    .describe('The project of the key.'),
  scopes: z
    .array(z.enum(KEY_SCOPES))
    .describe(
      'What the key may do: `ingest`: send messages, make and rename instances; `query`: read everything; ' +
        '`curate`: change topics, clusters and gaps; `erase`: for routes to come.',
    ),
});

/** GET /v1/key/: what the request's own key may do. */
export function registerKeyRoute(scope: FastifyInstance): void {
  scope.get(
    '/key',
    { config: { scope: null } },
    async ({ key, query }): Promise<z.output<typeof keySchema>> => {
      readParameters(z.strictObject({}), query);
      if (key === null) throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
      return { keyId: key.keyId, projectId: key.projectId, scopes: [...key.scopes] };
    },
  );
}
