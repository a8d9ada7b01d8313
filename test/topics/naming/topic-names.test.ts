import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isOutgrown,
  nameCluster,
  nameTopic,
  renameChangedTopics,
} from '../../../src/topics/naming/topic-names.ts';
import type { Topic, TopicState } from '../../../src/topics/topic-state.ts';
import { axis, freshState, microOf } from '../builders.ts';

function named(state: TopicState, at: number, text: string): Topic {
  const topic = state.createTopic([microOf(state, axis(at), text, 5)])!;
  nameTopic(state, topic, state.overview());
  return topic;
}

describe('names of topics', () => {
  it('are unique among topics with requests', () => {
    const state = freshState();
    const topics = [1, 2].map((at) => named(state, at, 'cancel order'));
    deepEqual(
      topics.map(({ name }) => name),
      ['Cancel order', 'Cancel'],
    );
  });

  it('change only when the topic has clearly grown', () => {
    const state = freshState();
    const topic = named(state, 0, 'cancel order');
    const grow = (text: string, count: number): void => {
      state.micros.moveToTopic(microOf(state, axis(0), text, count), topic.number);
      renameChangedTopics(state, state.overview());
    };
    state.changeTopic(topic, { name: 'kept', namedAt: 10 });
    grow('refund order', 6);
    equal(topic.name, 'kept');
    grow('refund order', 2);
    deepEqual([topic.name, topic.namedAt], ['Refund order', 13]);
  });
});

describe('names of topic clusters', () => {
  it('are those of the only topic, or what the topics share, and no other cluster has them', () => {
    const state = freshState();
    const [orders, refunds] = [named(state, 0, 'cancel order'), named(state, 1, 'refund order')];
    const cluster = { number: 0, origin: '1', name: '', namedAt: 0 };
    const other = { number: 1, origin: '2', name: 'Order', namedAt: 1 };
    nameCluster(state, cluster, [orders], [other], state.overview());
    deepEqual([cluster.name, cluster.namedAt], ['Cancel order', 5]);
    nameCluster(state, cluster, [orders, refunds], [], state.overview());
    deepEqual([cluster.name, cluster.namedAt], ['Order', 10]);
    nameCluster(state, cluster, [orders, refunds], [other], state.overview());
    equal(cluster.name, 'Cancel order');
  });

  it('change when the cluster has doubled', () => {
    const cluster = { number: 0, origin: '1', name: 'Order', namedAt: 5 };
    deepEqual([isOutgrown(cluster, 9), isOutgrown(cluster, 10)], [false, true]);
    equal(isOutgrown({ ...cluster, namedAt: 0 }, 1), true);
  });
});
