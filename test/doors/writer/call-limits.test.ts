import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallLimits } from '../../../src/doors/writer/call-limits.ts';

const MINUTE = 60_000;

describe('limits of calls', () => {
  it('allow so many in any hour', () => {
    const limits = new CallLimits(2);
    limits.called(0);
    equal(limits.waitMs(10 * MINUTE), 0);
    limits.called(10 * MINUTE);
    equal(limits.waitMs(20 * MINUTE), 40 * MINUTE);
    equal(limits.waitMs(60 * MINUTE), 0);
    limits.called(60 * MINUTE);
    equal(limits.waitMs(61 * MINUTE), 9 * MINUTE);
  });

  it('make longer pauses after each failure in a row, up to a quarter of an hour', () => {
    const limits = new CallLimits(100);
    const pauses = [0, 0, 0, 0, 0, 0, 0].map(() => {
      limits.failed(0);
      return limits.waitMs(0) / 1000;
    });
    deepEqual(pauses, [2, 8, 32, 128, 512, 900, 900]);
    limits.succeeded();
    limits.failed(0);
    equal(limits.waitMs(0), 2000);
    equal(limits.waitMs(2000), 0);
  });

  it('make the pause that the endpoint asks for', () => {
    const limits = new CallLimits(100);
    limits.failed(0, 20_000);
    equal(limits.waitMs(0), 20_000);
    limits.failed(0, 1e12);
    equal(limits.waitMs(0), 15 * MINUTE);
  });
});
