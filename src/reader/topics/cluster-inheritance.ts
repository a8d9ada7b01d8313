/**
 * Which new topic cluster keeps which id. Regrouping forms clusters anew; each inherits the id of the old one that gave
 * most of its weight, and no id is inherited twice. Topics inherit none: their ids are in `topic-ids.ts`.
 */

/** A member of a new group: the group that holds it so far (−1: none), and its weight. */
export interface Holding {
  readonly holder: number;
  readonly weight: number;
}

/**
 * For each new group the existing group whose identity it inherits, or −1. A group can inherit from the holder of most
 * of its weight only. If several groups can inherit from one holder, the group with most of its weight does. Ties go to
 * the lower holder and to the earlier group.
 */
export function inherit(groups: readonly (readonly Holding[])[]): number[] {
  const claims = groups
    .flatMap((holdings, group) => {
      const share = largestShare(holdings);
      return share === null ? [] : [{ group, ...share }];
    })
    .sort((x, y) => y.weight - x.weight || x.holder - y.holder || x.group - y.group);
  const inherited = groups.map(() => -1);
  const taken = new Set<number>();
  for (const { group, holder } of claims) {
    if (taken.has(holder)) continue;
    taken.add(holder);
    inherited[group] = holder;
  }
  return inherited;
}

/** The holder of most of a group's weight, with that weight; null when there is no holder. */
export function largestShare(holdings: readonly Holding[]): Holding | null {
  const weights = new Map<number, number>();
  for (const { holder, weight } of holdings)
    if (holder >= 0) weights.set(holder, (weights.get(holder) ?? 0) + weight);
  const shares = [...weights].map(([holder, weight]) => ({ holder, weight }));
  return shares.sort((x, y) => y.weight - x.weight || x.holder - y.holder)[0] ?? null;
}
