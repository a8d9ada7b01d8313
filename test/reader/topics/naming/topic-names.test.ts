import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameTopic, renameChangedTopics } from '../../../../src/reader/topics/naming/topic-names.ts';
import type { Topic, TopicState } from '../../../../src/reader/topics/topic-state.ts';
import { axis, freshState, microOf } from '../builders.ts';

function named(state: TopicState, at: number, texts: readonly string[]): Topic {
  const topic = state.createTopic(texts.map((text) => microOf(state, axis(at), text, 2)))!;
  nameTopic(state, topic, state.overview());
  return topic;
}

function grow(state: TopicState, topic: Topic, text: string, count: number): void {
  state.micros.moveToTopic(microOf(state, axis(0), text, count), topic.number, true);
  renameChangedTopics(state, state.overview());
}

describe('names of topics', () => {
  it('tell topics apart by a word in which their requests differ', () => {
    const state = freshState();
    const first = named(state, 1, ['cancel my order', 'please cancel my order', 'cancel order']);
    const second = named(state, 2, [
      'cancel my order for a gift card',
      'cancel gift card order',
      'cancel my order',
    ]);
    equal(first.name, 'Cancel order');
    notEqual(second.name, 'Cancel order');
    match(second.name, /gift card/);
  });

  it('count where the requests do not differ', () => {
    const state = freshState();
    const names = [1, 2].map((at) => named(state, at, ['cancel order', 'cancel the order']).name);
    deepEqual(names, ['Cancel order', 'Cancel order (2)']);
  });

  it('stay while most requests hold their words, however the topic grows', () => {
    const state = freshState();
    const topic = named(state, 0, ['cancel order', 'cancel my order']);
    grow(state, topic, 'cancel gift order', 6);
    equal(topic.name, 'Cancel order');
  });

  it('change when they are wrong for most requests and another name is right', () => {
    const state = freshState();
    const topic = named(state, 0, ['cancel order']);
    grow(state, topic, 'refund voucher', 8);
    equal(topic.name, 'Refund voucher');
  });

  it('give way to a phrase of fewer requests when they are one word that says too little', () => {
    const state = freshState();
    const topic = named(state, 0, [
      'find interesting events',
      'fun nearby',
      'something to do',
      'bored on Friday',
    ]);
    state.changeTopic(topic, { name: 'Interesting', namedAt: 1 });
    grow(state, topic, 'find events', 3);
    equal(topic.name, 'Find events');
  });

  it('give way sooner while the topic is new', () => {
    const nameAfter = (times: number): string => {
      const state = freshState();
      const topic = state.createTopic([microOf(state, axis(0), 'find the museum map', 3 * times)])!;
      nameTopic(state, topic, state.overview());
      grow(state, topic, 'print the museum ticket', 5 * times);
      return topic.name;
    };
    equal(nameAfter(1), 'Print museum ticket');
    equal(nameAfter(3), 'Find museum map');
  });

  it('are examined only when the topic has clearly grown or shrunk', () => {
    const state = freshState();
    const topic = named(state, 0, ['cancel order']);
    state.changeTopic(topic, { name: 'Old name', namedAt: 10 });
    grow(state, topic, 'cancel order', 9);
    equal(topic.name, 'Old name');
    grow(state, topic, 'cancel order', 2);
    deepEqual([topic.name, topic.namedAt], ['Cancel order', 13]);
  });
});
