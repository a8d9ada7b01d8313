import { deepEqual, equal } from 'node:assert/strict';
import { it } from 'node:test';
import { FairQueue } from '../../../src/store/published/fair-queue.ts';

it('gives to callers by turns, and to those of one caller in their order', async () => {
  const queue = new FairQueue<number>();
  const given: string[] = [];
  const waits = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(async (name) => {
    await queue.wait(name.charAt(0));
    given.push(name);
  });
  for (let number = 0; number < waits.length; number++) equal(queue.give(number), true);
  equal(queue.give(0), false);
  await Promise.all(waits);
  deepEqual(given, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});
