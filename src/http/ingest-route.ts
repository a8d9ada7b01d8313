import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { emptyBody } from '../ingest/json.ts';
import type { ReceivedBody } from '../ingest/prepared-request.ts';
import type { BodyReader } from './body.ts';
import type { Ingestor } from './dependencies.ts';
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
    scope.post('/ingest', async (request, reply) => {
      const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
      const received = request.body as ReceivedBody | undefined;
      if (received === undefined) throw emptyBody();
      const body = await ingestor.prepare(received, {
        caller: request.held.caller,
        keyed: idempotencyKey !== undefined,
        abandoned: () => reply.raw.closed,
      });
      bodies.exchange(request.held, body.draft.bytes.length);
      const { projectId } = request;
      const accepted = await ingestor.accept({ projectId, body, idempotencyKey });
      reply.header('X-Stream-Position', String(accepted.position));
      const { warnings } = body;
      if (warnings.header !== null) {
        reply.header('X-Warnings', warnings.header);
        metrics.warned('unknown-member', warnings.unknownMembers);
        metrics.warned('unknown-role', warnings.unknownRoles);
      }
      return { instanceId: accepted.instanceId, sessionId: accepted.sessionId };
    });
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
