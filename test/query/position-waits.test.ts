import { deepEqual, equal, rejects } from 'node:assert/strict';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { PositionWaits } from '../../src/query/position-waits.ts';

const LONG = 600_000;
const issued = async (): Promise<boolean> => true;

/** Positions that are reached when somebody says so, and how many are being waited for. */
function pending() {
  const gate = Promise.withResolvers<boolean>();
  const found = {
    waiting: 0,
    reach: () => gate.resolve(true),
    reaches: async (ms: number): Promise<boolean> => {
      if (ms === 0) return false;
      found.waiting += 1;
      return gate.promise;
    },
  };
  return found;
}

/** Until everything that can begin has begun. */
async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await nextRound();
}

describe('waits for a position', () => {
  it('of one caller take a quarter of the places, and as many stand in line; the next is refused', async () => {
    const waits = new PositionWaits({ most: 8, isIssued: issued });
    const greedy = pending();
    const begun = Array.from({ length: 4 }, () => waits.wait('greedy', 9, LONG, greedy.reaches));
    await settled();
    equal(greedy.waiting, 2);
    await rejects(waits.wait('greedy', 9, LONG, greedy.reaches), {
      code: 'SERVICE_UNAVAILABLE',
      retryAfter: 1,
    });
    const others = pending();
    const theirs = ['b', 'c', 'd'].flatMap((caller) =>
      [1, 2].map(() => waits.wait(caller, 9, LONG, others.reaches)),
    );
    await settled();
    equal(others.waiting, 6);
    others.reach();
    greedy.reach();
    deepEqual(
      await Promise.all([...begun, ...theirs]),
      Array.from({ length: 10 }, () => true),
    );
  });

  it('stand in line when all places are taken, refuse nobody else, and look once more at the end', async () => {
    const waits = new PositionWaits({ most: 4, isIssued: issued });
    const greedy = pending();
    const begun = ['a', 'b', 'c', 'd'].map((caller) => waits.wait(caller, 9, LONG, greedy.reaches));
    await settled();
    equal(greedy.waiting, 4);
    let looks = 0;
    const look = async (ms: number): Promise<boolean> => {
      equal(ms, 0);
      looks += 1;
      return looks === 2;
    };
    equal(await waits.wait('late', 9, 1, look), true);
    const next = pending();
    const inLine = waits.wait('late', 9, LONG, next.reaches);
    greedy.reach();
    await Promise.all(begun);
    await settled();
    equal(next.waiting, 1);
    next.reach();
    equal(await inLine, true);
  });

  it('end at once for a position that the stream does not have, and take no place', async () => {
    const waits = new PositionWaits({ most: 4, isIssued: async (position) => position <= 100 });
    const never = pending();
    const far = await Promise.all(
      Array.from({ length: 50 }, () => waits.wait('a', 101, LONG, never.reaches)),
    );
    deepEqual(new Set(far), new Set([false]));
    equal(never.waiting, 0);
    const near = pending();
    const wait = waits.wait('a', 100, LONG, near.reaches);
    await settled();
    near.reach();
    equal(await wait, true);
  });

  it('go on while nobody can say where the stream ends', async () => {
    for (const isIssued of [
      () => Promise.reject(new Error('away')),
      () => new Promise<boolean>(() => undefined),
    ]) {
      const waits = new PositionWaits({ most: 4, isIssued });
      equal(await waits.wait('a', 9, LONG, async (ms) => ms > 0), true);
    }
  });

  it('that need not wait ask nobody and take no place', async () => {
    const waits = new PositionWaits({ most: 1, isIssued: () => Promise.reject(new Error('not asked')) });
    const held = pending();
    const first = waits.wait('a', 9, LONG, held.reaches);
    await settled();
    equal(await waits.wait('a', 1, LONG, async () => true), true);
    held.reach();
    equal(await first, true);
  });
});
