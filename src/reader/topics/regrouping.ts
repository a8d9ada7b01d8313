/**
 * Regroups topics: the periodic step that may change earlier assignments. Keeps the invariant that cores move only for
 * a clear gain, since a topic is a commitment: two topics merge only if they are as similar as the requests of one and
 * no person decided on either; a part leaves only if it is clearly another matter. Waiting requests are grouped again
 * and placed by the test of arrival. Names and topic clusters follow.
 *
 * Test: test/reader/topics/regrouping.test.ts.
 */
import { averageLinkage, groupsAfter } from '../numeric/linkage.ts';
import { cosineWithCore, placeOf } from './assignment.ts';
import { CoreIndex, coresOf, mergeCores, saveLengths, type Core } from './cores.ts';
import { weightOf } from './micro-cluster.ts';
import { renameChangedTopics } from './naming/topic-names.ts';
import { placeOwnTopics } from './own-topic-clusters.ts';
import { recluster } from './topic-clusters.ts';
import { CLEAR_GAIN, createTopicOf } from './topic-creation.ts';
import type { TopicState } from './topic-state.ts';

/**
 * Number of requests at which to regroup next: at 3, 4, 6, 9, …, then every 500 and gradually less often, down to every
 * 5,000, because new requests change less and less.
 */
export function nextRegroupingAfter(requests: number): number {
  if (requests < 1000) return Math.min(Math.floor(requests * 1.5), requests + 500);
  return requests + Math.min(5000, Math.max(500, Math.floor(requests / 10)));
}

/** Regroups if enough requests have come since the last time. */
export function regroupIfDue(state: TopicState): void {
  if (state.requests < state.nextRegrouping) return;
  regroup(state);
  state.nextRegrouping = nextRegroupingAfter(state.requests);
}

function regroup(state: TopicState): void {
  releaseStrangers(state);
  createTopicsOfWaiting(state);
  const cores = mergeTopics(state);
  saveLengths(cores, state);
  placeWaiting(state, new CoreIndex(cores, state.thresholds.scale));
  const overview = state.overview();
  renameChangedTopics(state, overview);
  recluster(state, overview);
  placeOwnTopics(state);
}

/**
 * Splits the core of each topic by average linkage if it clearly is no longer one. The largest part keeps the topic and
 * its id; the others stay loose in the topic until they find a better place.
 */
function releaseStrangers({ micros, thresholds }: TopicState): void {
  const { topic: least, scale } = thresholds;
  for (const members of micros.byTopic().values()) {
    const core = members.filter((micro) => micro.core);
    const weights = core.map(({ weight }) => weight);
    const merges = averageLinkage(micros.pairTotals(core, scale), weights, least - CLEAR_GAIN * scale);
    const parts = groupsAfter(core, merges);
    const heaviest = Math.max(...parts.map(weightOf));
    const kept = parts.find((part) => weightOf(part) === heaviest);
    for (const part of parts)
      if (part !== kept) for (const micro of part) micros.moveToTopic(micro, micro.topic, false);
  }
}

/** Groups all waiting micro-clusters by average linkage; groups with enough requests become topics. */
function createTopicsOfWaiting(state: TopicState): void {
  const { micros, thresholds } = state;
  const waiting = micros.live.filter(({ core }) => !core);
  const weights = waiting.map(({ weight }) => weight);
  const merges = averageLinkage(micros.pairTotals(waiting, thresholds.scale), weights, thresholds.topic);
  for (const members of groupsAfter(waiting, merges)) {
    if (createTopicOf(state, members) !== null) continue;
    for (const micro of members) micros.moveToWaitingGroup(micro, members[0]!.number);
  }
}

/** Merges topics that are as similar as the requests of one. Returns the remaining cores. */
function mergeTopics(state: TopicState): Core[] {
  const least = state.thresholds.topic + state.thresholds.hysteresis;
  return mergeCores(coresOf(state), state, least, (larger, smaller) => {
    for (const micro of state.micros.live)
      if (micro.topic === smaller) state.micros.moveToTopic(micro, larger, micro.core);
    state.changeTopic(state.topics[smaller]!, { heir: larger, since: state.position });
  });
}

/** Places waiting micro-clusters by the test of arrival. A loose one changes its topic only for a clear gain. */
function placeWaiting(state: TopicState, cores: CoreIndex): void {
  const { micros, topics, thresholds } = state;
  for (const micro of micros.live) {
    if (micro.core) continue;
    const similarities = cores.similaritiesTo(micro);
    const { topic, core } = placeOf(state, similarities);
    const { groups, totals, weights } = similarities;
    if (core) cores.add(micro, topic);
    const cosineWith = (number: number): number => {
      const at = groups.indexOf(number);
      return cosineWithCore(totals[at]! / weights[at]!, topics[number]!, thresholds);
    };
    const stays =
      !core && micro.topic >= 0 && (topic < 0 || cosineWith(topic) - cosineWith(micro.topic) < CLEAR_GAIN);
    if (!stays) micros.moveToTopic(micro, topic, core);
  }
}
