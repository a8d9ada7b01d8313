import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextRegroupingAfter, regroupIfDue } from '../../../src/reader/topics/regrouping.ts';
import type { TopicState } from '../../../src/reader/topics/topic-state.ts';
import { axis, freshState, microOf } from './builders.ts';

describe('nextRegroupingAfter', () => {
  it('gives growing counts, then every 500, then ever more seldom up to every 5,000', () => {
    const counts = [3];
    while (counts.length < 20) counts.push(nextRegroupingAfter(counts.at(-1)!));
    deepEqual(counts.slice(0, 6), [3, 4, 6, 9, 13, 19]);
    ok(counts.every((count, index) => index === 0 || count - counts[index - 1]! <= 500));
    equal(nextRegroupingAfter(5000), 5500);
    equal(nextRegroupingAfter(8000), 8800);
    equal(nextRegroupingAfter(40_000), 44_000);
    equal(nextRegroupingAfter(1_000_000), 1_005_000);
  });
});

describe('regroupIfDue', () => {
  /** Two micro-clusters of such a cosine, regrouped; the first has a topic, the second when asked for. */
  function regrouped(cosine: number, second: 'own topic' | 'same topic' | 'no topic'): TopicState {
    const state = freshState();
    // Words that the lexicon does not know, so that only vectors count.
    const a = microOf(state, axis(0), 'qwert asdf', 5);
    const b = microOf(state, axis(0, cosine, 1), 'yxcv hjkl', 5);
    const topic = state.createTopic(second === 'same topic' ? [a, b] : [a]);
    notEqual(topic, null);
    if (second === 'own topic') state.createTopic([b]);
    state.position = 77;
    regroupIfDue(state);
    return state;
  }
  const topicsOf = ({ micros }: TopicState): number[] => micros.live.map(({ topic }) => topic);
  const coresOf = ({ micros }: TopicState): boolean[] => micros.live.map(({ core }) => core);

  it('makes what waits a topic when it has enough requests', () => {
    deepEqual(topicsOf(regrouped(0.41, 'no topic')), [0, 1]);
  });

  it('merges topics when they are clearly as similar as one, and notes the heir', () => {
    deepEqual(topicsOf(regrouped(0.44, 'own topic')), [0, 1]);
    const merged = regrouped(0.47, 'own topic');
    deepEqual(topicsOf(merged), [0, 0]);
    deepEqual(
      merged.topics.map(({ heir, since }) => [heir, since]),
      [
        [-1, -1],
        [0, 77],
      ],
    );
  });

  it('divides a topic when its parts clearly are two; the id stays with the larger', () => {
    deepEqual(topicsOf(regrouped(0.34, 'same topic')), [0, 0]);
    deepEqual(topicsOf(regrouped(0.3, 'same topic')), [0, 1]);
  });

  it('leaves a micro-cluster in its core though another topic is nearer', () => {
    const state = freshState();
    const [a, b] = [microOf(state, axis(0), 'qwert', 6), microOf(state, axis(1), 'asdf', 6)];
    const between = new Float32Array(axis(0).length);
    [between[0], between[1], between[2]] = [0.55, 0.75, Math.sqrt(1 - 0.55 ** 2 - 0.75 ** 2)];
    const c = microOf(state, between, 'yxcv', 2);
    state.createTopic([a, c]);
    state.createTopic([b]);
    regroupIfDue(state);
    deepEqual(topicsOf(state), [0, 1, 0]);
  });

  it('places what waits by the test of arrival: in the core, loosely or not at all', () => {
    for (const [cosine, place] of [
      [0.43, [0, true]],
      [0.3, [0, false]],
      [0.25, [-1, false]],
    ] as const) {
      const state = freshState();
      state.createTopic([microOf(state, axis(0), 'qwert', 5)]);
      microOf(state, axis(0, cosine, 1), 'asdf');
      regroupIfDue(state);
      deepEqual([topicsOf(state)[1], coresOf(state)[1]], place);
    }
  });

  it('names every topic and puts it into a topic cluster', () => {
    const state = freshState();
    for (const [at, text] of ['cancel my order', 'track my parcel'].entries())
      state.createTopic([microOf(state, axis(at), text, 5)]);
    regroupIfDue(state);
    const { topics, clusters } = state;
    deepEqual(
      topics.map(({ name, cluster }) => [name, clusters[cluster]?.name]),
      [
        ['Cancel order', 'Cancel order'],
        ['Track parcel', 'Track parcel'],
      ],
    );
  });

  it('waits until enough requests have come', () => {
    const state = freshState();
    microOf(state, axis(0), 'cancel my order', 3);
    state.nextRegrouping = 4;
    regroupIfDue(state);
    deepEqual([topicsOf(state), state.nextRegrouping], [[-1], 4]);
    microOf(state, axis(1), 'track my parcel');
    regroupIfDue(state);
    deepEqual([topicsOf(state), state.nextRegrouping], [[0, -1], 6]);
  });
});
