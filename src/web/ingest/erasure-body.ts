/**
 * Parses the body of POST /v1/erasures/.
 *
 * Test: test/web/erasure-routes.test.ts.
 */
import { z } from 'zod';
import type { ErasedKind } from '../../domain/erasures.ts';
import { MAX_LABEL_BYTES } from '../../domain/limits.ts';
import { givenUuid } from '../../domain/uuid.ts';
import { line, tidy } from './line-text.ts';
import { checked } from './validation.ts';

/** Length of a reason, UTF-16 units. */
const LONGEST_REASON = 500;

/** A valid request: UUIDs in lower case, texts as they are stored. */
export interface ErasureRequest {
  readonly instanceId: string;
  readonly kind: ErasedKind;
  /** Id of the session or instance, `userId` of the end user as records hold it, or the positions joined by commas. */
  readonly name: string;
  /** Positions of messages, ascending, without duplicates; empty for other kinds. */
  readonly positions: readonly number[];
  /** Null without a reason. */
  readonly reason: string | null;
}

/** An end user by the `userId` of their messages. */
export const givenEndUser = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .refine(
    (text) => Buffer.byteLength(text) <= MAX_LABEL_BYTES,
    `must be at most ${MAX_LABEL_BYTES} bytes long`,
  );

const TARGETS = ['sessionId', 'externalId', 'messages', 'everything'] as const;
/** Limit of messages of one erasure. */
export const MOST_ERASED_MESSAGES = 1000;

export const newErasureSchema = z
  .strictObject(
    {
      instanceId: givenUuid.describe('The instance in which it is erased.'),
      sessionId: givenUuid
        .optional()
        .describe('The session to erase; this, externalId, messages or everything is required.'),
      externalId: givenEndUser
        .optional()
        .describe('The end user to erase: the userId of their messages, to the letter.'),
      messages: z
        .array(z.int('must be a whole number').min(1, 'must be a position of a message'), 'must be an array')
        .min(1, 'must not be empty')
        .max(MOST_ERASED_MESSAGES, `must hold at most ${MOST_ERASED_MESSAGES} positions`)
        .optional()
        .describe(
          'Single messages to erase, by position as in transcripts. What was found in others because of them goes, too.',
        ),
      everything: z.literal(true, 'must be true').optional().describe('The whole instance.'),
      reason: line(LONGEST_REASON)
        .optional()
        .describe(
          'Why, for people: it is kept for ever, so it should name nobody. White space is collapsed.',
        ),
    },
    'must be a JSON object',
  )
  .superRefine((body, context) => {
    const [first, ...others] = TARGETS.filter((target) => body[target] !== undefined);
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (first === undefined) refuse('sessionId', 'is required, or externalId, messages or everything');
    for (const other of others) refuse(other, `must not stand beside ${first}`);
  });

/** Throws AppError VALIDATION_ERROR. */
export function parseErasure(json: unknown): ErasureRequest {
  const body = checked(newErasureSchema, json);
  const instanceId = body.instanceId.toLowerCase();
  const reason = tidy(body.reason ?? '');
  const rest = { instanceId, positions: [], reason: reason === '' ? null : reason };
  if (body.sessionId !== undefined) return { ...rest, kind: 'SESSION', name: body.sessionId.toLowerCase() };
  // Normalized as POST /v1/ingest/ stores it.
  if (body.externalId !== undefined)
    return { ...rest, kind: 'END_USER', name: body.externalId.toWellFormed() };
  if (body.messages !== undefined) {
    const positions = [...new Set(body.messages)].sort((a, b) => a - b);
    return { ...rest, kind: 'MESSAGES', name: positions.join(), positions };
  }
  return { ...rest, kind: 'INSTANCE', name: instanceId };
}
