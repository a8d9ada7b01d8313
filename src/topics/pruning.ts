/**
 * Pruning keeps an instance's micro-clusters within bounds, however different its requests are. It merges the most
 * similar ones, never across topics and claims, and lets later requests join micro-clusters more easily.
 */
import { averageLinkage } from '../numeric/linkage.ts';
import { createTopicIfDue } from './topic-creation.ts';
import type { TopicState } from './topic-state.ts';

/** More micro-clusters than this are pruned to `KEPT_MICROS`. */
const MOST_MICROS = 1000;
const KEPT_MICROS = 700;
/** Each pruning lowers by this the cosine from which a request joins a micro-cluster. */
const RELAXATION = 0.02;
/** Keeps micro-clusters of different topics apart: no similarity makes up for it. */
const NEVER = -4;

/** Prunes when there are more than `MOST_MICROS` micro-clusters. */
export function pruneIfDue(state: TopicState): void {
  if (state.micros.live.length <= MOST_MICROS) return;
  const { micros, thresholds } = state;
  const totals = micros.pairTotals(NEVER, ({ topic, core, claim }) => `${topic} ${core} ${claim}`);
  const rows = [...micros.live];
  const weights = rows.map(({ weight }) => weight);
  const surplus = rows.length - KEPT_MICROS;
  // The most similar pairs come first whatever the threshold is. A high one is faster and most often gives enough.
  let merges = averageLinkage(totals, weights, thresholds.topic);
  if (merges.length < surplus) merges = averageLinkage(totals, weights, -1);
  for (const { a, b } of merges.slice(0, surplus)) {
    micros.merge(micros.resolve(rows[a]!.number), micros.resolve(rows[b]!.number));
  }
  micros.compact();
  state.relaxation += RELAXATION;
  const waiting = Map.groupBy(
    micros.live.filter(({ core }) => !core),
    ({ waitingGroup }) => waitingGroup,
  );
  for (const members of waiting.values()) createTopicIfDue(state, members);
}
