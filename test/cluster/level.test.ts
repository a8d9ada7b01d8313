import { equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLevel } from '../../src/cluster/level.ts';
import { overlapOf } from '../../src/stream/subjects.ts';

/** Entries may come at any time. */
const GOES_ON = { newestOf: async () => Infinity, sharedWith: overlapOf };

describe('views are level with others', () => {
  it('once each shard has reached what was shown of its instances', async () => {
    equal(await isLevel([], [], GOES_ON), true);
    equal(await isLevel([0, -1], [], GOES_ON), false);
    equal(await isLevel([0, 0], [], GOES_ON), true);
    const shown = Array.from({ length: 16 }, (_, shard) => 100 + shard);
    equal(await isLevel(shown, shown, GOES_ON), true);
    equal(await isLevel(shown.with(15, 114), shown, GOES_ON), false);
    // Shard 0 of 32 has half of the instances of shard 0 of 16, and nothing of the others.
    const twice = Array.from({ length: 32 }, (_, shard) => 100 + (shard % 16));
    equal(await isLevel(twice, shown, GOES_ON), true);
    equal(await isLevel(twice.with(16, 99), shown, GOES_ON), false);
  });

  it('or the end of their own partitions', async () => {
    const newestOf = async (shard: number): Promise<number> => (shard === 0 ? 7 : 9);
    const division = { newestOf, sharedWith: () => [0] };
    equal(await isLevel([7, 9], [9], division), true);
    equal(await isLevel([6, 9], [9], division), false);
  });
});
