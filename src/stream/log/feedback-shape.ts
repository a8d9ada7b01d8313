/**
 * Validates the shape of feedback in a record.
 *
 * Test: test/stream/log/codec.test.ts.
 */
import { BEST_RATING, FEEDBACK_VALUES, LONGEST_COMMENT } from '../../domain/feedback.ts';

/** Masking may lengthen a comment: a placeholder is longer than a short value. */
const LONGEST_STORED = 8 * LONGEST_COMMENT;

export function isFeedback(feedback: unknown): boolean {
  if (typeof feedback !== 'object' || feedback === null || Array.isArray(feedback)) return false;
  const { value, at, position, rating, comment, userId } = feedback as Readonly<Record<string, unknown>>;
  return (
    (FEEDBACK_VALUES as readonly unknown[]).includes(value) &&
    (at === undefined || Number.isSafeInteger(at)) &&
    (position === undefined || (isWhole(position) && position >= 0)) &&
    (rating === undefined || (isWhole(rating) && rating >= 1 && rating <= BEST_RATING)) &&
    (comment === undefined || (typeof comment === 'string' && comment.length <= LONGEST_STORED)) &&
    (userId === undefined || typeof userId === 'string')
  );
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
