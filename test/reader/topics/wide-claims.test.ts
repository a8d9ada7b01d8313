import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOTHING_CURATED } from '../../../src/reader/topics/curated-topics.ts';
import { createOther, createOwnTopic } from '../../../src/reader/topics/own-topic-creation.ts';
import { restoreState, takeState } from '../../../src/reader/topics/state-codec.ts';
import type { TopicState } from '../../../src/reader/topics/topic-state.ts';
import { axis, freshState, microOf } from './builders.ts';

const made = { id: 'own', position: 9, name: 'Own', description: '', texts: ['x'], fromBeginning: false };

/** A state with an own topic near axis 0, and Other in effect. */
function routed(): { state: TopicState; own: number; other: number } {
  const state = freshState();
  const own = createOwnTopic(state, { ...made, vectors: [axis(0)] });
  const other = createOther(state, 10);
  state.curate(() => ({ ...NOTHING_CURATED, other, routesToOther: true }));
  return { state, own, other };
}

const shownIn = (state: TopicState): number[] => {
  state.wideClaims.refresh(state);
  return state.micros.live.map((micro) => state.visibleTopic(micro));
};

describe('WideClaims', () => {
  it('claims from a lower bound on than own topics do beside found ones', () => {
    const { state, own, other } = routed();
    // Thresholds: topic 0.42, micro 0.7; so near is 0.56, and wide 0.49.
    for (const cosine of [0.55, 0.5, 0.48]) state.touch(microOf(state, axis(0, cosine, 3), 'a', 1));
    deepEqual(shownIn(state), [own, own, other]);
  });

  it('claims nothing where the second topic is nearly as near, unless the two count as one', () => {
    const { state, own, other } = routed();
    const second = createOwnTopic(state, { ...made, id: 'second', vectors: [axis(1)] });
    const both = axis(0, 0.52, 1);
    for (const [index, value] of [0.52, 0.5].entries()) both[index] = value;
    both[2] = Math.sqrt(1 - 0.52 ** 2 - 0.5 ** 2);
    state.touch(microOf(state, both, 'a', 1));
    deepEqual(shownIn(state), [other]);
    const merges = new Map([[second, { into: own, since: 0 }]]);
    state.curate(() => ({ ...NOTHING_CURATED, merges, other, routesToOther: true }));
    deepEqual(shownIn(state), [own]);
  });

  it('follows from what is there, whatever changed while nothing counted as Other', () => {
    const { state, own, other } = routed();
    const choose = (routesToOther: boolean): void =>
      state.curate(() => ({ ...NOTHING_CURATED, other, routesToOther }));
    choose(false);
    state.touch(microOf(state, axis(0, 0.52, 3), 'a', 1));
    choose(true);
    deepEqual(shownIn(state), [own]);
    choose(false);
    deepEqual(shownIn(state), [-1]);
  });

  it('keeps what it claimed where retention took the vectors, whatever changes later', () => {
    const { state, own, other } = routed();
    state.touch(microOf(state, axis(0, 0.52, 3), 'a', 1));
    state.touch(microOf(state, axis(0, 0.48, 3), 'b', 1));
    deepEqual(shownIn(state), [own, other]);
    for (const { sum } of state.micros.live) sum.fill(0);
    const second = createOwnTopic(state, { ...made, id: 'second', vectors: [axis(4)] });
    deepEqual(shownIn(state), [own, other]);
    const merges = new Map([[own, { into: second, since: 0 }]]);
    state.curate(() => ({ ...NOTHING_CURATED, merges, other, routesToOther: true }));
    deepEqual(shownIn(state), [second, other]);
    state.own.retire(own);
    deepEqual(shownIn(state), [other, other]);
  });

  it('stores claims of instances that chose, and nothing of others', () => {
    const { state, own, other } = routed();
    state.touch(microOf(state, axis(0, 0.52, 3), 'a', 1));
    state.requests = 1;
    deepEqual(shownIn(state), [own]);
    const rows = takeState(state);
    equal(rows.filter(({ kind }) => kind === 'wide-claim').length, 1);
    const again = freshState();
    again.restoreCuration({ ...NOTHING_CURATED, other, routesToOther: true });
    restoreState(again, rows);
    deepEqual([again.wideClaims.of(0), shownIn(again), takeState(again)], [own, [own], []]);
    state.curate(() => ({ ...NOTHING_CURATED, other }));
    state.wideClaims.refresh(state);
    deepEqual(
      takeState(state).filter(({ kind }) => kind === 'wide-claim'),
      [{ instance: state.instance, kind: 'wide-claim', key: 0, value: null }],
    );
    const without = freshState();
    without.touch(microOf(without, axis(0), 'a', 1));
    without.wideClaims.refresh(without);
    equal(takeState(without).filter(({ kind }) => kind === 'wide-claim').length, 0);
  });
});
