/**
 * GET /v1/key: returns the rights of the request's key.
 *
 * Test: test/web/key-scopes.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { READ_KEY, type keySchema } from '../../contract/instances.ts';
import { callerOf } from '../auth.ts';
import { serve } from '../serve.ts';

/** `drafts`: the service has a writer. */
export function registerKeyRoute(scope: FastifyInstance, drafts: boolean): void {
  serve(scope, READ_KEY, async ({ request }): Promise<z.output<typeof keySchema>> => {
    const key = callerOf(request);
    return { keyId: key.keyId, projectId: key.projectId, scopes: [...key.scopes], drafts };
  });
}
