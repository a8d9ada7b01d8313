import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnEntries } from '../../src/worker/own-entries.ts';
import type { Delivered } from '../../src/stream/log/consumer.ts';
import { encodeRecord, encodeRequest } from '../../src/stream/log/codec.ts';
import { requestsOf } from '../support/replays.ts';

const [request] = requestsOf({ conversations: 1, instances: 1, messages: 1 });
const LIMITS = { maxMessages: 10, maxBytes: 1000, waitMs: 1000 };

async function entry(sequence: number, instanceId: string): Promise<Delivered> {
  const bytes =
    instanceId === ''
      ? Buffer.from('no entry')
      : await encodeRecord([encodeRequest({ ...request!, instanceId })]);
  return { sequence, bytes, subject: 'conversations.0', timestamp: 0 };
}

/** Entries as they come, each read in its time; each instance by a letter. */
async function passed(reads: readonly (readonly [at: number, ids: string])[]): Promise<number[][]> {
  let now = 0;
  let sequence = 0;
  const waiting = [...reads];
  const own = new OwnEntries(
    {
      async next({ waitMs }) {
        const [at, ids] = waiting[0] ?? [Infinity, ''];
        if (at > now + waitMs) {
          now += waitMs;
          return [];
        }
        waiting.shift();
        now = Math.max(now, at);
        return Promise.all([...ids].map((id) => entry((sequence += 1), id === '-' ? '' : id)));
      },
    },
    (id) => id === 'a',
    () => now,
  );
  const found: number[][] = [];
  while (waiting.length > 0 || now < 20_000) {
    const next = await own.next(LIMITS);
    if (next.length > 0) found.push(next.map((each) => each.sequence));
  }
  return found;
}

describe('the entries of a shard among those of others', () => {
  it('are its own, in their order, with what cannot be decoded', async () => {
    deepEqual(
      await passed([
        [10, 'abba'],
        [20, 'b-a'],
      ]),
      [
        [1, 4],
        [6, 7],
      ],
    );
  });

  it('are one of others at last, behind its own, however many come', async () => {
    deepEqual(
      await passed([[10, 'ab'], ...Array.from({ length: 60 }, (_, at) => [100 * at, 'bb'] as const)]),
      [[1], [104], [122]],
    );
    deepEqual(await passed([[10, 'bab']]), [[2], [3]]);
    deepEqual(await passed([]), []);
  });
});
