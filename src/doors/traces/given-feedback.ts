/**
 * Reads what people gave as feedback: thumbs and ratings, as tables, traces and evaluations write them. Keeps the
 * invariant that a value which may mean two things is none: in a table, a 0 is bad to some and nothing to others.
 *
 * Test: test/doors/traces/given-feedback.test.ts.
 */
import { BEST_RATING } from '../../domain/feedback.ts';

/** Feedback on one message. */
export interface GivenFeedback {
  readonly value: 1 | -1;
  /** 1 to 5. */
  readonly rating?: number;
  /** Left out: the end user who started the conversation. */
  readonly userId?: string | undefined;
}

/** Reason for feedback that is left out. */
export const UNREAD_FEEDBACK = 'feedback that is no thumb and no rating from 1 to 5';

/** Ratings from here on are good; as many at the other end are bad. */
const GOOD_RATING = 4;

const UP = ['up', 'thumbsup', 'thumbup', '👍', '+', 'true', 'positive', 'good', 'like', 'liked', 'upvote'];
const DOWN = [
  'down',
  'thumbsdown',
  'thumbdown',
  '👎',
  '-',
  'false',
  'negative',
  'bad',
  'dislike',
  'disliked',
  'downvote',
];
const THUMBS: ReadonlyMap<string, 1 | -1> = new Map([
  ...UP.map((word) => [word, 1] as const),
  ...DOWN.map((word) => [word, -1] as const),
]);

/** Names of scores that end users give, without case, blanks and punctuation. No evaluator is called so. */
const USER_FEEDBACK: ReadonlySet<string> = new Set([
  'userfeedback',
  'userscore',
  'userthumbs',
  'uservote',
  'enduserfeedback',
  'customerfeedback',
  'thumbs',
  'thumb',
  'thumbsup',
  'thumbsupdown',
  'thumbsfeedback',
]);

/**
 * Reads a score of a trace; null unless an end user gave it, by its name, and it is a thumb. A score of 0 is bad, as
 * tools for traces write thumbs.
 */
export function scoreOf(name: string, value: unknown): GivenFeedback | null {
  if (!USER_FEEDBACK.has(name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''))) return null;
  const thumb = numberOf(value) === 0 ? -1 : thumbOf(value);
  return thumb === null ? null : { value: thumb };
}

/** Returns true if nothing was given. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** Returns 1 or -1 for a thumb as people and programs write it (up, 👍, 1, true, positive …); null: no thumb. */
export function thumbOf(value: unknown): 1 | -1 | null {
  if (typeof value === 'boolean') return value ? 1 : -1;
  const number = numberOf(value);
  if (number !== null) return number === 1 || number === -1 ? number : null;
  if (typeof value !== 'string') return null;
  // Emoji have skin tones and marks of presentation.
  const plain = value
    .toLowerCase()
    .replace(/[\p{Emoji_Modifier}\u{FE0F}\s]/gu, '')
    .replace(/(?<=\p{L})[_-](?=\p{L})/gu, '');
  return THUMBS.get(plain) ?? null;
}

/** Returns a rating from 1 to 5; null: none. */
export function ratingOf(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && Number.isInteger(number) && number >= 1 && number <= BEST_RATING ? number : null;
}

/**
 * Joins a thumb and a rating of one message. The thumb counts; a rating alone is good from 4, bad up to 2, and between
 * them nothing: null, as without either. Undefined: one is there and cannot be read.
 */
export function feedbackIn(thumb: unknown, rating: unknown): GivenFeedback | null | undefined {
  const value = isNothing(thumb) ? null : thumbOf(thumb);
  const stars = isNothing(rating) ? null : ratingOf(rating);
  // A thumb counts, whatever stands beside it.
  if (value === null && (!isNothing(thumb) || (stars === null && !isNothing(rating)))) return undefined;
  const counted = value ?? (stars === null ? null : directionOf(stars));
  return counted === null ? null : { value: counted, ...(stars === null ? {} : { rating: stars }) };
}

function directionOf(rating: number): 1 | -1 | null {
  if (rating >= GOOD_RATING) return 1;
  return rating <= BEST_RATING + 1 - GOOD_RATING ? -1 : null;
}

function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && /^\s*[+-]?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null;
}
