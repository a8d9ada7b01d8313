import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countMixed } from '../../../tools/eval/topic-unknown-languages.ts';
import type { LabelledRequest } from '../../../tools/eval/topic-run.ts';

describe('countMixed', () => {
  it('counts topics without a kind that most of their requests are of', () => {
    const requests = [
      ['cancel', 1],
      ['cancel', 1],
      ['track', 1],
      ['track', 2],
      ['track', 2],
      ['track', 2],
      ['cancel', 2],
      ['cancel', null],
    ] as const;
    deepEqual(
      countMixed({
        requests: requests.map(([label]) => ({ label }) as LabelledRequest),
        topicOf: requests.map(([, topic]) => topic),
        topics: new Map(),
        clusters: new Map(),
      }),
      { requests: 8, withTopic: 7, inMixed: 3, topics: 2, mixed: 1 },
    );
  });
});
