/**
 * Feedback that an end user gives on a message: a thumb, a rating, a comment. It is a record of the stream, and what a
 * message shows follows from all feedback that the stream holds (views/feedback.sql).
 *
 * Test: test/view-laws.test.ts, test/e2e/feedback-rules.test.ts.
 */

/** 1: good; -1: bad; 0: takes the author's earlier feedback on the message back. */
export const FEEDBACK_VALUES = [1, -1, 0] as const;
export type FeedbackValue = (typeof FEEDBACK_VALUES)[number];

/** Limit of a rating; the least is 1. */
export const BEST_RATING = 5;
/** In UTF-16 units. */
export const LONGEST_COMMENT = 4000;
/** Limit of one request. */
export const MOST_FEEDBACK = 100;

/**
 * Without `at` and `position`, it is on the assistant's newest message of the session before it in the stream.
 */
export interface Feedback {
  readonly value: FeedbackValue;
  /** Event time of the message, microseconds since 1970-01-01 UTC. */
  readonly at?: number;
  /** Stream position of the message. */
  readonly position?: number;
  /** 1 to 5. */
  readonly rating?: number;
  readonly comment?: string;
  /** Whose feedback it is, as in messages; left out: of the end user who started the session. */
  readonly userId?: string;
}

/** Where feedback stands in the stream: the position of `PlacedFeedback`, and the place of its request in the entry. */
export type FeedbackPlace = Pick<PlacedFeedback, 'position' | 'place'>;

/** Feedback as the views take it. */
export interface PlacedFeedback {
  /** Position in the stream of the next message of its entry, and place of its request in the entry: its order. */
  readonly position: number;
  readonly place: number;
  readonly instance: number;
  readonly instanceId: string;
  readonly sessionId: string;
  /** UUID of the end user; null: whoever started the session. */
  readonly author: string | null;
  readonly value: FeedbackValue;
  /** Microseconds since 1970-01-01 UTC, as `givenAt`. */
  readonly at: number | null;
  /** Position of the message that it names; null: none. */
  readonly target: number | null;
  readonly rating: number | null;
  readonly givenAt: number;
}
