/** Covered by test/http/app.test.ts and test/e2e/ingest-rules.test.ts. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Ingestor } from '../ingest/ingestor.ts';
import type { ReceivedBody } from '../ingest/prepared-request.ts';
import type { BodyReader } from './body.ts';
import type { HttpMetrics } from './metrics.ts';

/** POST /v1/ingest/: messages in, the ids of their instance and session out, once they are stored durably. */
export function registerIngestRoute(
  v1: FastifyInstance,
  ingestor: Ingestor,
  bodies: BodyReader,
  metrics: Pick<HttpMetrics, 'warned'>,
): void {
  // A scope of its own: its bodies are large, and are not parsed on the event loop.
  void v1.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
      bodies.read(request.headers, payload, request.held),
    );
    scope.post('/ingest', { config: { scope: 'ingest' } }, async (request, reply) => {
      const { projectId, held } = request;
      const { instanceId, sessionId, position, warnings } = await ingestor.ingest({
        projectId,
        caller: held.caller,
        body: request.body as ReceivedBody | undefined,
        idempotencyKey: request.headers['idempotency-key'],
        abandoned: () => reply.raw.closed,
        onPrepared: (bytes) => bodies.exchange(held, bytes),
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
