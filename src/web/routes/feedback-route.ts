/**
 * POST /v1/feedback/: responds once the feedback is stored durably.
 *
 * Test: test/e2e/feedback-rules.test.ts.
 */
import type { FastifyInstance } from 'fastify';
import { GIVE_FEEDBACK } from '../../contract/feedback.ts';
import { countMessages } from '../auth.ts';
import { takeJson, type BodyReader } from '../body.ts';
import { parseFeedback } from '../ingest/feedback-body.ts';
import type { FeedbackTaker } from '../ingest/feedback-taker.ts';
import { readIdempotencyKey } from '../ingest/idempotency-key.ts';
import type { MessageBudget } from '../rate-limit.ts';
import { serve } from '../serve.ts';

/** Size of as many long comments as one request may hold in the Latin script, and of one in any script, as JSON. */
const FEEDBACK_BODY_BYTES = 1024 * 1024;

export function registerFeedbackRoute(
  v1: FastifyInstance,
  taker: FeedbackTaker,
  bodies: Pick<BodyReader, 'readJson'>,
  budget: MessageBudget,
): void {
  void v1.register(async (scope) => {
    takeJson(scope, bodies, FEEDBACK_BODY_BYTES);
    serve(scope, GIVE_FEEDBACK, async ({ request, reply }) => {
      const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
      const body = parseFeedback(request.body ?? {});
      countMessages(budget, request, reply, body.pieces.length);
      const { projectId } = request;
      const { pieces, position } = await taker.take({ projectId, body, idempotencyKey });
      reply.header('X-Stream-Position', String(position));
      return body.isList ? { feedback: pieces } : pieces[0]!;
    });
  });
}
