/**
 * Decides when a message is sent again.
 *
 * Test: test/doors/alerts/retries.test.ts.
 */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after the first, second, … attempt: about three days in all. */
const PAUSES = [
  ...[5, 30].map((seconds) => seconds * SECOND),
  ...[2, 10, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8, 12, 20, 24].map((hours) => hours * HOUR),
];

/** Failed attempts after which a message is given up. */
export const MOST_ATTEMPTS = PAUSES.length + 1;

/** Limit on the pause that a receiver asks for. */
const LONGEST_PAUSE = 24 * HOUR;
/** Random part of a pause, so that messages that failed together are not retried together. */
const SPREAD = 0.2;

/**
 * Returns the pause before the next attempt in milliseconds, or null after the last. `attempts`: failed ones so far;
 * `chance`: 0 to 1.
 */
export function pauseAfter(attempts: number, retryAfterMs: number | null, chance: number): number | null {
  const pause = PAUSES[attempts - 1];
  if (pause === undefined) return null;
  const spread = pause * (1 + SPREAD * chance);
  return Math.round(Math.max(spread, Math.min(retryAfterMs ?? 0, LONGEST_PAUSE)));
}
