/**
 * Windows for evaluation: hours, days and weeks in the time zone of an alert. Times are microseconds since 1970.
 *
 * Test: test/doors/alerts/windows.test.ts.
 */
import { localBucketAt, localBuckets, localBucketsEarlier } from '../../domain/local-time.ts';
import type { Window } from './rule.ts';

/** A time range; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Time after its end in which a window is still evaluated. Later entries fire no alert. */
const GRACE = 10 * 60 * 1_000_000;

/** A topic or value stays new for this many weeks after its first conversation. */
export const NEW_FOR_WEEKS = 4;
/** No topic is news in these first weeks of an instance, and no value in those of its attribute, when all are new. */
export const LEARNING_WEEKS = 1;

/** Maximum number of windows that a worker catches up. */
const MOST_BACK: Readonly<Record<Window, number>> = { HOUR: 48, DAY: 8, WEEK: 2 };

/**
 * Returns the windows that were open, or over for at most the grace, at some time from `since` to `until`, oldest
 * first. They depend on the time of storage only, not on the time of evaluation.
 */
export function windowsBetween(window: Window, zone: string, since: number, until: number): Span[] {
  const oldest = localBucketsEarlier(window, zone, until, MOST_BACK[window]);
  const windows: Span[] = [];
  for (let at = Math.max(oldest, since - GRACE); at <= until; at = windows.at(-1)?.end ?? Infinity)
    windows.push(localBucketAt(window, zone, at));
  return windows;
}

/** Number of earlier windows that a window is compared with, and the fewest for a comparison. */
const BEFORE: Readonly<Record<Window, { readonly windows: number; readonly fewest: number }>> = {
  // Seven days, four weeks, eight weeks.
  HOUR: { windows: 168, fewest: 24 },
  DAY: { windows: 28, fewest: 7 },
  WEEK: { windows: 8, fewest: 3 },
};

/**
 * Returns the time that a window is compared with, and its number of windows; null if it is too short. `firstAt` is the
 * first conversation in it: the time before that does not count as time without conversations.
 */
export function timeBefore(
  window: Window,
  zone: string,
  span: Span,
  firstAt = -Infinity,
): (Span & { readonly windows: number }) | null {
  if (firstAt >= span.start) return null;
  const { windows: most, fewest } = BEFORE[window];
  const earliest = localBucketsEarlier(window, zone, span.start, most);
  const start = firstAt <= earliest ? earliest : localBucketAt(window, zone, firstAt).start;
  // Where clocks change by half an hour, seven days may contain an hour more.
  const windows = localBuckets(window, zone, { start, end: span.start }, 2 * most)?.length ?? 0;
  return windows < fewest ? null : { start, end: span.start, windows };
}
