/**
 * Lets a request wait until the views contain a stream position.
 *
 * Test: test/web/app.test.ts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { QueryRunner } from './dependencies.ts';
import { invalidHeader } from './ingest/validation.ts';

/** Waits for the position in X-Wait-For-Position; reports in X-Wait-Result if it was reached. */
export async function waitForPosition(
  request: FastifyRequest,
  reply: FastifyReply,
  instanceId: string,
  { runner, waitMs }: { readonly runner: QueryRunner; readonly waitMs: number },
): Promise<void> {
  const position = readWaitForPosition(request.headers['x-wait-for-position']);
  if (position === null) return;
  const reached = await runner.waitFor(instanceId, position, waitMs, request.projectId);
  void reply.header('X-Wait-Result', reached ? 'reached' : 'timeout');
}

/** Parses a value of `X-Stream-Position`; null without the header. Throws AppError VALIDATION_ERROR. */
function readWaitForPosition(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  const position = typeof header === 'string' && /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(position)) return position;
  throw invalidHeader('X-Wait-For-Position', 'must be the X-Stream-Position of an ingest answer');
}
