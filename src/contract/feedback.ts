/**
 * The route by which end users' feedback comes in.
 *
 * Test: test/web/docs.test.ts, test/e2e/feedback-rules.test.ts.
 */
import { z } from 'zod';
import { uuid } from '../domain/uuid.ts';
import { feedbackListSchema, feedbackSchema } from '../web/ingest/feedback-body.ts';
import { declare, json } from './route.ts';

const given = z.strictObject({
  instanceId: uuid.describe('The instance of the session.'),
  sessionId: uuid.describe('The session.'),
});

export const GIVE_FEEDBACK = declare({
  method: 'POST',
  path: '/feedback',
  operationId: 'giveFeedback',
  summary: 'Give feedback on a message',
  description:
    'A thumb of an end user on a message, before or after the message itself, or a list of them. Later feedback of the ' +
    'same author on the same message takes the place of the earlier one. Answers once all of it is stored durably.',
  tag: 'Ingest',
  scope: 'ingest',
  takesMessages: true,
  headers: ['Idempotency-Key'],
  body: {
    required: true,
    content: json('Feedback', z.union([feedbackSchema, feedbackListSchema]), {
      sessionId: '0c5a1f62-2f7d-4c0a-8f8e-6a3f9d1b2c44',
      at: '2026-01-31T09:30:00Z',
      value: 1,
    }),
  },
  answer: {
    description: 'Stored.',
    headers: ['X-Stream-Position'],
    content: json(
      'FeedbackResponse',
      z.union([
        given,
        z.strictObject({ feedback: z.array(given).describe('Of a list: of each piece, in its order.') }),
      ]),
    ),
  },
  fails: [404, 409, 413],
});
