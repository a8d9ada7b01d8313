/**
 * Who decides regrouping: the periodic step that forms all topics anew by average linkage of the micro-clusters, with
 * hysteresis. A new topic keeps the id of the old one that gave most of its weight, so topics live on while most of
 * their requests stay together. Names and topic clusters follow.
 */
import { averageLinkage, groupsAfter } from '../numeric/linkage.ts';
import { inherit, largestShare, type Holding } from './id-inheritance.ts';
import type { MicroCluster } from './micro-cluster.ts';
import { joinFragments } from './fragments.ts';
import { renameChangedTopics } from './naming/topic-names.ts';
import { recluster } from './topic-clusters.ts';
import type { TopicState } from './topic-state.ts';

/**
 * At 3, 4, 6, 9, … requests; then every 500 and gradually less often, down to every 5,000, as new requests change less
 * and less.
 */
export function nextRegroupingAfter(requests: number): number {
  if (requests < 1000) return Math.min(Math.floor(requests * 1.5), requests + 500);
  return requests + Math.min(5000, Math.max(500, Math.floor(requests / 10)));
}

/** Regroups when enough requests have come since the last time. */
export function regroupIfDue(state: TopicState): void {
  if (state.requests < state.nextRegrouping) return;
  regroup(state);
  state.nextRegrouping = nextRegroupingAfter(state.requests);
}

function regroup(state: TopicState): void {
  const { micros, thresholds } = state;
  const totals = micros.pairTotals({ sameTopic: thresholds.hysteresis, otherTopic: -thresholds.hysteresis });
  const weights = micros.live.map(({ weight }) => weight);
  const groups = groupsAfter(micros.live, averageLinkage(totals, weights, thresholds.topic));
  const { topical, small } = joinFragments(state, groups);
  const topicsBefore = new Map(micros.live.map((micro) => [micro, micro.topic]));
  const inherited = inherit(topical.map(holdingsOf));
  topical.forEach((members, index) => {
    if (inherited[index]! >= 0) moveAll(state, members, inherited[index]!);
  });
  topical.forEach((members, index) => {
    if (inherited[index]! >= 0 || state.createTopic(members) !== null) return;
    const share = largestShare(holdingsOf(members));
    if (share !== null) moveAll(state, members, share.holder);
  });
  settleSmallGroups(state, small, topicsBefore, new Set(inherited));
  const overview = state.overview();
  renameChangedTopics(state, overview);
  recluster(state, overview);
}

/**
 * Groups that form no topic. A group with a topic keeps it while the topic lives on; otherwise it follows the requests
 * of that topic to where most of them went. A group without a topic waits.
 */
function settleSmallGroups(
  state: TopicState,
  small: readonly (readonly MicroCluster[])[],
  topicsBefore: ReadonlyMap<MicroCluster, number>,
  inherited: ReadonlySet<number>,
): void {
  const unsettled = new Set(small.flat());
  const successorOf = (topic: number): number => {
    const moved = state.micros.live.filter(
      (micro) => topicsBefore.get(micro) === topic && !unsettled.has(micro),
    );
    return largestShare(holdingsOf(moved))?.holder ?? topic;
  };
  for (const members of small) {
    const share = largestShare(holdingsOf(members));
    if (share !== null) {
      moveAll(state, members, inherited.has(share.holder) ? share.holder : successorOf(share.holder));
      continue;
    }
    for (const micro of members) state.micros.moveToWaitingGroup(micro, members[0]!.number);
  }
}

function moveAll({ micros }: TopicState, members: readonly MicroCluster[], topic: number): void {
  for (const micro of members) micros.moveToTopic(micro, topic);
}

function holdingsOf(members: readonly MicroCluster[]): Holding[] {
  return members.map(({ topic, weight }) => ({ holder: topic, weight }));
}
