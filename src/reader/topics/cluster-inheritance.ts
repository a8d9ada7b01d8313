/**
 * Decides which new topic cluster keeps which id. Regrouping forms clusters anew; each inherits the id of the old
 * cluster that gave most of its weight. Keeps the invariant that no id is inherited twice. Topics do not inherit: see
 * `topic-ids.ts`.
 *
 * Test: test/reader/topics/cluster-inheritance.test.ts.
 */

/** A member of a new group: the old group that holds it (−1 if none), and its weight. */
export interface Holding {
  readonly holder: number;
  readonly weight: number;
}

/**
 * Returns for each new group the old group whose identity it inherits, or −1. A group can inherit only from the holder
 * of most of its weight. If several groups can inherit from one holder, the one with most of the holder's weight does.
 * Ties go to the lower holder and to the earlier group.
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

/** The holder of most of a group's weight, with that weight; null if there is no holder. */
export function largestShare(holdings: readonly Holding[]): Holding | null {
  const weights = new Map<number, number>();
  for (const { holder, weight } of holdings)
    if (holder >= 0) weights.set(holder, (weights.get(holder) ?? 0) + weight);
  const shares = [...weights].map(([holder, weight]) => ({ holder, weight }));
  return shares.sort((x, y) => y.weight - x.weight || x.holder - y.holder)[0] ?? null;
}
