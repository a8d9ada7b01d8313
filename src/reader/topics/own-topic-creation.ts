/**
 * Creates an own topic.
 *
 * Test: test/reader/topics/own-topics.test.ts.
 */
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

/** The topic that claims the mean request of a micro-cluster, or −1. */
function claimOf({ own, thresholds }: TopicState, { sum, norm, keys, weight }: MicroCluster): number {
  const mean = sum.map((component) => component / norm);
  return own.claimOf(mean, keys, thresholds, weight);
}
