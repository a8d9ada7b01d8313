import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QueryAnswer } from '../../../src/doors/import/client.ts';
import { Marks } from '../../../src/doors/import/marks.ts';
import { waitUntilVisible } from '../../../src/doors/import/visible.ts';

const last = { position: 30, sessionId: 's3', messages: 2 };
const marks = [
  { position: 10, sessionId: 's1', sent: 100 },
  { position: 20, sessionId: 's2', sent: 200 },
];
const answer = (waitResult: string, messages: number): QueryAnswer => ({
  elements: [{ dimensions: {}, fields: { messages } }],
  pagination: { total: 1, limit: 1, offset: 0 },
  lastProcessedAt: null,
  waitResult,
});

describe('waitUntilVisible', () => {
  it('tells how much is counted on the way', async () => {
    let counted = 0;
    const asked: number[] = [];
    const query = async (_: unknown, position = 0): Promise<QueryAnswer> => {
      asked.push(position);
      counted += 10;
      return answer(counted >= position ? 'reached' : 'timeout', 2);
    };
    const reported: number[] = [];
    equal(
      await waitUntilVisible({ query }, { instanceId: 'i', last, marks }, 10_000, (sent) =>
        reported.push(sent),
      ),
      true,
    );
    deepEqual(
      [reported, asked],
      [
        [100, 200],
        [10, 20, 30],
      ],
    );
  });

  it('gives up when the time is over', async () => {
    const query = (): Promise<QueryAnswer> => Promise.resolve(answer('timeout', 0));
    equal(await waitUntilVisible({ query }, { instanceId: 'i', last, marks }, 0, () => undefined), false);
    equal(await waitUntilVisible({ query }, { instanceId: 'i', last, marks }, 0), false);
  });
});

describe('marks', () => {
  it('are not many, however many come, and spread over all of them', () => {
    const all = new Marks();
    for (let index = 1; index <= 10_000; index += 1)
      all.add({ position: index, sessionId: 's', sent: index });
    ok(all.all.length >= 8 && all.all.length < 32);
    const places = all.all.map(({ sent }) => sent);
    deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    ok((places.at(-1) ?? 0) > 9000);
  });
});
