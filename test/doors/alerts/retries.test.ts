import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOST_ATTEMPTS, pauseAfter } from '../../../src/doors/alerts/retries.ts';

const HOUR = 3_600_000;

describe('pauses between attempts', () => {
  it('grow, and end after three days', () => {
    const pauses = Array.from({ length: MOST_ATTEMPTS - 1 }, (_, index) => pauseAfter(index + 1, null, 0));
    const known = pauses.filter((pause) => pause !== null);
    equal(known.length, pauses.length);
    deepEqual(
      known,
      known.toSorted((a, b) => a - b),
    );
    equal(known[0], 5000);
    const all = known.reduce((sum, pause) => sum + pause, 0);
    ok(all >= 71 * HOUR && all <= 74 * HOUR, `${all / HOUR} hours`);
    equal(pauseAfter(MOST_ATTEMPTS, null, 0), null);
  });

  it('are as long as the receiver asks for, up to a day', () => {
    equal(pauseAfter(1, 60_000, 0), 60_000);
    equal(pauseAfter(1, 1000, 0), 5000);
    equal(pauseAfter(1, 1000 * HOUR, 0), 24 * HOUR);
    equal(pauseAfter(MOST_ATTEMPTS, 60_000, 0), null);
  });

  it('are not the same for what failed together', () => {
    equal(pauseAfter(1, null, 1), 6000);
  });
});
