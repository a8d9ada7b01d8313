/**
 * Who decides regrouping, the periodic step in which history may move. A topic is a commitment, so its core moves for a
 * clear gain only: two topics merge when they are as similar as one topic is, unless a person decided about one of
 * them, and a part that clearly is another matter leaves. What waits is grouped again and placed by the test of
 * arrival. Names and topic clusters follow.
 */
import { averageLinkage, groupsAfter } from '../numeric/linkage.ts';
import { cosineWithCore, placeOf } from './assignment.ts';
import { CoreIndex, coresOf, mergeCores, saveLengths, type Core } from './cores.ts';
import { weightOf } from './micro-cluster.ts';
import { renameChangedTopics } from './naming/topic-names.ts';
import { placeOwnTopics } from './own-topic-clusters.ts';
import { recluster } from './topic-clusters.ts';
import { createTopicOf } from './topic-creation.ts';
import type { TopicState } from './topic-state.ts';

/** For this much, on a similarity scale of 1, a part leaves its core, and what is loose changes its topic. */
const CLEAR_GAIN = 0.1;

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
 * Divides the core of each topic by average linkage, where it clearly is no longer one. The largest part keeps the
 * topic and its id; what is released stays loose in the topic until it has a better place.
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

/** Groups all that waits, by average linkage; groups with enough requests become topics. */
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

/** Merges topics that are as similar as the requests of one, and returns the cores that are left. */
function mergeTopics(state: TopicState): Core[] {
  const least = state.thresholds.topic + state.thresholds.hysteresis;
  return mergeCores(coresOf(state), state, least, (larger, smaller) => {
    for (const micro of state.micros.live)
      if (micro.topic === smaller) state.micros.moveToTopic(micro, larger, micro.core);
    state.changeTopic(state.topics[smaller]!, { heir: larger, since: state.position });
  });
}

/** Places what waits by the test of arrival. What is loose changes its topic for a clear gain only. */
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
