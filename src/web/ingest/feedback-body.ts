/**
 * Parses the body of POST /v1/feedback/. Its schema has no transforms, because the OpenAPI document is generated from
 * it.
 *
 * Test: test/web/ingest/feedback-body.test.ts.
 */
import { z } from 'zod';
import {
  BEST_RATING,
  FEEDBACK_VALUES,
  LONGEST_COMMENT,
  MOST_FEEDBACK,
  type Feedback,
} from '../../domain/feedback.ts';
import { MAX_LABEL_BYTES } from '../../domain/limits.ts';
import { parseInstant } from '../../domain/time.ts';
import { givenUuid } from '../../domain/uuid.ts';
import { checked } from './validation.ts';

const INSTANT_RULE = 'must be a UTC ISO 8601 instant that ends in Z, such as 2026-01-31T09:30:00Z';
const RATING_RULE = `must be a whole number from 1 to ${BEST_RATING}`;
const VALUE_RULE = 'must be 1, -1 or 0';

export const feedbackSchema = z
  .strictObject(
    {
      sessionId: givenUuid.describe('The session of the message.'),
      instanceId: givenUuid
        .optional()
        .describe('The instance of the session. Needed where nothing was ingested into the session yet.'),
      at: z
        .string(INSTANT_RULE)
        .refine((text) => parseInstant(text) !== null, INSTANT_RULE)
        .optional()
        .meta({
          format: 'date-time',
          description: 'Event time of the message: its createdAt, as it was ingested.',
        }),
      position: z
        .int('must be a whole number')
        .min(0, 'must be at least 0')
        .optional()
        .describe(
          'Position of the message in the stream, as transcripts have it. Without at and position, it is on the newest ' +
            'message of the assistant.',
        ),
      value: z
        .int(VALUE_RULE)
        .refine((value) => (FEEDBACK_VALUES as readonly number[]).includes(value), VALUE_RULE)
        .meta({
          enum: [...FEEDBACK_VALUES],
          description: '1: good, -1: bad, 0: takes back what its author gave on the message.',
        }),
      rating: z
        .int(RATING_RULE)
        .min(1, RATING_RULE)
        .max(BEST_RATING, RATING_RULE)
        .optional()
        .describe('How good it was, from 1 to 5.'),
      comment: z
        .string('must be a string')
        .min(1, 'must not be empty')
        .max(LONGEST_COMMENT, `must not be longer than ${LONGEST_COMMENT} characters`)
        .optional()
        .describe('What its author wrote. It is kept in the stream.'),
      userId: z
        .string('must be a string')
        .min(1, 'must not be empty')
        .refine(
          (text) => Buffer.byteLength(text) <= MAX_LABEL_BYTES,
          `must not be longer than ${MAX_LABEL_BYTES} bytes`,
        )
        .optional()
        .describe('Who gives it, as in messages. Left out: the end user who started the session.'),
    },
    'must be a JSON object',
  )
  .superRefine(({ at, position }, context) => {
    if (at !== undefined && position !== undefined)
      context.addIssue({ code: 'custom', path: ['position'], message: 'must be left out where at is given' });
  });

const COUNT_RULE = `must hold 1 to ${MOST_FEEDBACK} pieces of feedback`;

/** Several pieces in one request. */
export const feedbackListSchema = z.strictObject({
  feedback: z
    .array(feedbackSchema, 'must be an array of feedback')
    .min(1, COUNT_RULE)
    .max(MOST_FEEDBACK, COUNT_RULE)
    .describe('Stored in this order; nothing is stored if one of them is refused.'),
});

/** A valid piece of feedback: UUIDs in lower case. */
export interface FeedbackBody {
  readonly sessionId: string;
  readonly instanceId: string | undefined;
  readonly feedback: Feedback;
}

/** A valid request. `isList`: it was sent as a list. */
export interface FeedbackRequest {
  readonly pieces: readonly FeedbackBody[];
  readonly isList: boolean;
}

/** Throws AppError VALIDATION_ERROR. */
export function parseFeedback(json: unknown): FeedbackRequest {
  const isList = typeof json === 'object' && json !== null && 'feedback' in json;
  const given = isList ? checked(feedbackListSchema, json).feedback : [checked(feedbackSchema, json)];
  return { pieces: given.map(bodyOf), isList };
}

function bodyOf({
  sessionId,
  instanceId,
  at,
  value,
  position,
  rating,
  comment,
  userId,
}: z.output<typeof feedbackSchema>): FeedbackBody {
  const time = at === undefined ? null : parseInstant(at);
  return {
    sessionId: sessionId.toLowerCase(),
    instanceId: instanceId?.toLowerCase(),
    feedback: {
      value: value as Feedback['value'],
      ...(time === null ? {} : { at: time }),
      ...(position === undefined ? {} : { position }),
      ...(rating === undefined ? {} : { rating }),
      ...(comment === undefined ? {} : { comment }),
      ...(userId === undefined ? {} : { userId }),
    },
  };
}
