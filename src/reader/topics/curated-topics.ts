/**
 * Applies people's decisions on top of the topics that were found. Keeps the invariant that finding ignores decisions,
 * except that topics under one no longer merge: so an undo restores what was found, and a replay gives the same rows.
 *
 * Test: test/reader/threads/curations.test.ts.
 */
import type { MicroCluster } from './micro-cluster.ts';
import type { OwnTopics } from './own-topics.ts';

export interface TopicCuration {
  /** Topic → the topic that it counts as, and the message position from which it does. Acyclic. */
  readonly merges: ReadonlyMap<number, { readonly into: number; readonly since: number }>;
  /** Topic → its topic cluster. */
  readonly moves: ReadonlyMap<number, number>;
  readonly hidden: ReadonlySet<number>;
  /** Topics that a person decided on. */
  readonly held: ReadonlySet<number>;
}

export const NOTHING_CURATED: TopicCuration = {
  merges: new Map(),
  moves: new Map(),
  hidden: new Set(),
  held: new Set(),
};

/** The topic under which the requests of a micro-cluster are shown, or −1. */
export function visibleTopicOf(
  { topic, claim }: Pick<MicroCluster, 'topic' | 'claim'>,
  curation: TopicCuration,
  own: OwnTopics,
): number {
  const found = claim >= 0 && own.isActive(claim) ? claim : topic;
  if (found < 0) return -1;
  const heir = heirOf(found, curation, own);
  return curation.hidden.has(heir) ? -1 : heir;
}

/** The topic that a topic counts as: itself, unless a person merged it. */
export function heirOf(topic: number, { merges }: TopicCuration, own: OwnTopics): number {
  let heir = topic;
  for (let merge = merges.get(heir); merge !== undefined; merge = merges.get(heir)) {
    if (own.isRetired(merge.into)) break;
    heir = merge.into;
  }
  return heir;
}
