/**
 * Groups topics with similar centroids into topic clusters. While topics are few, all clusters are formed again at each
 * new topic; later a new topic joins one, and all are formed again at the next regrouping. `cluster-inheritance.ts`
 * decides which cluster keeps which id.
 *
 * Test: test/reader/topics/topic-clusters.test.ts.
 */
import { averageLinkage, groupsAfter } from '../numeric/linkage.ts';
import { startOfRow } from '../numeric/lower-triangle.ts';
import { dotsOf } from '../numeric/vectors.ts';
import { centroidSimilarity, type TopicSum } from './centroid-similarity.ts';
import { inherit } from './cluster-inheritance.ts';
import { isOutgrown, nameCluster } from './naming/topic-names.ts';
import { sharedPairs } from './request-keys.ts';
import { HYSTERESIS, type InstanceThresholds } from './instance-thresholds.ts';
import type { Overview, Topic, TopicCluster, TopicState } from './topic-state.ts';

/** Bonus on the similarity of topics whose requests all name the same thing, so that they form a cluster. */
const THING_BONUS = 0.2;
/**
 * A single topic joins the nearest cluster from this share of the threshold on, once there are this many topics. With
 * fewer, the nearest may be about something else.
 */
const LONELY = { share: 0.5, topics: 30 };

/** Clusters all topics anew by average linkage of their centroids. Every topic counts the same, whatever its size. */
export function recluster(state: TopicState, overview: Overview): void {
  const groups = linkedTopics(state, topicSums(state, overview));
  const inherited = inherit(
    groups.map((group) => group.map(({ topic, weight }) => ({ holder: topic.cluster, weight }))),
  );
  const inUse = new Set(inherited);
  const formed = groups.map((group, index) => {
    const topics = group.map(({ topic }) => topic);
    const number = inherited[index]!;
    const cluster = number >= 0 ? state.clusters[number]! : createCluster(state, topics, inUse);
    inUse.add(cluster.number);
    return { cluster, topics, weight: group.reduce((sum, { weight }) => sum + weight, 0) };
  });
  const clusters = formed.map(({ cluster }) => cluster);
  for (const { cluster, topics, weight } of formed) {
    for (const topic of topics) moveToCluster(state, topic, cluster);
    if (!isOutgrown(cluster, weight)) continue;
    const others = clusters.filter((other) => other !== cluster);
    nameCluster(state, cluster, topics, others, overview);
  }
}

/** Moves a topic into the cluster with the greatest mean similarity to it, or into a new one. */
export function joinCluster(state: TopicState, topic: Topic, overview: Overview): void {
  const clusters = similaritiesToClusters(state, topic, overview);
  let nearest: TopicCluster | null = null;
  let greatest = clusterThreshold(state.thresholds);
  for (const [number, { total, topics }] of clusters) {
    const similarity = total / topics;
    if (number < 0 || similarity < greatest || (nearest !== null && similarity === greatest)) continue;
    nearest = state.clusters[number]!;
    greatest = similarity;
  }
  const inUse = new Set(clusters.keys());
  const cluster = nearest ?? createCluster(state, [topic], inUse);
  moveToCluster(state, topic, cluster);
  if (nearest !== null) return;
  const others = [...inUse].flatMap((number) => state.clusters[number] ?? []);
  nameCluster(state, cluster, [topic], others, overview);
}

function topicSums({ topics, micros }: TopicState, { members }: Overview): TopicSum[] {
  return [...members]
    .sort(([x], [y]) => x - y)
    .map(([number, own]) => ({ topic: topics[number]!, ...micros.sumsOfTopic(number, own) }));
}

/** Groups topics by average linkage. Topics and groups ascend by number. */
function linkedTopics({ thresholds, centroids }: TopicState, topics: readonly TopicSum[]): TopicSum[][] {
  const { floor } = thresholds;
  const cosines = centroids.of(topics);
  const norms = topics.map(({ norm, weight }) => (floor === 0 ? 1 : norm / weight));
  const totals = new Float64Array(startOfRow(topics.length));
  for (let row = 1, at = 0; row < topics.length; row += 1) {
    const { cluster } = topics[row]!.topic;
    for (let other = 0; other < row; other += 1, at += 1) {
      const peer = topics[other]!.topic.cluster;
      const hysteresis = cluster < 0 || peer < 0 ? 0 : cluster === peer ? HYSTERESIS : -HYSTERESIS;
      totals[at] =
        centroidSimilarity(cosines[at]!, norms[row]!, norms[other]!, floor) +
        thingBonus(topics[row]!, topics[other]!) +
        hysteresis;
    }
  }
  const sizes = topics.map(() => 1);
  const threshold = clusterThreshold(thresholds);
  const groups = groupsAfter(topics, averageLinkage(totals, sizes, threshold));
  return topics.length < LONELY.topics
    ? groups
    : withoutLonely(topics, groups, totals, threshold * LONELY.share);
}

/**
 * Joins each group of one topic to the larger group with the greatest mean similarity to it, if that is at least
 * `least`.
 */
function withoutLonely(
  topics: readonly TopicSum[],
  groups: readonly TopicSum[][],
  totals: Float64Array,
  least: number,
): TopicSum[][] {
  const rows = new Map(topics.map((topic, row) => [topic, row]));
  const similarity = (a: TopicSum, b: TopicSum): number => {
    const [x, y] = [rows.get(a)!, rows.get(b)!];
    return totals[startOfRow(Math.max(x, y)) + Math.min(x, y)]!;
  };
  const several = groups.filter((group) => group.length > 1);
  const joined = new Map(several.map((group) => [group, [...group]]));
  const alone: TopicSum[][] = [];
  for (const group of groups) {
    if (group.length > 1) continue;
    const [topic] = group as [TopicSum];
    const means = several.map(
      (other) => other.reduce((sum, peer) => sum + similarity(topic, peer), 0) / other.length,
    );
    const greatest = Math.max(...means);
    if (greatest >= least) joined.get(several[means.indexOf(greatest)]!)!.push(topic);
    else alone.push(group);
  }
  return [...joined.values(), ...alone];
}

function thingBonus(a: TopicSum, b: TopicSum): number {
  return THING_BONUS * (sharedPairs(a.things, b.things) / (a.weight * b.weight));
}

/** Sums of similarities between a topic and each cluster's topics; −1 stands for no cluster. */
function similaritiesToClusters(
  state: TopicState,
  topic: Topic,
  overview: Overview,
): Map<number, { total: number; topics: number }> {
  const all = topicSums(state, overview);
  const own = all.find(({ topic: other }) => other === topic)!;
  const others = all.filter((other) => other !== own);
  const dots = new Float64Array(others.length);
  dotsOf(
    own.sum,
    others.map(({ sum }) => sum),
    dots,
  );
  const clusters = new Map<number, { total: number; topics: number }>();
  for (const [index, other] of others.entries()) {
    const similarity = centroidSimilarity(
      dots[index]! / (own.norm * other.norm),
      own.norm / own.weight,
      other.norm / other.weight,
      state.thresholds.floor,
    );
    const { total, topics } = clusters.get(other.topic.cluster) ?? { total: 0, topics: 0 };
    clusters.set(other.topic.cluster, {
      total: total + similarity + thingBonus(own, other),
      topics: topics + 1,
    });
  }
  return clusters;
}

/** The least `centroidSimilarity` at which topics form one cluster. */
function clusterThreshold({ cluster, floor, scale }: InstanceThresholds): number {
  return (cluster - floor) / scale;
}

function moveToCluster(state: TopicState, topic: Topic, cluster: TopicCluster): void {
  if (topic.cluster !== cluster.number) state.changeTopic(topic, { cluster: cluster.number });
}

/** A cluster with the identity of its first topic. An unused cluster of that identity is reused. */
function createCluster(
  { clusters }: TopicState,
  topics: readonly Topic[],
  inUse: ReadonlySet<number>,
): TopicCluster {
  const position = Math.min(...topics.map((topic) => topic.position));
  for (let round = 1; ; round += 1) {
    const origin = round === 1 ? String(position) : `${position}:${round}`;
    const former = clusters.find((cluster) => cluster.origin === origin);
    if (former !== undefined && inUse.has(former.number)) continue;
    if (former !== undefined) return former;
    const cluster = { number: clusters.length, origin, isOwn: false, name: '', namedAt: 0 };
    clusters.push(cluster);
    return cluster;
  }
}
