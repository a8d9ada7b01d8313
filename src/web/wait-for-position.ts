/** Covered by test/web/app.test.ts. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { QueryRunner } from './dependencies.ts';

/** Waits for what the X-Wait-For-Position header names, and says in X-Wait-Result whether it is reached. */
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

/** What ingest answered as `X-Stream-Position`. */
function readWaitForPosition(header: string | string[] | undefined): number | null {
  if (header === undefined) return null;
  const position = typeof header === 'string' && /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(position)) return position;
  const message = 'must be the X-Stream-Position of an ingest answer';
  throw new AppError('VALIDATION_ERROR', `The X-Wait-For-Position header ${message}.`, {
    details: [{ path: 'X-Wait-For-Position', message }],
  });
}
