/**
 * The ids of topics and topic clusters. That of a topic follows from the message that it was found in, so a replay gives
 * the same; that of a cluster from the topic that it began with. Covered by test/reader/topics/topics.test.ts.
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
