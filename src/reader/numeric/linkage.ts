/** One merge of the tree: the group that contains `b` joins the group that contains `a`; `a` < `b`. */
export interface Merge {
  readonly a: number;
  readonly b: number;
  /** Mean pairwise similarity of the two groups. */
  readonly similarity: number;
}

/** The groups that are left while merging; each goes by the lowest index of its items. */
interface Groups {
  readonly count: number;
  /** Sums of pairwise similarities, `count` × `count`, so that all sums of one group lie in a row. */
  readonly totals: Float64Array;
  readonly sizes: Float64Array;
  /** Groups that can still be merged, ascending; the first `left` entries count. */
  readonly active: Int32Array;
  left: number;
}

/**
 * Average linkage weighted by size (UPGMA), by nearest-neighbour chains: the same tree as always merging the
 * closest pair, in O(n²) (Murtagh 1983; average linkage is reducible).
 *
 * `totals` is a lower triangle: the sum of the similarities over all pairs of members of i and j. `sizes` are member
 * counts. Merges below `threshold` are left out. Ties go to the lowest index. Merges are ordered by descending
 * similarity; a group's own merges precede those it takes part in.
 */
export function averageLinkage(totals: Float64Array, sizes: readonly number[], threshold: number): Merge[] {
  const groups = singletons(totals, sizes);
  const merges: Merge[] = [];
  const chain: number[] = [];
  while (groups.left > 0) {
    if (chain.length === 0) chain.push(groups.active[0]!);
    const tip = chain.at(-1)!;
    const previous = chain.at(-2) ?? -1;
    const { nearest, greatest } = nearestTo(groups, tip, previous);
    if (nearest < 0 || greatest < threshold) {
      // No later merge brings anything closer to this group, because average linkage is reducible.
      drop(groups, tip);
      chain.pop();
    } else if (nearest === previous) {
      const [a, b] = [Math.min(tip, nearest), Math.max(tip, nearest)];
      merges.push({ a, b, similarity: similarity(groups, tip, nearest) });
      merge(groups, a, b);
      chain.length -= 2;
    } else chain.push(nearest);
  }
  return merges.sort((x, y) => y.similarity - x.similarity);
}

/** The items in groups after `merges`; items keep their order, groups are ordered by their first item. */
export function groupsAfter<Item>(items: readonly Item[], merges: readonly Merge[]): Item[][] {
  const parents = items.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while (parents[root] !== root) root = parents[root]!;
    return root;
  };
  for (const { a, b } of merges) {
    const [x, y] = [rootOf(a), rootOf(b)];
    parents[Math.max(x, y)] = Math.min(x, y);
  }
  return [...Map.groupBy(items, (_, index) => rootOf(index)).values()];
}

function singletons(triangle: Float64Array, sizes: readonly number[]): Groups {
  const count = sizes.length;
  const totals = new Float64Array(count * count);
  for (let row = 1, at = 0; row < count; row += 1) {
    for (let other = 0; other < row; other += 1, at += 1) {
      totals[row * count + other] = triangle[at]!;
      totals[other * count + row] = triangle[at]!;
    }
  }
  const active = Int32Array.from({ length: count }, (_, index) => index);
  return { count, totals, sizes: Float64Array.from(sizes), active, left: count };
}

function similarity({ totals, sizes, count }: Groups, a: number, b: number): number {
  return totals[a * count + b]! / (sizes[a]! * sizes[b]!);
}

/**
 * The group most similar to `tip` (`previous` if it is among the most similar ones, −1 when there is no other), and
 * the greatest similarity.
 */
function nearestTo(groups: Groups, tip: number, previous: number): { nearest: number; greatest: number } {
  const { totals, sizes, active, left } = groups;
  const row = tip * groups.count;
  let nearest = -1;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < left; place += 1) {
    const other = active[place]!;
    if (other === tip) continue;
    const mean = totals[row + other]! / sizes[other]!;
    if (mean > greatest) {
      greatest = mean;
      nearest = other;
    }
  }
  greatest /= sizes[tip]!;
  const tied = previous >= 0 && similarity(groups, tip, previous) >= greatest;
  return { nearest: tied ? previous : nearest, greatest };
}

function merge(groups: Groups, a: number, b: number): void {
  const { count, totals, sizes, active } = groups;
  drop(groups, b);
  for (let place = 0; place < groups.left; place += 1) {
    const other = active[place]!;
    if (other === a) continue;
    const total = totals[a * count + other]! + totals[b * count + other]!;
    totals[a * count + other] = total;
    totals[other * count + a] = total;
  }
  sizes[a]! += sizes[b]!;
}

function drop(groups: Groups, group: number): void {
  const place = groups.active.subarray(0, groups.left).indexOf(group);
  groups.active.copyWithin(place, place + 1, groups.left);
  groups.left -= 1;
}
