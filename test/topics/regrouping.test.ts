import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextRegroupingAfter, regroupIfDue } from '../../src/topics/regrouping.ts';
import type { TopicState } from '../../src/topics/topic-state.ts';
import { axis, freshState, microOf } from './builders.ts';

describe('nextRegroupingAfter', () => {
  it('gives growing counts, then every 500, then ever more seldom up to every 5,000', () => {
    const counts = [3];
    while (counts.length < 20) counts.push(nextRegroupingAfter(counts.at(-1)!));
    deepEqual(counts.slice(0, 6), [3, 4, 6, 9, 13, 19]);
    ok(counts.every((count, index) => index === 0 || count - counts[index - 1]! <= 500));
    equal(nextRegroupingAfter(5000), 5500);
    equal(nextRegroupingAfter(8000), 8800);
    equal(nextRegroupingAfter(40_000), 44_000);
    equal(nextRegroupingAfter(1_000_000), 1_005_000);
  });
});

describe('regroupIfDue', () => {
  /** Two micro-clusters of such a cosine, regrouped; the first has a topic, the second when asked for. */
  function regrouped(cosine: number, second: 'own topic' | 'same topic' | 'no topic'): TopicState {
    const state = freshState();
    const a = microOf(state, axis(0), 'cancel my order', 5);
    const b = microOf(state, axis(0, cosine, 1), 'track my parcel', 5);
    const topic = state.createTopic(second === 'same topic' ? [a, b] : [a]);
    notEqual(topic, null);
    if (second === 'own topic') state.createTopic([b]);
    regroupIfDue(state);
    return state;
  }
  const topicsOf = ({ micros }: TopicState): number[] => micros.live.map(({ topic }) => topic);

  it('joins what is similar enough', () => {
    deepEqual(topicsOf(regrouped(0.43, 'no topic')), [0, 0]);
    deepEqual(topicsOf(regrouped(0.41, 'no topic')), [0, 1]);
  });

  it('keeps topics apart, and together, until the change is clear', () => {
    deepEqual(topicsOf(regrouped(0.44, 'own topic')), [0, 1]);
    deepEqual(topicsOf(regrouped(0.47, 'own topic')), [0, 0]);
    deepEqual(topicsOf(regrouped(0.4, 'same topic')), [0, 0]);
    deepEqual(topicsOf(regrouped(0.37, 'same topic')), [0, 1]);
  });

  it('names every topic and puts it into a topic cluster', () => {
    const { topics, clusters } = regrouped(0.1, 'own topic');
    deepEqual(
      topics.map(({ name, cluster }) => [name, clusters[cluster]?.name]),
      [
        ['Cancel order', 'Cancel order'],
        ['Track parcel', 'Track parcel'],
      ],
    );
  });

  it('waits until enough requests have come', () => {
    const state = freshState();
    microOf(state, axis(0), 'cancel my order', 3);
    state.nextRegrouping = 4;
    regroupIfDue(state);
    deepEqual([topicsOf(state), state.nextRegrouping], [[-1], 4]);
    microOf(state, axis(1), 'track my parcel');
    regroupIfDue(state);
    deepEqual([topicsOf(state), state.nextRegrouping], [[0, -1], 6]);
  });
});
