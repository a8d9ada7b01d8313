/**
 * A new topic: a waiting group becomes one as soon as it has enough requests. Three are enough for a group that no
 * topic holds. One whose requests are loose in topics must be large for its instance and clearly more similar to
 * itself than to any topic, so that topics do not crumble.
 * Covered by test/reader/topics/topics.test.ts.
 */
import { dotOf } from '../numeric/vectors.ts';
import { joinCluster, recluster } from './topic-clusters.ts';
import { sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { nameTopic } from './naming/topic-names.ts';
import type { Topic, TopicState } from './topic-state.ts';

/** A waiting group becomes a topic when it has this many requests. */
export const LEAST_REQUESTS = 3;

/**
 * With more topics than this, a new one joins a topic cluster; the clusters are formed again at the next
 * regrouping.
 */
const FEW_TOPICS = 100;
/**
 * A group becomes a topic from this many times the square root of the instance's requests on: one that no topic holds,
 * and one of loose requests.
 */
const LEAST_ROOT = { free: 0.1, loose: 0.25 };
/** Its requests are more similar to one another than to those of any topic by this much, on a similarity scale of 1. */
const CLEAR_GAIN = 0.1;

/** Makes a waiting group a topic when it has enough requests. */
export function createTopicIfDue(state: TopicState, members: readonly MicroCluster[]): void {
  const topic = createTopicOf(state, members);
  if (topic === null) return;
  const overview = state.overview();
  nameTopic(state, topic, overview);
  if (overview.members.size <= FEW_TOPICS) recluster(state, overview);
  else joinCluster(state, topic, overview);
}

/** A topic of these micro-clusters, without a name; null when they are not due to become one. */
export function createTopicOf(state: TopicState, members: readonly MicroCluster[]): Topic | null {
  const weight = weightOf(members);
  const root = Math.sqrt(state.requests);
  if (weight < Math.max(LEAST_REQUESTS, LEAST_ROOT.free * root)) return null;
  const isHeld = weightOf(members.filter(({ topic }) => topic >= 0)) * 2 > weight;
  return isHeld && !leavesTopics(state, members, weight) ? null : state.createTopic(members);
}

/** Whether a group of loose requests is large enough, and different enough from all topics, to leave them. */
function leavesTopics(
  { micros, requests, thresholds }: TopicState,
  members: readonly MicroCluster[],
  weight: number,
): boolean {
  if (weight < LEAST_ROOT.loose * Math.sqrt(requests)) return false;
  const sum = sumOf(members);
  const within = (dotOf(sum, sum) - weight) / (weight * (weight - 1));
  const cores = Map.groupBy(
    micros.live.filter(({ core }) => core),
    ({ topic }) => topic,
  );
  return [...cores.values()].every((core) => {
    const similarity =
      core.reduce((total, micro) => total + dotOf(micro.sum, sum), 0) / (weight * weightOf(core));
    return within - similarity >= CLEAR_GAIN * thresholds.scale;
  });
}
