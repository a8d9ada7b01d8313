/**
 * Groups waits for a reply into countable steps. Each step is a tenth longer than the one before, so the median of
 * counted waits (the lower of the two in the middle) is right within 5 %.
 *
 * Test: test/domain/waits.test.ts.
 */

/** Step of a message without a wait; waits have steps 1 to LAST_STEP. */
export const NO_WAIT = 0;
export const LAST_STEP = 254;
/** Shorter waits come from assigned times, which are a microsecond apart. */
const SHORTEST_US = 1000;
/** Start of each step, microseconds. Built by multiplication, because processors round powers differently. */
const STARTS = Float64Array.from({ length: LAST_STEP }, () => 0);
for (let step = 0, start = SHORTEST_US; step < LAST_STEP; step += 1, start *= 1.1) STARTS[step] = start;

/** Returns the step of a wait in microseconds: NO_WAIT below a millisecond, LAST_STEP above a year. */
export function waitStep(micros: number): number {
  let [low, high] = [0, LAST_STEP];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (STARTS[middle]! <= micros) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the seconds that stand for a step: its middle, to four digits. */
export function secondsOfStep(step: number): number {
  return Number(((STARTS[step - 1]! * 2.2) / 2.1e6).toPrecision(4));
}
