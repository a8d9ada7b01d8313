/**
 * Who names: when a topic or topic cluster gets a (new) name, and from which words. A name changes only when the group
 * has clearly grown or shrunk since it was named, so that readers do not see it flicker.
 */
import { weightOf } from '../micro-cluster.ts';
import type { Overview, Topic, TopicCluster, TopicState } from '../topic-state.ts';
import { namesOf, uniqueName } from './names.ts';
import { meanShares, pairUses, samplesOf, wordShares } from './wording.ts';

/** A topic gets a new name when it has this many times the requests it was named for, or fewer than those. */
const TOPIC_GROWTH = 1.2;
/** A topic cluster gets a new name when it has this many times the requests it was named for. */
const CLUSTER_GROWTH = 2;
/** The heaviest topics of a cluster give this many samples each for its name. */
const TOPICS_PER_NAME = 12;
const SAMPLES_PER_TOPIC = 8;

/** Gives a topic a name that no other topic with requests has. */
export function nameTopic(state: TopicState, topic: Topic, { members, frequencies }: Overview): void {
  const own = members.get(topic.number)!;
  const others = [...members.keys()].filter((number) => number !== topic.number);
  const names = namesOf(
    { samples: samplesOf(own), shares: wordShares(own), pairs: pairUses(own) },
    frequencies,
  );
  state.changeTopic(topic, {
    name: uniqueName(names, new Set(others.map((number) => state.topics[number]!.name))),
    namedAt: weightOf(own),
  });
}

/** Names the topics that have grown or lost requests since they got their names. */
export function renameChangedTopics(state: TopicState, overview: Overview): void {
  for (const [number, members] of [...overview.members].sort(([x], [y]) => x - y)) {
    const topic = state.topics[number]!;
    const weight = weightOf(members);
    if (weight < topic.namedAt || weight >= topic.namedAt * TOPIC_GROWTH) nameTopic(state, topic, overview);
  }
}

/** Whether a topic cluster needs a (new) name. */
export function isOutgrown({ namedAt }: TopicCluster, weight: number): boolean {
  return namedAt === 0 || weight >= namedAt * CLUSTER_GROWTH;
}

/** Gives the cluster of `topics` a name that none of `others` has. */
export function nameCluster(
  state: TopicState,
  cluster: TopicCluster,
  topics: readonly Topic[],
  others: readonly TopicCluster[],
  overview: Overview,
): void {
  const weights = new Map(topics.map((topic) => [topic, weightOf(overview.members.get(topic.number)!)]));
  const byWeight = [...topics].sort((x, y) => weights.get(y)! - weights.get(x)! || x.number - y.number);
  const heaviest = byWeight[0]!.name;
  const names = topics.length === 1 ? [heaviest] : [...sharedNames(topics, byWeight, overview), heaviest];
  state.clusterChanges.note(cluster.number, cluster.name);
  state.clusterChanges.markUnsaved(cluster.number);
  cluster.name = uniqueName(names, new Set(others.map(({ name }) => name)));
  cluster.namedAt = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
}

/** Names for several topics together; each topic counts the same. */
function sharedNames(
  topics: readonly Topic[],
  byWeight: readonly Topic[],
  { members, frequencies }: Overview,
): string[] {
  const samples = byWeight.slice(0, TOPICS_PER_NAME).flatMap(({ number }) => {
    const own = samplesOf(members.get(number)!).slice(0, SAMPLES_PER_TOPIC);
    const total = own.reduce((sum, { weight }) => sum + weight, 0);
    return own.map(({ text, weight }) => ({ text, weight: weight / total }));
  });
  const shares = topics.map(({ number }) => wordShares(members.get(number)!));
  return namesOf({ samples, shares: meanShares(shares) }, frequencies, 'cluster');
}
