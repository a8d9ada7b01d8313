import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectGarbage, IdleCollection } from '../../../src/reader/threads/idle-collection.ts';

const MB = 2 ** 20;

describe('idle collection', () => {
  it('collects once nothing was in work for a while, and again when the memory has grown', () => {
    let [now, resident, collections] = [0, 400 * MB, 0];
    const collection = new IdleCollection({
      residentBytes: () => resident,
      collect: () => void (collections += 1),
      now: () => now,
    });
    const after: number[] = [];
    const idle = (ms: number): void => {
      for (const end = now + ms; now < end; now += 1000) collection.idle();
      after.push(collections);
    };
    idle(10_000);
    collection.busy();
    resident = 900 * MB;
    idle(4000);
    idle(4000);
    // What is left is in use: it is not collected again and again.
    resident = 600 * MB;
    idle(60_000);
    collection.busy();
    resident = 800 * MB;
    idle(10_000);
    deepEqual(after, [1, 1, 2, 2, 3]);
  });

  it('gives back what nobody holds any more', async () => {
    let garbage: Uint8Array[] | null = Array.from({ length: 100 }, () => new Uint8Array(MB));
    const before = process.memoryUsage().arrayBuffers;
    ok(garbage.length > 0);
    garbage = null;
    collectGarbage();
    const isBack = (): boolean => process.memoryUsage().arrayBuffers < before - 90 * MB;
    // V8 frees the memory of buffers beside this thread.
    for (let turns = 0; !isBack() && turns < 10_000; turns += 1)
      await new Promise((resolve) => setImmediate(resolve));
    ok(isBack());
  });
});
