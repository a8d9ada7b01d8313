/**
 * Applies people's decisions on top of the topics that were found. Keeps the invariant that finding ignores decisions,
 * except that topics under one no longer merge: so an undo restores what was found, and a replay gives the same rows.
 *
 * Test: test/reader/threads/curations.test.ts.
 */
import type { Correction, Corrections } from './corrections.ts';
import type { Shown } from './micro-clusters.ts';
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

/** What decides under which topic requests are shown. */
export interface Decided {
  readonly curation: TopicCuration;
  readonly own: OwnTopics;
  readonly corrections: Corrections;
}

/**
 * The topic under which the requests of a micro-cluster are shown, or −1: what the latest correction says, else the own
 * topic that claims them, else the found one; never one that a correction excludes.
 */
export function visibleTopicOf({ topic, claim, corrections }: Shown, decided: Decided): number {
  const { curation, own } = decided;
  const shown = (heir: number): number => (curation.hidden.has(heir) ? -1 : heir);
  if (corrections.length === 0) {
    const found = own.isActive(claim) ? claim : topic;
    return found < 0 ? -1 : shown(heirOf(found, curation, own));
  }
  const excluded = new Set<number>();
  for (const number of corrections) {
    const correction = correctionIn(decided, number);
    if (correction === null) continue;
    const heir = heirOf(correction.topic, curation, own);
    if (!correction.belongs) excluded.add(heir);
    else if (!excluded.has(heir)) return shown(heir);
  }
  for (const found of [own.isActive(claim) ? claim : -1, topic]) {
    const heir = found < 0 ? -1 : heirOf(found, curation, own);
    if (heir >= 0 && !excluded.has(heir)) return shown(heir);
  }
  return -1;
}

/** The correction if it holds: nobody took it back, nor the topic that it names. */
export function correctionIn(
  { corrections, own }: Pick<Decided, 'corrections' | 'own'>,
  number: number,
): Correction | null {
  const correction = corrections.inEffect(number);
  return correction === null || own.isRetired(correction.topic) ? null : correction;
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
