/**
 * A new topic between two regroupings: a waiting group becomes one as soon as it has enough requests.
 * Covered by test/topics/topics.test.ts.
 */
import { joinCluster, recluster } from './topic-clusters.ts';
import { weightOf } from './micro-cluster.ts';
import { nameTopic } from './naming/topic-names.ts';
import { LEAST_REQUESTS, type TopicState } from './topic-state.ts';

/** With more topics than this, a new one joins a topic cluster; the clusters are formed anew at the next regrouping. */
const FEW_TOPICS = 100;

/** Makes a waiting group a topic when it has enough requests. */
export function createTopicIfDue(state: TopicState, waitingGroup: number): void {
  const members = state.micros.inWaitingGroup(waitingGroup);
  if (weightOf(members) < LEAST_REQUESTS) return;
  const topic = state.createTopic(members);
  if (topic === null) return;
  const overview = state.overview();
  nameTopic(state, topic, overview);
  if (overview.members.size <= FEW_TOPICS) recluster(state, overview);
  else joinCluster(state, topic, overview);
}
