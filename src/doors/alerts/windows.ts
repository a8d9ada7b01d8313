/**
 * Which windows an evaluation looks at: hours, days and weeks of the time zone of an alert. Times are microseconds since
 * 1970-01-01 UTC. Covered by test/doors/alerts/windows.test.ts.
 */
import { localBucketAt, localBuckets, localBucketsEarlier } from '../../domain/local-time.ts';
import type { Window } from './rule.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export const HOUR = 3_600_000_000;
export const DAY = 24 * HOUR;

/** So long after its end a window still hears of what comes late. What comes later pages nobody. */
const GRACE = 10 * 60 * 1_000_000;

/** How many windows back a worker looks that was away. */
const MOST_BACK: Readonly<Record<Window, number>> = { HOUR: 48, DAY: 8, WEEK: 2 };

export function windowAt(window: Window, zone: string, at: number): Span {
  return localBucketAt(window, zone, at);
}

/**
 * The windows that were open, or over for no longer than the grace, at some time from `since` to `until`, oldest
 * first. They follow from what the stream stored when, and not from when it was looked at.
 */
export function windowsBetween(window: Window, zone: string, since: number, until: number): Span[] {
  const oldest = localBucketsEarlier(window, zone, until, MOST_BACK[window]);
  const windows: Span[] = [];
  for (let at = Math.max(oldest, since - GRACE); at <= until; at = windows.at(-1)?.end ?? Infinity)
    windows.push(windowAt(window, zone, at));
  return windows;
}

/** What a window is compared with: the same windows before it, so many of them. */
const BEFORE: Readonly<Record<Window, { readonly windows: number; readonly fewest: number }>> = {
  // The last seven days; four weeks; eight weeks.
  HOUR: { windows: 168, fewest: 24 },
  DAY: { windows: 28, fewest: 7 },
  WEEK: { windows: 8, fewest: 3 },
};

/**
 * The time before a window that it is compared with, and how many windows it holds. `firstAt`: the first conversation
 * in it; what lies before it was no time without conversations, but time before the service. Null: too short.
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
  const start = firstAt <= earliest ? earliest : windowAt(window, zone, firstAt).start;
  // Where clocks change by half an hour, the seven days may hold an hour more.
  const windows = localBuckets(window, zone, { start, end: span.start }, 2 * most)?.length ?? 0;
  return windows < fewest ? null : { start, end: span.start, windows };
}
