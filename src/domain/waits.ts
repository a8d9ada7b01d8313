/**
 * How long a reply was waited for, in steps that can be counted: each a tenth longer than the one before, so that the
 * median of counted waits (the lower of the two in the middle) is right within 5 %. Covered by
 * test/domain/waits.test.ts.
 */

/** Of a message that no reply was waited for with; waits have the steps 1 to LAST_STEP. */
export const NO_WAIT = 0;
export const LAST_STEP = 254;
/** What is shorter was not measured: its times were given out, one a microsecond. */
const SHORTEST_US = 1000;
/** Microseconds at which each step begins; products and no powers, which processors round as they like. */
const STARTS = Float64Array.from({ length: LAST_STEP }, () => 0);
for (let step = 0, start = SHORTEST_US; step < LAST_STEP; step += 1, start *= 1.1) STARTS[step] = start;

/** The step of a wait in microseconds; NO_WAIT below a millisecond. Waits of more than a year have the last step. */
export function waitStep(micros: number): number {
  let [low, high] = [0, LAST_STEP];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (STARTS[middle]! <= micros) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Seconds that stand for a step, as near to its beginning as to its end, to four digits. */
export function secondsOfStep(step: number): number {
  return Number(((STARTS[step - 1]! * 2.2) / 2.1e6).toPrecision(4));
}
