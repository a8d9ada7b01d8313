import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NO_WAIT, secondsOfStep, waitStep } from '../../src/domain/waits.ts';

describe('the steps of waits', () => {
  it('stand for a wait within 5 %', () => {
    fc.assert(
      fc.property(fc.double({ min: 1000, max: 3e13, noNaN: true }), (micros) => {
        const seconds = secondsOfStep(waitStep(micros));
        ok(Math.abs(seconds - micros / 1e6) <= (0.05 * micros) / 1e6 + 1e-9, `${micros} µs: ${seconds} s`);
      }),
    );
  });

  it('ascend with the wait', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e16, noNaN: true }),
        fc.double({ min: 0, max: 1e16, noNaN: true }),
        (a, b) => {
          ok(waitStep(Math.min(a, b)) <= waitStep(Math.max(a, b)));
        },
      ),
    );
  });

  it('know no wait below a millisecond, nor one before its beginning', () => {
    equal(waitStep(999), NO_WAIT);
    equal(waitStep(0), NO_WAIT);
    equal(waitStep(-5e6), NO_WAIT);
    equal(waitStep(1000), 1);
    equal(waitStep(Infinity), 254);
  });
});
