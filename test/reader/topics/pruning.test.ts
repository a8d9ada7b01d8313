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

  it('leaves corrected micro-clusters beside the bound, and relaxes nothing for them', () => {
    const state = freshState();
    const { micros } = state;
    for (let index = 0; index < 300; index += 1)
      micros.create(vectorOf(`said ${index}`), noKeys(), index + 1, NOWHERE, {
        claim: -1,
        corrections: [index],
      });
    for (let index = 300; index < 1300; index += 1)
      micros.create(vectorOf(`text ${index}`), noKeys(), index + 1, NOWHERE);
    pruneIfDue(state);
    deepEqual([micros.live.length, state.relaxation], [1300, 0]);
    micros.create(vectorOf('one more'), noKeys(), 1301, NOWHERE);
    pruneIfDue(state);
    deepEqual([micros.live.length, state.relaxation], [1000, 0.02]);
    for (let number = 0; number < 300; number += 1)
      deepEqual(micros.resolve(number).corrections, [number], String(number));
  });
});
