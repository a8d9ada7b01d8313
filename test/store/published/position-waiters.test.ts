import { describe, it } from 'node:test';
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { PositionWaiters } from '../../../src/store/published/position-waiters.ts';

describe('waiters for a position', () => {
  it('are told when it is reached, each of its own, and share the looks', async () => {
    let position = 0;
    let looks = 0;
    const waiters = new PositionWaiters(async () => {
      looks += 1;
      position += 1;
      return () => position;
    });
    const order: number[] = [];
    const waits = Array.from({ length: 300 }, async (_, index) => {
      const wanted = 1 + (index % 3);
      equal(await waiters.waitFor(wanted, 60_000), true);
      order.push(wanted);
    });
    await Promise.all(waits);
    deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    equal(looks, 3);
  });

  it('are told when their time is over, and nobody looks for nobody', async () => {
    let looks = 0;
    const waiters = new PositionWaiters(async () => {
      looks += 1;
      return () => 7;
    });
    deepEqual(await Promise.all([waiters.waitFor(8, 0), waiters.waitFor(7, 0), waiters.waitFor(9, 5)]), [
      false,
      true,
      false,
    ]);
    const before = looks;
    equal(await waiters.waitFor(8, 0), false);
    equal(looks, before + 1);
  });

  it('wait for what is behind of their own instance only', async () => {
    const waiters = new PositionWaiters(() =>
      Promise.resolve((instanceId?: string) => (instanceId === 'behind' ? 3 : 9)),
    );
    deepEqual(
      await Promise.all([
        waiters.waitFor(9, 0, 'other'),
        waiters.waitFor(4, 0, 'behind'),
        waiters.waitFor(3, 0, 'behind'),
      ]),
      [true, false, true],
    );
  });

  it('hear of a fault, and the next are looked for again', async () => {
    let broken = true;
    const waiters = new PositionWaiters(async () => {
      if (broken) throw new Error('unreadable');
      return () => 1;
    });
    const both = [waiters.waitFor(1, 60_000), waiters.waitFor(2, 60_000)];
    for (const wait of both) await rejects(wait, /unreadable/);
    broken = false;
    equal(await waiters.waitFor(1, 60_000), true);
  });
});
