/**
 * Assigns a request to a topic online, in stream order. A request joins the nearest micro-cluster and thereby its
 * topic; if none is near enough, it becomes a micro-cluster of its own, which `placeOf` places. Keeps the invariant
 * that it never moves an earlier request; regrouping places by the same test.
 *
 * Test: test/reader/topics/topics.test.ts.
 */
import { LEAST_OWN_SHARE } from './centroid-similarity.ts';
import type { MicroCluster } from './micro-cluster.ts';
import type { GroupSimilarities } from './group-similarities.ts';
import type { Place } from './micro-clusters.ts';
import { addRequest } from './naming/wording.ts';
import type { ReadRequest } from './read-request.ts';
import type { InstanceThresholds } from './instance-thresholds.ts';
import type { Topic, TopicState } from './topic-state.ts';

/** Share of the topic threshold, above the similarity floor, from which a request is loosely in the nearest topic. */
const LOOSE_SHARE = 0.67;

/** Adds a request to the micro-cluster that it joins, or to a new one, and returns that. */
export function assignRequest(
  state: TopicState,
  vector: Float32Array,
  request: ReadRequest,
  position: number,
): MicroCluster {
  const { micros, thresholds, own } = state;
  const corrections = state.corrections.near(vector, thresholds.micro);
  micros.measure(vector);
  const keys = request.keys();
  const claim = own.claimOf(vector, keys, thresholds);
  // What a person decided holds for a whole micro-cluster: a request joins none without the decisions on it.
  const isAlike =
    own.size === 0 && corrections.length === 0
      ? undefined
      : (micro: MicroCluster): boolean =>
          micro.claim === claim && corrections.every((one) => micro.corrections.includes(one));
  let nearest = micros.nearest(thresholds.micro, isAlike);
  let place: Place | null = null;
  if (nearest === null) {
    const { topic, core } = (place = placeOf(state, micros.similaritiesByGroup(keys, thresholds.scale)));
    if (state.relaxation > 0)
      nearest = micros.nearest(
        joiningThreshold(state),
        (micro) => micro.topic === topic && micro.core === core && (isAlike?.(micro) ?? true),
      );
  }
  if (nearest !== null) micros.join(nearest, vector, keys);
  const micro = nearest?.micro ?? micros.create(vector, keys, position, place!, { claim, corrections });
  for (const stem of addRequest(micro, request, nearest?.cosine ?? 1)) micros.words.count(micro, stem, 1);
  return micro;
}

/**
 * The micro-cluster with a topic that a request with this vector would join; null if there is none. Changes nothing.
 */
export function nearestTopicalMicro(state: TopicState, vector: Float32Array): MicroCluster | null {
  state.micros.measure(vector);
  return state.micros.nearest(joiningThreshold(state), ({ topic }) => topic >= 0)?.micro ?? null;
}

/**
 * Places requests by their similarities to the groups. They join the core of the topic with the greatest mean
 * similarity, if it reaches the topic threshold and no waiting group is nearer. Otherwise they wait with the nearest
 * waiting group, loosely in the topic with the nearest centroid, or in none. Ties go to the earlier group.
 */
export function placeOf(
  { topics, thresholds }: TopicState,
  { groups, totals, weights }: GroupSimilarities,
): Place {
  let [core, loose, waiting] = [-1, -1, -1];
  let [nearestCore, nearestLoose, nearestWaiting] = [-Infinity, -Infinity, -Infinity];
  for (let index = 0; index < groups.length; index += 1) {
    const group = groups[index]!;
    const similarity = totals[index]! / weights[index]!;
    if (group < 0) {
      if (similarity > nearestWaiting) [waiting, nearestWaiting] = [-1 - group, similarity];
      continue;
    }
    if (similarity > nearestCore) [core, nearestCore] = [group, similarity];
    const cosine = cosineWithCore(similarity, topics[group]!, thresholds);
    if (cosine > nearestLoose) [loose, nearestLoose] = [group, cosine];
  }
  const { topic: least, floor, scale } = thresholds;
  if (nearestCore >= least && nearestCore >= nearestWaiting)
    return { topic: core, core: true, waitingGroup: null };
  const waitingGroup = nearestWaiting >= least ? waiting : null;
  const isLoose = nearestLoose >= ((least - floor) / scale) * LOOSE_SHARE;
  return { topic: isLoose ? loose : -1, core: false, waitingGroup };
}

/**
 * Cosine of requests with the centroid of a topic's core, without the part that all requests share. `similarity`: their
 * mean similarity to the core.
 */
export function cosineWithCore(
  similarity: number,
  { length }: Topic,
  { floor, scale }: InstanceThresholds,
): number {
  if (floor === 0) return similarity / length;
  return (similarity - floor) / Math.sqrt(scale * Math.max(length * length - floor, LEAST_OWN_SHARE * scale));
}

/** Corrects the micro-clusters that a request with this vector may be in: those near enough, else the nearest. */
export function correctMicros(state: TopicState, vector: Float32Array, correction: number): void {
  const { micros, thresholds } = state;
  micros.measure(vector);
  const nearest = micros.nearest(joiningThreshold(state));
  const near = micros.within(thresholds.micro);
  for (const micro of near.length === 0 && nearest !== null ? [nearest.micro] : near)
    micros.correct(micro, correction);
}

/** Least cosine with the centroid of a micro-cluster at which a request joins it. */
function joiningThreshold({ thresholds: { micro, topic, scale }, relaxation }: TopicState): number {
  return Math.max((micro + topic) / 2, micro - relaxation * scale);
}
