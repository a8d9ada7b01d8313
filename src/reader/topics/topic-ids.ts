/**
 * The ids of topics and topic clusters. Keeps the invariant that a replay yields the same ids: a topic's id follows
 * from the message that it was found in, a cluster's from its first topic.
 *
 * Test: test/reader/topics/topics.test.ts.
 */

import { derivedId } from '../../domain/ids.ts';
import type { Topic, TopicCluster, TopicState } from './topic-state.ts';

export function topicId(
  { instanceId }: Pick<TopicState, 'instanceId'>,
  { position, own }: Pick<Topic, 'position' | 'own'>,
): string {
  return own?.id ?? derivedId(instanceId, 'topic', String(position));
}

export function clusterId(
  { instanceId }: Pick<TopicState, 'instanceId'>,
  { origin, isOwn }: Pick<TopicCluster, 'origin' | 'isOwn'>,
): string {
  return isOwn ? origin : derivedId(instanceId, 'cluster', origin);
}
