/**
 * Average linkage clustering (UPGMA). Keeps the invariant that equal inputs give equal merges, because ties go to the
 * lowest index.
 *
 * Test: test/reader/numeric/linkage.test.ts.
 */

/** One merge of the tree: the group of `b` joins the group of `a`; `a` < `b`. */
export interface Merge {
  readonly a: number;
  readonly b: number;
  /** Mean pairwise similarity of the two groups. */
  readonly similarity: number;
}

/** The groups that remain while merging, each identified by the lowest index of its items. */
interface Groups {
  readonly count: number;
  /** Sums of pairwise similarities, `count` × `count`, so that the sums of one group lie in a row. */
  readonly totals: Float64Array;
  readonly sizes: Float64Array;
  /** Groups that can still merge, ascending; the first `left` entries are valid. */
  readonly active: Int32Array;
  left: number;
}

/**
 * Average linkage weighted by size, by nearest-neighbour chains: the same tree as always merging the closest pair, in
 * O(n²) (Murtagh 1983; average linkage is reducible).
 *
 * `totals`: a lower triangle of the sums of similarities over all pairs of members of i and j. `sizes`: member counts.
 * Omits merges below `threshold`. Ties go to the lowest index. Returns merges by descending similarity; a group's own
 * merges precede those in which it takes part.
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
      // Average linkage is reducible, so no later merge brings anything closer to this group.
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

/** Groups the items by `merges`. Items keep their order; groups are ordered by their first item. */
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
 * The group most similar to `tip`, with the similarity. Prefers `previous` in a tie; `nearest` is −1 if there is no
 * other group.
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
