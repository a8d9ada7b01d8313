/** When a message is sent again. Covered by test/doors/alerts/retries.test.ts. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses after the first attempt, the second, …: three days in all. */
const PAUSES = [
  ...[5, 30].map((seconds) => seconds * SECOND),
  ...[2, 10, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8, 12, 20, 24].map((hours) => hours * HOUR),
];

/** Attempts of which each failed, until a message is given up. */
export const MOST_ATTEMPTS = PAUSES.length + 1;

/** A receiver may ask for a longer pause, but not for one without end. */
const LONGEST_PAUSE = 24 * HOUR;
/** So much of a pause is by chance, so that what failed together does not come back together. */
const SPREAD = 0.2;

/**
 * The pause before the next attempt, milliseconds; null: there is none. `attempts`: those that have failed; `chance`: 0
 * to 1.
 */
export function pauseAfter(attempts: number, retryAfterMs: number | null, chance: number): number | null {
  const pause = PAUSES[attempts - 1];
  if (pause === undefined) return null;
  const spread = pause * (1 + SPREAD * chance);
  return Math.round(Math.max(spread, Math.min(retryAfterMs ?? 0, LONGEST_PAUSE)));
}
