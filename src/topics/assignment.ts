/**
 * Who decides that a request joins a topic: online, request by request, in stream order. A request joins the nearest
 * micro-cluster and is in that one's topic; if none is near enough, it becomes a micro-cluster of the nearest topic or
 * waiting group, or on its own. Nothing is moved here that an earlier request decided.
 * Covered by test/topics/topics.test.ts.
 */
import type { MicroCluster } from './micro-cluster.ts';
import { addRequest } from './naming/wording.ts';
import type { TopicState } from './topic-state.ts';

/** Adds a request to the micro-cluster that it joins, which can be a new one. */
export function assignRequest(
  state: TopicState,
  vector: Float32Array,
  request: string,
  position: number,
): MicroCluster {
  const { micros, thresholds } = state;
  micros.measure(vector);
  const nearest = micros.nearest(joiningThreshold(state));
  if (nearest !== null) micros.join(nearest, vector);
  const micro = nearest?.micro ?? micros.create(vector, position, micros.nearestGroup(thresholds.topic));
  for (const stem of addRequest(micro, request, nearest?.cosine ?? 1)) micros.words.count(micro, stem, 1);
  return micro;
}

/** The micro-cluster of a topic that a request with this vector would join, or null. Changes nothing. */
export function nearestTopicalMicro(state: TopicState, vector: Float32Array): MicroCluster | null {
  state.micros.measure(vector);
  return state.micros.nearest(joiningThreshold(state), ({ topic }) => topic >= 0)?.micro ?? null;
}

/** The cosine with a centroid from which a request joins the micro-cluster. */
function joiningThreshold({ thresholds: { micro, topic, scale }, relaxation }: TopicState): number {
  return Math.max((micro + topic) / 2, micro - relaxation * scale);
}
