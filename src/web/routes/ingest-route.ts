/**
 * POST /v1/ingest/: responds once the messages are stored durably.
 *
 * Test: test/web/app.test.ts, test/e2e/ingest-rules.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { INGEST } from '../../contract/ingest.ts';
import type { Ingestor } from '../ingest/ingestor.ts';
import type { MessageDoor } from '../message-door.ts';
import type { HttpMetrics } from '../metrics.ts';
import { serve } from '../serve.ts';

export function registerIngestRoute(
  v1: FastifyInstance,
  ingestor: Ingestor,
  door: MessageDoor,
  metrics: Pick<HttpMetrics, 'warned'>,
): void {
  void v1.register(async (scope) => {
    door.readBodies(scope);
    serve(scope, INGEST, async ({ request, reply }) => {
      const { instanceId, sessionId, position, warnings } = await ingestor.ingest({
        ...door.requestOf(request, reply),
        idempotencyKey: request.headers['idempotency-key'],
      });
      reply.header('X-Stream-Position', String(position));
      if (warnings.header !== null) {
        reply.header('X-Warnings', warnings.header);
        metrics.warned('unknown-member', warnings.unknownMembers);
        metrics.warned('unknown-role', warnings.unknownRoles);
      }
      return { instanceId, sessionId };
    });
  });
}
