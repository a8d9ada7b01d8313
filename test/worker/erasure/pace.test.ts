import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPace } from '../../../src/worker/erasure/pace.ts';

describe('createPace', () => {
  it('rests as long as it worked for a share of a half, three times as long for a quarter', async () => {
    const rested: number[] = [];
    let now = 0;
    const parts = {
      clock: () => now,
      sleep: async (ms: number) => {
        rested.push(ms);
        now += ms;
      },
    };
    for (const share of [0.5, 0.25]) {
      const pace = createPace(share, new AbortController().signal, parts);
      for (const worked of [20, 20, 20, 10, 100]) {
        now += worked;
        await pace();
      }
    }
    deepEqual(rested, [60, 110, 180, 330]);
  });
});
