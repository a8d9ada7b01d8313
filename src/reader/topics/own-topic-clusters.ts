/**
 * Places own topics: each stands in the topic cluster of most of its claimed requests. One that claims nothing yet
 * stands in that of the topic nearest to its examples.
 *
 * Test: test/reader/topics/own-topics.test.ts.
 */
import { addTo, dotOf, normOf } from '../numeric/vectors.ts';
import { largestShare } from './cluster-inheritance.ts';
import type { Overview, Topic, TopicState } from './topic-state.ts';

/** Moves each own topic to its topic cluster. */
export function placeOwnTopics(state: TopicState): void {
  if (state.own.size === 0) return;
  let overview: Overview | null = null;
  for (const topic of state.topics) {
    if (!state.own.holds(topic.number)) continue;
    const cluster =
      clusterOfClaims(state, topic) ?? clusterOfExamples(state, topic, (overview ??= state.overview()));
    if (cluster !== topic.cluster) state.changeTopic(topic, { cluster });
  }
}

function clusterOfClaims({ micros, topics }: TopicState, { number }: Topic): number | null {
  const claimed = micros.live.filter(({ claim, topic }) => claim === number && topic >= 0);
  const holdings = claimed.map(({ topic, weight }) => ({ holder: topics[topic]!.cluster, weight }));
  return largestShare(holdings)?.holder ?? null;
}

function clusterOfExamples(
  { micros, topics, own, dimensions }: TopicState,
  { number }: Topic,
  { members: found }: Overview,
): number {
  const mean = new Float32Array(dimensions);
  for (const { vector } of own.examplesOf(number)) addTo(mean, vector);
  if (normOf(mean) === 0) return -1;
  let [nearest, greatest] = [-1, -Infinity];
  for (const [topic, members] of [...found].sort(([x], [y]) => x - y)) {
    const { sum, norm } = micros.sumsOfTopic(topic, members);
    const similarity = dotOf(sum, mean) / norm;
    if (similarity > greatest) [nearest, greatest] = [topics[topic]!.cluster, similarity];
  }
  return nearest;
}
