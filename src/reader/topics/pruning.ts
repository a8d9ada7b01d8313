/**
 * Keeps an instance's micro-clusters within bounds, however different its requests are. Merges the most similar ones,
 * never across topics, claims and corrections, and lowers the threshold for later requests to join one.
 *
 * Test: test/reader/topics/pruning.test.ts.
 */
import { MOST_CORRECTIONS } from '../../domain/curations.ts';
import { averageLinkage } from '../numeric/linkage.ts';
import type { MicroCluster } from './micro-cluster.ts';
import { createTopicIfDue } from './topic-creation.ts';
import type { TopicState } from './topic-state.ts';

/** Above this number, micro-clusters are pruned to `KEPT_MICROS`. */
const MOST_MICROS = 1000;
const KEPT_MICROS = 700;
/** Each pruning lowers the threshold to join a micro-cluster by this cosine (on a similarity scale of 1). */
const RELAXATION = 0.02;
/** Prunes if there are more than `MOST_MICROS` micro-clusters. */
export function pruneIfDue(state: TopicState): void {
  const { micros, thresholds } = state;
  if (micros.live.length <= MOST_MICROS) return;
  // Corrected ones stand beside the bound, as each may differ from all others.
  const corrected = micros.live.filter(({ corrections }) => corrections.length > 0).length;
  const bounded = micros.live.length - Math.min(corrected, MOST_CORRECTIONS);
  if (bounded <= MOST_MICROS) return;
  const groups = [
    ...Map.groupBy(
      micros.live,
      ({ topic, core, claim, corrections }) => `${topic} ${core} ${claim} ${corrections.join()}`,
    ).values(),
  ];
  const surplus = bounded - KEPT_MICROS;
  // The threshold does not change the order of merges. A high one is faster and mostly yields enough.
  let merges = groups.flatMap((group) => mergesIn(state, group, thresholds.topic));
  if (merges.length < surplus) merges = groups.flatMap((group) => mergesIn(state, group, -1));
  merges.sort((x, y) => y.similarity - x.similarity);
  for (const merge of merges.slice(0, surplus)) {
    const [kept, gone] = [micros.resolve(merge.kept.number), micros.resolve(merge.gone.number)];
    micros.merge(kept, gone);
    for (const micro of [kept, gone]) state.touch(micro);
  }
  micros.compact();
  state.relaxation += RELAXATION;
  const waiting = Map.groupBy(
    micros.live.filter(({ core }) => !core),
    ({ waitingGroup }) => waitingGroup,
  );
  for (const members of waiting.values()) createTopicIfDue(state, members);
}

interface MicroMerge {
  readonly kept: MicroCluster;
  readonly gone: MicroCluster;
  readonly similarity: number;
}

/** The possible merges within a group, most similar first. */
function mergesIn({ micros }: TopicState, group: readonly MicroCluster[], least: number): MicroMerge[] {
  const weights = group.map(({ weight }) => weight);
  return averageLinkage(micros.pairTotals(group, 0), weights, least).map(({ a, b, similarity }) => ({
    kept: group[a]!,
    gone: group[b]!,
    similarity,
  }));
}
