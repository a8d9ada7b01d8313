import { deepEqual, equal } from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { createRateWatch } from '../../src/web/body-rate.ts';

describe('rate of a body', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
  afterEach(() => mock.timers.reset());

  const watched = () => {
    let slow = 0;
    const watch = createRateWatch({ bytesPerSecond: 1000, windowMs: 10_000 });
    const body = watch.watch(() => (slow += 1));
    return { body, watch, slow: () => slow };
  };
  const seconds = (count: number, each: (second: number) => void = () => undefined): void => {
    for (let second = 0; second < count; second += 1) {
      each(second);
      mock.timers.tick(1000);
    }
  };

  it('lets a body take a window, whatever its size, and calls once', () => {
    const { slow } = watched();
    seconds(9);
    equal(slow(), 0);
    seconds(20);
    equal(slow(), 1);
  });

  it('is the mean over the last window: bursts make up for pauses', () => {
    const { body, slow } = watched();
    seconds(60, (second) => second % 8 === 0 && body.received(10_000));
    equal(slow(), 0);
    // The last burst was four seconds ago.
    seconds(6);
    deepEqual([slow(), (seconds(1), slow())], [0, 1]);
  });

  it('counts a slow trickle as slow', () => {
    const { body, slow } = watched();
    seconds(10, () => body.received(999));
    equal(slow(), 1);
  });

  it('leaves a body alone that has ended, and watches the next', () => {
    const { body, watch, slow } = watched();
    body.end();
    seconds(30);
    equal(slow(), 0);
    let other = 0;
    watch.watch(() => (other += 1));
    seconds(10);
    equal(other, 1);
  });
});
