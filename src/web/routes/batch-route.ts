/**
 * POST /v1/ingest/batch/: ingests a request on each line and answers with an outcome on each line.
 *
 * Test: test/web/batch-route.test.ts.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { INGEST_BATCH, LINES, type BatchLine } from '../../contract/ingest.ts';
import { mapInPieces } from '../../domain/give-way.ts';
import { ERROR_CODES } from '../../errors.ts';
import type { LineOutcome } from '../ingest/batch-ingestor.ts';
import type { Ingestor } from '../ingest/ingestor.ts';
import { invalidHeader } from '../ingest/validation.ts';
import { isOurFault } from '../auth.ts';
import { envelopeOf } from '../error-handler.ts';
import type { MessageDoor } from '../message-door.ts';
import type { HttpMetrics } from '../metrics.ts';
import { serve } from '../serve.ts';

export function registerBatchRoute(
  v1: FastifyInstance,
  ingestor: Pick<Ingestor, 'ingestBatch'>,
  door: MessageDoor,
  metrics: Pick<HttpMetrics, 'warned'>,
): void {
  void v1.register(async (scope) => {
    door.readBodies(scope, LINES);
    serve(scope, INGEST_BATCH, async ({ request, reply }) => {
      refuseKey(request);
      const outcomes = await ingestor.ingestBatch(door.requestOf(request, reply));
      const read = outcomes.reduce((sum, { messages }) => sum + messages, 0);
      // Budget that one of its messages was charged.
      const each = read === 0 ? 0 : request.counted / read;
      let position = 0;
      let refused = 0;
      for (const outcome of outcomes) {
        if ('refusal' in outcome) {
          refused += 1;
          if (isOurFault(ERROR_CODES[outcome.refusal.code])) door.giveBack(request, outcome.messages * each);
        } else {
          position = Math.max(position, outcome.accepted.position);
          metrics.warned('unknown-member', outcome.warnings.unknownMembers);
          metrics.warned('unknown-role', outcome.warnings.unknownRoles);
        }
      }
      if (refused < outcomes.length) reply.header('X-Stream-Position', String(position));
      reply.header('X-Refused-Lines', String(refused));
      reply.type(LINES[0]);
      const lines = await mapInPieces(outcomes, (outcome) => `${JSON.stringify(lineOf(outcome))}\n`);
      return lines.join('');
    });
  });
}

/** A single key cannot identify several requests. */
function refuseKey({ headers }: FastifyRequest): void {
  if (headers['idempotency-key'] === undefined) return;
  throw invalidHeader('Idempotency-Key', 'is not accepted here: give each line its own idempotencyKey');
}

function lineOf(outcome: LineOutcome): BatchLine {
  if ('refusal' in outcome) {
    const { line, refusal } = outcome;
    const { retryAfter } = refusal;
    return {
      line,
      status: ERROR_CODES[refusal.code],
      ...envelopeOf(refusal),
      ...(retryAfter === undefined ? {} : { retryAfter: Math.ceil(retryAfter) }),
    };
  }
  const { line, accepted, warnings } = outcome;
  const { instanceId, sessionId, position } = accepted;
  return {
    line,
    status: 200,
    instanceId,
    sessionId,
    position,
    ...(warnings.header === null ? {} : { warnings: warnings.header }),
  };
}
