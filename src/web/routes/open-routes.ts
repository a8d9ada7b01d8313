/**
 * Limits the requests to routes without a key, by address.
 *
 * Test: test/web/open-routes.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { addressOf } from '../address.ts';
import { isUnderV1 } from '../answer-headers.ts';
import { countRequest, notFound } from '../auth.ts';
import type { RateLimiter } from '../rate-limit.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Counter that a route without a key is charged to, by address. Default: 'page'. null: unlimited, because an answer
     * costs no more than a refusal.
     */
    countsAs?: 'page' | 'metrics' | null;
  }
}

/** Charges requests to keyless and unknown routes by address. Unknown routes end here, before a body is read. */
export function limitOpenRoutes(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook('onRequest', async (request, reply) => {
    const { scope, countsAs = 'page' } = request.routeOptions.config;
    // Routes with a key are charged by key.
    if (scope !== undefined || (request.is404 && isUnderV1(request.url))) return;
    if (countsAs !== null) countRequest(limiter, request, reply, `${countsAs} ${addressOf(request)}`);
    if (request.is404) throw notFound(request);
  });
}
