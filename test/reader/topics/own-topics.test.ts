import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnTopics } from '../../../src/reader/topics/own-topics.ts';
import { createOwnTopic } from '../../../src/reader/topics/own-topic-creation.ts';
import { pruneIfDue } from '../../../src/reader/topics/pruning.ts';
import { keysOf, noKeys } from '../../../src/reader/topics/request-keys.ts';
import { DIMENSIONS, vectorOf } from '../threads/builders.ts';
import { axis, freshState, microOf, NOWHERE } from './builders.ts';

const { thresholds } = freshState();

describe('OwnTopics', () => {
  it('claims for the nearest example, from a bound between two thresholds on', () => {
    const own = new OwnTopics();
    own.add(3, [''], [axis(0)]);
    own.add(5, [''], [axis(2)]);
    const claim = (vector: Float32Array): number => own.claimOf(vector, noKeys(), thresholds);
    deepEqual([axis(0), axis(1), axis(2)].map(claim), [3, -1, 5]);
    // Thresholds: topic 0.42, micro 0.7.
    deepEqual([axis(0, 0.57, 4), axis(0, 0.55, 4)].map(claim), [3, -1]);
    equal(claim(axis(0, 0.7, 2)), 5);
  });

  it('compares with the nearest examples, as many as the square root of all', () => {
    const own = new OwnTopics();
    const examples = [axis(0), axis(0, 0.9, 1), axis(1), axis(2), axis(3)];
    own.add(
      0,
      examples.map(() => ''),
      examples,
    );
    const claim = (vector: Float32Array): number => own.claimOf(vector, noKeys(), thresholds);
    // The mean of the three nearest of five.
    deepEqual([claim(axis(0, 0.9, 1)), claim(axis(4)), claim(axis(3))], [0, -1, -1]);
  });

  it('hears the action and the thing', () => {
    const own = new OwnTopics();
    own.add(0, ['cancel my order'], [axis(0)]);
    const claims = (request: string): number => own.claimOf(axis(0, 0.58, 1), keysOf(request), thresholds);
    deepEqual([claims('cancel the order'), claims('track the parcel')], [0, -1]);
  });

  it('claims nothing for a text of which the model knows no word, or for a topic that is undone', () => {
    const own = new OwnTopics();
    own.add(0, ['?'], [new Float32Array(DIMENSIONS)]);
    own.add(1, ['a'], [axis(0)]);
    equal(own.claimOf(new Float32Array(DIMENSIONS), noKeys(), thresholds), -1);
    equal(own.claimOf(axis(0), noKeys(), thresholds), 1);
    own.retire(1);
    equal(own.claimOf(axis(0), noKeys(), thresholds), -1);
    deepEqual([own.active, own.size, own.isActive(1), own.isRetired(1)], [1, 2, false, true]);
  });
});

describe('a topic of a person’s making', () => {
  it('stands in the cluster of the topic that is nearest to its examples, until it claims something', () => {
    const state = freshState();
    for (const [cluster, at] of [4, 5].entries()) {
      const topic = state.createTopic([microOf(state, axis(at), 'a', 3)])!;
      state.changeTopic(topic, { cluster });
    }
    const made = { id: 'own', position: 9, name: 'Own', description: '', texts: ['x'], fromBeginning: true };
    const near = createOwnTopic(state, { ...made, vectors: [axis(5, 0.4, 6)] });
    equal(state.topics[near]?.cluster, 1);
    const held = createOwnTopic(state, { ...made, id: 'other', vectors: [axis(4)] });
    equal(state.topics[held]?.cluster, 0);
    equal(state.visibleTopic(state.micros.live[0]!), held);
  });

  it('shares no micro-cluster with what it does not claim, however many there are', () => {
    const state = freshState();
    const made = { id: 'own', position: 9, name: 'Own', description: '', texts: ['x'], fromBeginning: false };
    const own = createOwnTopic(state, { ...made, vectors: [axis(0)] });
    const claims = Array.from({ length: 1002 }, (_, index) => {
      const vector = vectorOf(`word${index >> 1}`);
      return state.micros.create(vector, noKeys(), index, NOWHERE, {
        claim: index % 2 === 0 ? own : -1,
        corrections: [],
      }).claim;
    });
    pruneIfDue(state);
    ok(state.micros.live.length <= 700);
    claims.forEach((claim, number) => equal(state.micros.resolve(number).claim, claim));
  });
});
