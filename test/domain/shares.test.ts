import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Shares } from '../../src/domain/shares.ts';

describe('shares', () => {
  /** Callers take one at a time, by turns, until nobody gets more. */
  function fill(shares: Shares, callers: readonly string[]): Record<string, number> {
    const held = Object.fromEntries(callers.map((caller) => [caller, 0]));
    for (let gotMore = true; gotMore;) {
      gotMore = false;
      for (const caller of callers) {
        if (!shares.fits(caller, 1)) continue;
        shares.take(caller, 1);
        held[caller] = (held[caller] ?? 0) + 1;
        gotMore = true;
      }
    }
    return held;
  }

  it('give one caller half, and of several each the same, so that there is room for the next', () => {
    deepEqual(fill(new Shares(120), ['a']), { a: 60 });
    deepEqual(fill(new Shares(120), ['a', 'b']), { a: 40, b: 40 });
    deepEqual(fill(new Shares(120), ['a', 'b', 'c']), { a: 30, b: 30, c: 30 });
  });

  it('give a caller who has nothing whatever is free', () => {
    const shares = new Shares(100);
    shares.take('a', 50);
    equal(shares.fits('a', 1), false);
    equal(shares.fits('b', 50), true);
    equal(shares.fits('b', 51), false);
  });

  it('let the only thing grow, be it larger than all', () => {
    const shares = new Shares(100);
    equal(shares.fits('a', 500), true);
    shares.take('a', 80);
    equal(shares.fits('a', 40, 80), true);
    equal(shares.fits('b', 21), false);
    shares.take('b', 10);
    deepEqual([shares.fits('a', 10, 80), shares.fits('a', 11, 80)], [true, false]);
  });

  it('take back what was given', () => {
    const shares = new Shares(100);
    shares.take('a', 50);
    shares.giveBack('a', 50);
    equal(shares.held, 0);
    equal(shares.fits('a', 50), true);
  });
});
