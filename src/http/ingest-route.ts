import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import { emptyBody } from './body.ts';
import type { Ingestor } from './dependencies.ts';
import type { HttpMetrics } from './metrics.ts';

/** POST /v1/ingest/: messages in, the ids of their instance and session out, once they are stored durably. */
export function registerIngestRoute(
  scope: FastifyInstance,
  ingestor: Ingestor,
  metrics: Pick<HttpMetrics, 'warned'>,
): void {
  scope.post('/ingest', async (request, reply) => {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    if (request.body === undefined) throw emptyBody();
    const accepted = await ingestor.accept({
      projectId: request.projectId,
      body: request.body,
      idempotencyKey,
    });
    reply.header('X-Stream-Position', String(accepted.position));
    const { warnings } = accepted;
    if (warnings.header !== null) {
      reply.header('X-Warnings', warnings.header);
      metrics.warned('unknown-member', warnings.unknownMembers);
      metrics.warned('unknown-role', warnings.unknownRoles);
    }
    return { instanceId: accepted.instanceId, sessionId: accepted.sessionId };
  });
}

/** Printable ASCII, 1 to 255 characters. */
function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x20-\x7e]{1,255}$/.test(header)) return header;
  const message = 'must be 1 to 255 printable ASCII characters';
  throw new AppError('VALIDATION_ERROR', `The Idempotency-Key header ${message}.`, {
    details: [{ path: 'Idempotency-Key', message }],
  });
}
