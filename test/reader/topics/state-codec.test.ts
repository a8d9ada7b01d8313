import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StateRow } from '../../../src/domain/facts.ts';
import { regroupIfDue } from '../../../src/reader/topics/regrouping.ts';
import { restoreState, takeState } from '../../../src/reader/topics/state-codec.ts';
import type { TopicState } from '../../../src/reader/topics/topic-state.ts';
import { axis, freshState, microOf } from './builders.ts';

function grouped(): TopicState {
  const state = freshState();
  const orders = microOf(state, axis(0), 'cancel my order', 4);
  microOf(state, axis(0, 0.6, 1), 'cancel the whole order', 2);
  microOf(state, axis(2), 'track my parcel');
  state.createTopic([orders]);
  regroupIfDue(state);
  state.relaxation = 0.02;
  return state;
}

describe('state of topics', () => {
  it('comes back as it was, in whatever order its rows are', () => {
    const state = grouped();
    const rows = takeState(state);
    const again = freshState();
    restoreState(again, [...rows.toReversed(), { instance: 1, kind: 'session', key: 1, value: null }]);
    deepEqual(again.micros.live, state.micros.live);
    deepEqual(again.topics, state.topics);
    deepEqual(again.clusters, state.clusters);
    for (const key of ['requests', 'nextRegrouping', 'relaxation'] as const) equal(again[key], state[key]);
    equal(again.micros.next, state.micros.next);
    deepEqual(takeState(again), []);
  });

  it('is only what changed since the last time; a merged micro-cluster leaves its successor', () => {
    const state = grouped();
    takeState(state);
    deepEqual(takeState(state), []);
    const [a, b] = state.micros.live;
    state.micros.merge(a!, b!);
    state.micros.compact();
    const rows = takeState(state);
    deepEqual(
      rows.map(({ kind, key, value }) => [kind, key, value === null]),
      [
        ['micro', 1, true],
        ['merged', 1, false],
        ['micro', 0, false],
      ],
    );
  });

  it('refuses rows of another version, or of vectors of another length', () => {
    const rows = takeState(grouped());
    const otherVersion = rows.map((row): StateRow =>
      row.kind === 'topics' ? { ...row, value: Uint8Array.of(99, ...row.value!.slice(1)) } : row,
    );
    throws(() => restoreState(freshState(), otherVersion), /another version: rebuild/);
    throws(() => restoreState(freshState(16), rows), /32 dimensions.*16.*rebuild/);
  });
});
