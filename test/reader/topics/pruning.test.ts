import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pruneIfDue } from '../../../src/reader/topics/pruning.ts';
import { noKeys } from '../../../src/reader/topics/request-keys.ts';
import { vectorOf } from '../threads/builders.ts';
import { freshState, NOWHERE } from './builders.ts';

describe('pruneIfDue', () => {
  it('merges 1,001 micro-clusters to 700, never across topics, and relaxes the joining threshold', () => {
    const state = freshState();
    const { micros } = state;
    // The first twenty say the same as the next twenty, but have another topic.
    const textOf = (index: number): string => (index < 40 ? `twin ${index % 20}` : `text ${index}`);
    for (let index = 0; index < 1000; index += 1)
      micros.create(vectorOf(textOf(index)), noKeys(), index + 1, NOWHERE);
    const [first, second] = [micros.live.slice(0, 20), micros.live.slice(20, 40)];
    for (const members of [first, second]) state.createTopic(members);
    pruneIfDue(state);
    equal(micros.live.length, 1000);
    micros.create(vectorOf('one more'), noKeys(), 1001, NOWHERE);
    pruneIfDue(state);
    equal(micros.live.length, 700);
    equal(state.relaxation, 0.02);
    for (let number = 0; number < 40; number += 1)
      equal(micros.resolve(number).topic, number < 20 ? 0 : 1, String(number));
    const weights = micros.live.map(({ weight }) => weight);
    equal(
      weights.reduce((sum, weight) => sum + weight, 0),
      1001,
    );
    // Three requests that waited and merged are a topic now.
    ok(micros.live.every(({ topic, weight }) => topic >= 0 || weight < 3));
    deepEqual([...new Set(micros.live.map(({ number }) => micros.mergedInto(number)))], [undefined]);
  });
});
