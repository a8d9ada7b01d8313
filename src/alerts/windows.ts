/**
 * Which windows an evaluation looks at. Times are microseconds since 1970-01-01 UTC. Covered by
 * test/alerts/windows.test.ts.
 */
import { bucketStart, nextBucketStart } from '../domain/time.ts';
import type { Window } from './rule.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export const HOUR = 3_600_000_000;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;

/** So long after its end a window still hears of what comes late. What comes later pages nobody. */
const GRACE = 10 * 60 * 1_000_000;

/** How many windows back a worker looks that was away. */
const MOST_BACK: Readonly<Record<Window, number>> = { HOUR: 48, DAY: 8, WEEK: 2 };

const LENGTH: Readonly<Record<Window, number>> = { HOUR, DAY, WEEK };

export function windowAt(window: Window, at: number): Span {
  const start = bucketStart(window, at);
  return { start, end: nextBucketStart(window, start + 1) };
}

/**
 * The windows that were open, or over for no longer than the grace, at some time from `since` to `until`, oldest
 * first. They follow from what the stream stored when, and not from when it was looked at.
 */
export function windowsBetween(window: Window, since: number, until: number): Span[] {
  const oldest = bucketStart(window, until) - MOST_BACK[window] * LENGTH[window];
  const first = Math.max(oldest, bucketStart(window, since - GRACE));
  const windows: Span[] = [];
  for (let at = first; at <= until; at += LENGTH[window]) windows.push(windowAt(window, at));
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
  { start }: Span,
  firstAt: number,
): (Span & { readonly windows: number }) | null {
  const { windows, fewest } = BEFORE[window];
  const length = LENGTH[window];
  const from = Math.max(start - windows * length, bucketStart(window, firstAt));
  const held = Math.round((start - from) / length);
  return held < fewest ? null : { start: from, end: start, windows: held };
}

/** The whole of that time, whenever the first conversation was. */
export function mostBefore(window: Window, { start }: Span): Span & { readonly windows: number } {
  const { windows } = BEFORE[window];
  return { start: start - windows * LENGTH[window], end: start, windows };
}
