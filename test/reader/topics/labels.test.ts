import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forgetRequestsOfTopics } from '../../../src/reader/topics/forget-requests.ts';
import { restoreState, takeState } from '../../../src/reader/topics/state-codec.ts';
import type { TopicState } from '../../../src/reader/topics/topic-state.ts';
import { DIMENSIONS } from '../threads/builders.ts';
import { axis, freshState, microOf } from './builders.ts';

/** Saves a label; its texts are not read. */
function save(
  state: TopicState,
  id: string,
  examples: readonly Float32Array[],
  counterexamples: readonly Float32Array[] = [],
): { readonly label: number; readonly version: number } {
  const texts = (vectors: readonly Float32Array[]): string[] => vectors.map(() => '?');
  return state.labels.save(
    {
      id,
      name: `name of ${id}`,
      description: '',
      examples: texts(examples),
      counterexamples: texts(counterexamples),
    },
    [...examples, ...counterexamples],
  );
}

/** Micro-clusters of axis 0 at these cosines, with axis 3 for the rest. */
function microsAt(state: TopicState, ...cosines: readonly number[]): void {
  for (const cosine of cosines) state.touch(microOf(state, axis(0, cosine, 3), 'a', 1));
}

function drained(state: TopicState): { labels: string[]; micros: (readonly [number, number, boolean])[] } {
  state.labels.refresh(state);
  const { labels, labelMicros } = state.labels.drain(state.instance);
  return {
    labels: labels.map(({ label, name, isGone }) => `${label} ${name}${isGone ? ' gone' : ''}`),
    micros: labelMicros.map(({ label, micro, holds }) => [label, micro, holds] as const),
  };
}

describe('Labels', () => {
  it('hold what is near enough to an example, earlier and later, several at a time', () => {
    const state = freshState();
    // Thresholds: topic 0.42, micro 0.7; so near is 0.63.
    microsAt(state, 0.65, 0.5);
    save(state, 'a', [axis(0)]);
    save(state, 'b', [axis(3)]);
    deepEqual(drained(state), {
      labels: ['0 name of a', '1 name of b'],
      micros: [
        [0, 0, true],
        [1, 0, true],
        [1, 1, true],
      ],
    });
    microsAt(state, 0.64);
    deepEqual(drained(state).micros, [
      [0, 2, true],
      [1, 2, true],
    ]);
    deepEqual(drained(state), { labels: [], micros: [] });
  });

  it('hold what is like one example of several, if it is nearer to that', () => {
    const state = freshState();
    // With axis 4 for the rest: near to one example alone is 0.77.
    for (const cosine of [0.8, 0.75]) state.touch(microOf(state, axis(0, cosine, 4), 'a', 1));
    save(state, 'a', [axis(0), axis(1), axis(2)]);
    deepEqual(drained(state).micros, [[0, 0, true]]);
  });

  it('do not hold what is nearer to a counterexample', () => {
    const state = freshState();
    microsAt(state, 0.65, 0.95);
    save(state, 'a', [axis(0)], [axis(3)]);
    deepEqual(drained(state).micros, [[0, 1, true]]);
  });

  it('are changed under the same number, and taken back to what they were, or for good', () => {
    const state = freshState();
    microsAt(state, 0.65);
    const made = save(state, 'a', [axis(0)]);
    drained(state);
    const changed = save(state, 'a', [axis(5)]);
    deepEqual([changed, state.labels.size], [{ label: 0, version: 1 }, 1]);
    deepEqual(drained(state), { labels: ['0 name of a'], micros: [[0, 0, false]] });
    state.labels.retire(changed.version);
    deepEqual(drained(state).micros, [[0, 0, true]]);
    state.labels.retire(made.version);
    deepEqual(drained(state), { labels: ['0 name of a gone'], micros: [[0, 0, false]] });
    deepEqual([state.labels.isGone(0), state.labels.numberOf('a')], [true, 0]);
  });

  it('follow micro-clusters that merge, and say it of each', () => {
    const state = freshState();
    microsAt(state, 0.65, 0.1);
    save(state, 'a', [axis(0)]);
    deepEqual(drained(state).micros, [[0, 0, true]]);
    const [kept, gone] = state.micros.live as [never, never];
    state.micros.merge(kept, gone);
    state.micros.compact();
    for (const micro of [kept, gone]) state.touch(micro);
    const merged = drained(state).micros;
    // The mean of both is nearer to axis 3 than to axis 0.
    deepEqual(merged, [[0, 0, false]]);
    save(state, 'b', [axis(3)]);
    deepEqual(drained(state).micros, [
      [1, 0, true],
      [1, 1, true],
    ]);
  });

  it('keep what they held where retention took the vectors', () => {
    const state = freshState();
    microsAt(state, 0.65, 0.1);
    const { version } = save(state, 'a', [axis(0)]);
    drained(state);
    for (const { sum } of state.micros.live) sum.fill(0);
    save(state, 'b', [axis(3)]);
    deepEqual(drained(state).micros, []);
    state.labels.retire(version);
    deepEqual(drained(state).micros, [[0, 0, false]]);
  });

  it('change nothing of the past that retention made unreadable, whatever is decided later', () => {
    const state = freshState();
    const [big, small] = [microOf(state, axis(1), 'big', 50), microOf(state, axis(0), 'small', 1)];
    state.createTopic([big, small]);
    for (const micro of [big, small]) state.touch(micro);
    save(state, 'a', [axis(0)]);
    const { version } = save(state, 'b', [axis(1)]);
    drained(state);
    const rows = new Map(takeState(state).map((row) => [`${row.kind} ${row.key}`, row]));
    const forgetting = { isOld: () => true, correctionsBefore: 0, isEmpty: () => false };
    // It puts the few requests at the mean of their topic.
    for (const row of forgetRequestsOfTopics([...rows.values()], { dimensions: DIMENSIONS, ...forgetting }))
      rows.set(`${row.kind} ${row.key}`, row);
    const after = freshState();
    restoreState(after, [...rows.values()]);
    save(after, 'unrelated', [axis(9)]);
    save(after, 'a', [axis(0)], [axis(1)]);
    deepEqual(drained(after).micros, []);
    after.labels.retire(version);
    deepEqual(drained(after).micros, [[1, 0, false]]);
  });

  it('are looked at again alone when one changes, as if all were', () => {
    const [state, again] = [freshState(), freshState()];
    for (const one of [state, again]) microsAt(one, 0.65, 0.5, 0.9);
    save(state, 'a', [axis(0)]);
    drained(state);
    save(state, 'b', [axis(3)]);
    const { version } = save(state, 'a', [axis(3)]);
    drained(state);
    state.labels.retire(version);
    drained(state);
    for (const id of ['a', 'b']) save(again, id, [axis(id === 'a' ? 0 : 3)]);
    drained(again);
    const held = (one: TopicState): unknown =>
      takeState(one)
        .flatMap(({ kind, key, value }) => (kind === 'label-micro' ? [[key, [...value!]]] : []))
        .toSorted();
    deepEqual(held(state), held(again));
  });

  it('count no example of which the model knows no word', () => {
    const state = freshState();
    microsAt(state, 0.65);
    save(state, 'a', [new Float32Array(DIMENSIONS)]);
    deepEqual(drained(state).micros, []);
  });

  it('are stored with what they hold, and nothing is where there are none', () => {
    const state = freshState();
    microsAt(state, 0.65, 0.5);
    state.requests = 1;
    save(state, 'a', [axis(0)], [axis(7)]);
    const { version } = save(state, 'b', [axis(3)]);
    state.labels.retire(version);
    drained(state);
    const rows = takeState(state);
    deepEqual(
      rows.filter(({ kind }) => kind.startsWith('label')).map(({ kind, key }) => [kind, key]),
      [
        ['label', 0],
        ['label', 1],
        ['label-micro', 0],
      ],
    );
    const again = freshState();
    restoreState(again, rows.toReversed());
    deepEqual([drained(again), takeState(again)], [{ labels: [], micros: [] }, []]);
    microsAt(state, 0.7);
    microsAt(again, 0.7);
    deepEqual(drained(again), drained(state));
    const without = freshState();
    microsAt(without, 0.65);
    deepEqual(drained(without), { labels: [], micros: [] });
    equal(takeState(without).filter(({ kind }) => kind.startsWith('label')).length, 0);
  });
});
