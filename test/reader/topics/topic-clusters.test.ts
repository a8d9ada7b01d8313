import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinCluster, recluster } from '../../../src/reader/topics/topic-clusters.ts';
import type { Topic, TopicState } from '../../../src/reader/topics/topic-state.ts';
import { axis, freshState, microOf } from './builders.ts';

function topicOf(state: TopicState, vector: Float32Array, text: string): Topic {
  const topic = state.createTopic([microOf(state, vector, text, 3)])!;
  state.changeTopic(topic, { name: text });
  return topic;
}
const clustersOf = ({ topics }: TopicState): number[] => topics.map(({ cluster }) => cluster);

describe('recluster', () => {
  it('joins topics with similar centroids; one alone gives its name to its cluster', () => {
    const state = freshState();
    topicOf(state, axis(0), 'cancel order');
    topicOf(state, axis(0, 0.4, 1), 'change order');
    topicOf(state, axis(2), 'track parcel');
    recluster(state, state.overview());
    deepEqual(clustersOf(state), [0, 0, 1]);
    equal(state.clusters[1]?.name, 'track parcel');
    equal(state.clusters[0]?.origin, '1');
  });

  it('keeps clusters together, and apart, until the change is clear', () => {
    // The threshold is 0.25, the hysteresis 0.04.
    for (const [cosine, before, after] of [
      [0.23, [0, 0], [0, 0]],
      [0.2, [0, 0], [0, 1]],
      [0.27, [0, 1], [0, 1]],
      [0.3, [0, 1], [0, 0]],
    ] as const) {
      const state = freshState();
      topicOf(state, axis(0), 'cancel order');
      topicOf(state, axis(0, before[1] === 0 ? 0.9 : 0, 1), 'track parcel');
      recluster(state, state.overview());
      deepEqual(clustersOf(state), before);
      const second = state.micros.live[1]!;
      second.sum.set(axis(0, cosine, 1).map((value) => 3 * value));
      // As `join` leaves it: the sum of the topic is another.
      state.micros.moveToTopic(second, -1, false);
      state.micros.moveToTopic(second, 1, true);
      recluster(state, state.overview());
      deepEqual(clustersOf(state), after, String(cosine));
    }
  });
});

describe('recluster with many topics', () => {
  /** So many topics on each of four axes and one more, whose cosine with those of the first axis is about this. */
  function withOneMore(cosine: number, each = 8): TopicState {
    const state = freshState();
    for (const at of [0, 2, 4, 6])
      for (let other = 10; other < 10 + each; other += 1) topicOf(state, axis(at, 0.8, at + other), 'qwert');
    topicOf(state, axis(0, cosine / 0.8, 30), 'asdf');
    recluster(state, state.overview());
    return state;
  }

  it('leaves no topic on its own that is somewhat like a cluster', () => {
    deepEqual(clustersOf(withOneMore(0.18)).at(-1), 0);
    deepEqual(clustersOf(withOneMore(0.1)).at(-1), 4);
  });

  it('leaves it on its own while there are few', () => {
    deepEqual(clustersOf(withOneMore(0.18, 3)).at(-1), 4);
  });

  it('joins topics of one thing', () => {
    const state = freshState();
    for (const [at, text] of ['cancel order', 'track order', 'open account'].entries())
      topicOf(state, axis(0, [1, 0.1, 0.1][at]!, at + 1), text);
    recluster(state, state.overview());
    deepEqual(clustersOf(state), [0, 0, 1]);
  });
});

describe('joinCluster', () => {
  it('moves a new topic into the most similar cluster, or into one of its own', () => {
    const state = freshState();
    topicOf(state, axis(0), 'cancel order');
    topicOf(state, axis(2), 'track parcel');
    recluster(state, state.overview());
    joinCluster(state, topicOf(state, axis(2, 0.6, 1), 'track letter'), state.overview());
    joinCluster(state, topicOf(state, axis(5), 'reset password'), state.overview());
    deepEqual(clustersOf(state), [0, 1, 1, 2]);
    equal(state.clusters[2]?.name, 'reset password');
  });
});
