/**
 * What people decided about topics, laid over what was found: topics are found as if nobody had decided anything, but
 * that those somebody decided about no longer merge. So an undo gives back what was found, and a replay ends in the
 * same rows.
 * Covered by test/reader/threads/curations.test.ts.
 */
import type { MicroCluster } from './micro-cluster.ts';
import type { OwnTopics } from './own-topics.ts';

export interface TopicCuration {
  /** Topic → the one that it counts as, and the message position from which it does. Holds no cycle. */
  readonly merges: ReadonlyMap<number, { readonly into: number; readonly since: number }>;
  /** Topic → its topic cluster. */
  readonly moves: ReadonlyMap<number, number>;
  readonly hidden: ReadonlySet<number>;
  /** Topics that somebody decided about. */
  readonly held: ReadonlySet<number>;
}

export const NOTHING_CURATED: TopicCuration = {
  merges: new Map(),
  moves: new Map(),
  hidden: new Set(),
  held: new Set(),
};

/** The topic under which the requests of a micro-cluster are shown, or −1. */
export function shownTopicOf(
  { topic, claim }: Pick<MicroCluster, 'topic' | 'claim'>,
  curation: TopicCuration,
  own: OwnTopics,
): number {
  const found = claim >= 0 && own.isActive(claim) ? claim : topic;
  if (found < 0) return -1;
  const shown = heirOf(found, curation, own);
  return curation.hidden.has(shown) ? -1 : shown;
}

/** The topic that one counts as: itself unless somebody merged it. */
export function heirOf(topic: number, { merges }: TopicCuration, own: OwnTopics): number {
  let heir = topic;
  for (let merge = merges.get(heir); merge !== undefined; merge = merges.get(heir)) {
    if (own.isRetired(merge.into)) break;
    heir = merge.into;
  }
  return heir;
}
