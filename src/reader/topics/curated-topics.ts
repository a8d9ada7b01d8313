/**
 * Applies people's decisions on top of the topics that were found. Keeps the invariant that finding ignores decisions,
 * except that topics under one no longer merge: so an undo restores what was found, and a replay gives the same rows.
 *
 * Test: test/reader/threads/curations.test.ts.
 */
import type { Correction, Corrections } from './corrections.ts';
import type { Shown } from './micro-clusters.ts';
import type { OwnTopics } from './own-topics.ts';
import type { WideClaims } from './wide-claims.ts';

export interface TopicCuration {
  /** Topic → the topic that it counts as, and the message position from which it does. Acyclic. */
  readonly merges: ReadonlyMap<number, { readonly into: number; readonly since: number }>;
  /** Topic → its topic cluster. */
  readonly moves: ReadonlyMap<number, number>;
  readonly hidden: ReadonlySet<number>;
  /** Topics that a person decided on. */
  readonly held: ReadonlySet<number>;
  /** The topic Other; −1 until somebody chooses it. */
  readonly other: number;
  /** True: what no own topic claims counts as Other. False: under the topic found for it. */
  readonly routesToOther: boolean;
}

export const NOTHING_CURATED: TopicCuration = {
  merges: new Map(),
  moves: new Map(),
  hidden: new Set(),
  held: new Set(),
  other: -1,
  routesToOther: false,
};

/** What decides under which topic requests are shown. */
export interface Decided {
  readonly curation: TopicCuration;
  readonly own: OwnTopics;
  readonly corrections: Corrections;
  readonly wideClaims: Pick<WideClaims, 'of'>;
}

/**
 * The topic under which the requests of a micro-cluster are shown, or −1: what the latest correction says, else the own
 * topic that claims them, else the found one, or Other where an instance shows no found topics; never one that a
 * correction excludes.
 */
export function visibleTopicOf(micro: Shown, decided: Decided): number {
  const { curation, own } = decided;
  const shown = (heir: number): number => (curation.hidden.has(heir) ? -1 : heir);
  // Most micro-clusters, looked at often.
  if (micro.corrections.length === 0 && !curation.routesToOther) {
    const found = own.isActive(micro.claim) ? micro.claim : micro.topic;
    return found < 0 ? -1 : shown(heirOf(found, curation, own));
  }
  const excluded = new Set<number>();
  for (const number of micro.corrections) {
    const correction = correctionIn(decided, number);
    if (correction === null) continue;
    const heir = heirOf(correction.topic, curation, own);
    if (!correction.belongs) excluded.add(heir);
    else if (!excluded.has(heir)) return shown(heir);
  }
  for (const topic of [own.isActive(micro.claim) ? micro.claim : -1, ...unclaimedTopics(micro, decided)]) {
    const heir = topic < 0 ? -1 : heirOf(topic, curation, own);
    if (heir >= 0 && !excluded.has(heir)) return shown(heir);
  }
  return -1;
}

/**
 * The topics for requests that no own topic claims beside found ones, the best first. Where the rest is Other, a found
 * topic counts only if a person merged it into an own one, or hid it.
 */
function unclaimedTopics({ number, topic }: Shown, { curation, own, wideClaims }: Decided): number[] {
  if (!curation.routesToOther) return [topic];
  const heir = topic < 0 ? -1 : heirOf(topic, curation, own);
  const isDecided = own.isActive(heir) || curation.hidden.has(heir);
  return [wideClaims.of(number), isDecided ? heir : -1, curation.other];
}

/** The correction if it holds: nobody took it back, nor the topic that it names. */
export function correctionIn(
  { corrections, curation, own }: Pick<Decided, 'corrections' | 'curation' | 'own'>,
  number: number,
): Correction | null {
  const correction = corrections.inEffect(number);
  return correction === null || isGone(correction.topic, curation, own) ? null : correction;
}

/** The topic that a topic counts as: itself, unless a person merged it. */
export function heirOf(topic: number, curation: TopicCuration, own: OwnTopics): number {
  const { merges } = curation;
  let heir = topic;
  for (let merge = merges.get(heir); merge !== undefined; merge = merges.get(heir)) {
    if (isGone(merge.into, curation, own)) break;
    heir = merge.into;
  }
  return heir;
}

/** True for an own topic whose creation was undone, and for Other where nothing counts as Other. */
export function isGone(topic: number, { other, routesToOther }: TopicCuration, own: OwnTopics): boolean {
  return own.isRetired(topic) || (topic === other && !routesToOther);
}

/** The topics that the corrections of a micro-cluster exclude. */
export function excludedFrom({ corrections }: Shown, decided: Decided): ReadonlySet<number> {
  const held = corrections.flatMap((number) => correctionIn(decided, number) ?? []);
  return new Set(
    held.filter(({ belongs }) => !belongs).map(({ topic }) => heirOf(topic, decided.curation, decided.own)),
  );
}
