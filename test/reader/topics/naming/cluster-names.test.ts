import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOutgrown, nameCluster } from '../../../../src/reader/topics/naming/cluster-names.ts';
import { nameTopic } from '../../../../src/reader/topics/naming/topic-names.ts';
import type { Topic, TopicCluster, TopicState } from '../../../../src/reader/topics/topic-state.ts';
import { axis, freshState, microOf } from '../builders.ts';

function topicsOf(state: TopicState, ...all: readonly (readonly string[])[]): Topic[] {
  return all.map((texts, at) => {
    const topic = state.createTopic(texts.map((text) => microOf(state, axis(at), text, 2)))!;
    nameTopic(state, topic, state.overview());
    return topic;
  });
}

const cluster = (name = ''): TopicCluster => ({
  number: 0,
  origin: '1',
  isOwn: false,
  name,
  namedAt: 0,
});

function nameOf(state: TopicState, topics: readonly Topic[], others: readonly string[] = []): string {
  const named = cluster();
  nameCluster(
    state,
    named,
    topics,
    others.map((name, at) => ({ ...cluster(name), number: at + 1 })),
    state.overview(),
  );
  return named.name;
}

describe('names of topic clusters', () => {
  it('are that of the only topic', () => {
    const state = freshState();
    equal(nameOf(state, topicsOf(state, ['cancel order', 'cancel my order'])), 'Cancel order');
  });

  it('are the thing that most topics share', () => {
    const state = freshState();
    const topics = topicsOf(
      state,
      ['cancel order', 'cancel my orders'],
      ['track order', 'track my order'],
      ['change order', 'change my order'],
      ['print invoice', 'print the invoice'],
    );
    equal(nameOf(state, topics), 'Orders');
  });

  it('are the two heaviest things where most topics share nothing', () => {
    const state = freshState();
    const topics = topicsOf(
      state,
      ['cancel orders', 'cancel my orders', 'cancel the orders'],
      ['request refunds', 'request a refund'],
      ['print invoice', 'print the invoice'],
    );
    equal(nameOf(state, topics), 'Orders and refunds');
  });

  it('are not those of another cluster', () => {
    const state = freshState();
    const topics = topicsOf(state, ['cancel order', 'cancel my orders'], ['track order', 'track my order']);
    equal(nameOf(state, topics), 'Orders');
    equal(nameOf(state, topics, ['Orders']) === 'Orders', false);
  });

  it('stay while enough topics share them', () => {
    const state = freshState();
    const topics = topicsOf(
      state,
      ['cancel order', 'cancel my order'],
      ['track order', 'track my order'],
      ['cancel booking', 'cancel my booking'],
      ['cancel trip', 'cancel my trip'],
    );
    const kept = cluster('Orders');
    nameCluster(state, kept, topics, [], state.overview());
    equal(kept.name, 'Orders');
  });

  it('are examined when the weight has changed', () => {
    const at = { ...cluster('Orders'), namedAt: 5 };
    deepEqual([isOutgrown(at, 5), isOutgrown(at, 6), isOutgrown(cluster(), 0)], [false, true, true]);
  });
});
