import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StateRow } from '../../../src/domain/facts.ts';
import { regroupIfDue } from '../../../src/reader/topics/regrouping.ts';
import { carriedTopics, restoreState, takeState } from '../../../src/reader/topics/state-codec.ts';
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

  it('comes back from rows of release 0.4, whose micro-clusters had no corrections', () => {
    const state = grouped();
    const rows = takeState(state);
    const before = rows.map((row): StateRow => {
      const { kind, value } = row;
      // Six members of a byte each stand before the corrections, of which there are none.
      if (kind === 'micro') equal(value![6], 0);
      if (kind === 'micro')
        return { ...row, value: Uint8Array.of(...value!.slice(0, 6), ...value!.slice(7)) };
      return kind === 'topics' ? { ...row, value: Uint8Array.of(7, ...value!.slice(1)) } : row;
    });
    const changed = carriedTopics(before, 32);
    deepEqual(changed.map(({ kind }) => kind).toSorted(), ['micro', 'micro', 'micro', 'topics']);
    const isChanged = (row: StateRow): boolean =>
      changed.some(({ kind, key }) => kind === row.kind && key === row.key);
    const again = freshState();
    restoreState(again, [...before.filter((row) => !isChanged(row)), ...changed]);
    deepEqual(again.micros.live, state.micros.live);
    equal(again.requests, state.requests);
    deepEqual(carriedTopics(rows, 32), []);
    const older = before.map((row) => (row.kind === 'topics' ? { ...row, value: Uint8Array.of(6) } : row));
    throws(() => carriedTopics(older, 32), /cannot be taken over/);
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
