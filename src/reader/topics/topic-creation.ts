/**
 * Creates topics: a waiting group becomes one once it has enough requests. Three are enough for a group outside all
 * topics. A group of requests that are loose in topics must be large for its instance and clearly more similar to
 * itself than to any topic. Keeps the invariant that topics do not crumble.
 *
 * Test: test/reader/topics/topics.test.ts.
 */
import { dotOf } from '../numeric/vectors.ts';
import { joinCluster, recluster } from './topic-clusters.ts';
import { sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { nameTopic } from './naming/topic-names.ts';
import type { Topic, TopicState } from './topic-state.ts';

/** Least requests of a waiting group that becomes a topic. */
export const LEAST_REQUESTS = 3;

/** Above this number of topics, a new one joins a topic cluster; clusters are formed again at the next regrouping. */
const FEW_TOPICS = 100;
/**
 * Least requests of a group, as a multiple of the square root of the instance's requests: outside all topics, and loose
 * in topics.
 */
const LEAST_ROOT = { free: 0.1, loose: 0.25 };
/**
 * A clear gain in similarity, on a similarity scale of 1: the lead of a waiting group over any topic, of a part that
 * leaves its core, and of another topic for a loose micro-cluster.
 */
export const CLEAR_GAIN = 0.1;

/** Turns a waiting group into a topic if it has enough requests. */
export function createTopicIfDue(state: TopicState, members: readonly MicroCluster[]): void {
  const topic = createTopicOf(state, members);
  if (topic === null) return;
  const overview = state.overview();
  nameTopic(state, topic, overview);
  if (overview.members.size <= FEW_TOPICS) recluster(state, overview);
  else joinCluster(state, topic, overview);
}

/** Creates a topic of these micro-clusters, without a name; null if they are not enough. */
export function createTopicOf(state: TopicState, members: readonly MicroCluster[]): Topic | null {
  const weight = weightOf(members);
  const root = Math.sqrt(state.requests);
  if (weight < Math.max(LEAST_REQUESTS, LEAST_ROOT.free * root)) return null;
  const isHeld = weightOf(members.filter(({ topic }) => topic >= 0)) * 2 > weight;
  return isHeld && !leavesTopics(state, members, weight) ? null : state.createTopic(members);
}

/** True if a group of loose requests is large enough, and different enough from all topics, to leave them. */
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
