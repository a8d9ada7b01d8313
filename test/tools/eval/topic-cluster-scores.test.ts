import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterScores } from '../../../tools/eval/topic-cluster-scores.ts';
import type { TopicSnapshot } from '../../../tools/eval/topic-run.ts';
import { labelledRequest } from './builders.ts';

function moment(given: readonly (readonly [domain: string, topic: number | null])[]): TopicSnapshot {
  const clusterOf: Readonly<Record<number, number>> = { 1: 10, 2: 10, 3: 20 };
  return {
    requests: given.map(([domain]) => labelledRequest({ domain })),
    topicOf: given.map(([, topic]) => topic),
    topics: new Map([1, 2, 3, 4].map((topic) => [topic, { name: '', cluster: clusterOf[topic] ?? 30 }])),
    clusters: new Map(),
  };
}

describe('clusterScores', () => {
  it('counts clusters of topics that have requests, and compares them with domains', () => {
    const scores = clusterScores(
      moment([
        ['bank', 1],
        ['bank', 2],
        ['shop', 3],
        ['shop', 3],
      ]),
    );
    deepEqual(scores, { domains: 2, clusters: 2, single: 0.5, largest: 2 / 3, nmi: 1, nmiWithNone: 1 });
  });

  it('counts requests without a cluster in one of the two figures only', () => {
    const { nmi, nmiWithNone } = clusterScores(
      moment([
        ['bank', 1],
        ['shop', 3],
        ['bank', null],
        ['shop', null],
      ]),
    );
    deepEqual([nmi, nmiWithNone < 1], [1, true]);
  });
});
