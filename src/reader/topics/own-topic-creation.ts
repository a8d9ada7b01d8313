/**
 * Creates an own topic.
 *
 * Test: test/reader/topics/own-topics.test.ts.
 */
import { otherTopicId } from '../../domain/curations.ts';
import { derivedId } from '../../domain/ids.ts';
import type { MicroCluster } from './micro-cluster.ts';
import { placeOwnTopics } from './own-topic-clusters.ts';
import type { TopicState } from './topic-state.ts';

export interface NewTopic {
  /** UUID. */
  readonly id: string;
  /** Message position at which it was made. */
  readonly position: number;
  readonly name: string;
  readonly description: string;
  /** Its examples, and their vectors of unit length. */
  readonly texts: readonly string[];
  readonly vectors: readonly Float32Array[];
  /** True if it also claims earlier requests, by whole micro-clusters. */
  readonly fromBeginning: boolean;
}

const OTHER = { name: 'Other', description: 'Requests that no topic made by people claims.' } as const;

/** Makes a topic that claims requests from now on, and returns its number. */
export function createOwnTopic(state: TopicState, made: NewTopic): number {
  const { id, position, name, description, texts, vectors, fromBeginning } = made;
  const { number } = state.createOwnTopic({ position, name, own: { id, description } });
  state.own.add(number, texts, vectors);
  state.ownChanges.markUnsaved(number);
  if (fromBeginning)
    for (const micro of state.micros.live)
      if (claimOf(state, micro) === number) state.micros.claim(micro, number);
  placeOwnTopics(state);
  return number;
}

/**
 * Makes the topic Other, in a topic cluster of its own, and returns its number. It claims nothing: what shows it follows
 * from the decisions in effect.
 */
export function createOther(state: TopicState, position: number): number {
  const { instanceId, clusters, clusterChanges } = state;
  const cluster = clusters.length;
  const origin = derivedId(instanceId, 'cluster', 'other');
  clusters.push({ number: cluster, origin, isOwn: true, name: OTHER.name, namedAt: 0 });
  clusterChanges.note(cluster, '');
  clusterChanges.markUnsaved(cluster);
  const own = { id: otherTopicId(instanceId), description: OTHER.description };
  const topic = state.createOwnTopic({ position, name: OTHER.name, own });
  topic.cluster = cluster;
  return topic.number;
}

/** The topic that claims the mean request of a micro-cluster, or −1. */
function claimOf({ own, thresholds }: TopicState, { sum, norm, keys, weight }: MicroCluster): number {
  const mean = sum.map((component) => component / norm);
  return own.claimOf(mean, keys, thresholds, weight);
}
