/** Covered by test/http/key-scopes.test.ts. */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { READ_KEY, type keySchema } from '../contract/instances.ts';
import { AppError } from '../errors.ts';
import { serve } from './serve.ts';

/** What the request's own key may do. */
export function registerKeyRoute(scope: FastifyInstance): void {
  serve(scope, READ_KEY, async ({ request: { key } }): Promise<z.output<typeof keySchema>> => {
    if (key === null) throw new AppError('MISSING_API_KEY', 'The x-api-key header is required.');
    return { keyId: key.keyId, projectId: key.projectId, scopes: [...key.scopes] };
  });
}
