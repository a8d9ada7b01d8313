import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { axis, freshState, microOf } from '../builders.ts';

describe('WordIndex', () => {
  it('says how many topics and waiting groups hold a word', () => {
    const state = freshState();
    microOf(state, axis(0), 'cancel order', 2);
    microOf(state, axis(1), 'cancel booking');
    const together = microOf(state, axis(2), 'cancel trip');
    state.micros.moveToWaitingGroup(together, 1);
    const { groups, groupsWith } = state.frequencies();
    equal(groups, 2);
    deepEqual(['cancel', 'order', 'trip', 'refund'].map(groupsWith), [2, 1, 1, 0]);
  });

  it('counts words, and replaces one that was used once when there is no room', () => {
    const state = freshState();
    const { words } = state.micros;
    const micro = microOf(state, axis(0), 'order', 2);
    for (let number = 0; number < 15; number += 1) words.count(micro, `word${number}`, 1);
    words.count(micro, 'parcel', 1);
    equal(micro.words.size, 16);
    equal(micro.words.get('order'), 2);
    deepEqual([micro.words.has('word0'), micro.words.has('parcel')], [false, true]);
    equal(state.frequencies().groupsWith('word0'), 0);
  });
});
