import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinFragments } from '../../src/topics/fragments.ts';
import type { MicroCluster } from '../../src/topics/micro-cluster.ts';
import { axis, freshState, microOf } from './builders.ts';

/** Groups of one micro-cluster each: vector, requests, whether it has a topic. In 400 requests, six are large. */
function joined(groups: readonly (readonly [Float32Array, number, boolean?])[]): {
  topical: number[][];
  small: number[][];
} {
  const state = freshState();
  const members = groups.map(([vector, count, hasTopic = false]) => {
    const micro = microOf(state, vector, 'text', count);
    if (hasTopic) state.createTopic([micro]);
    return [micro];
  });
  state.requests = 400;
  const { topical, small } = joinFragments(state, members);
  const numbers = (all: readonly (readonly MicroCluster[])[]): number[][] =>
    all.map((group) => group.map(({ number }) => number));
  return { topical: numbers(topical), small: numbers(small) };
}

describe('joinFragments', () => {
  it('joins a fragment to a large group that is near, and keeps one that is far', () => {
    const { topical, small } = joined([
      [axis(0), 10],
      [axis(0, 0.3, 1), 4],
      [axis(2), 4],
      [axis(3), 2],
    ]);
    deepEqual(topical, [[0, 1], [2]]);
    deepEqual(small, [[3]]);
  });

  it('asks more of a fragment that has a topic of its own', () => {
    deepEqual(
      joined([
        [axis(0), 10],
        [axis(0, 0.27, 1), 4],
      ]).topical,
      [[0, 1]],
    );
    deepEqual(
      joined([
        [axis(0), 10],
        [axis(0, 0.27, 1), 4, true],
      ]).topical,
      [[0], [1]],
    );
  });

  it('leaves a group that is too small for a topic where its topic is', () => {
    deepEqual(
      joined([
        [axis(0), 10],
        [axis(0, 0.9, 1), 2, true],
      ]).small,
      [[1]],
    );
  });

  it('joins a distant fragment to the one large group that stands out among enough others', () => {
    const large = [0, 1, 2, 3, 4, 5, 6].map((at) => [axis(at), 10] as const);
    const fragment = [axis(0, 0.2, 20), 4] as const;
    deepEqual(joined([...large, fragment]).topical[0], [0, 7]);
    deepEqual(joined([...large.slice(0, 3), fragment]).topical, [[0], [1], [2], [3]]);
  });
});
