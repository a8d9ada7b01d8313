/** One merge of the tree: the group that `b` stands for joins the one that `a` stands for; `a` < `b`. */
export interface Merge {
  readonly a: number;
  readonly b: number;
  /** Mean pairwise similarity of the two groups. */
  readonly similarity: number;
}

/**
 * Size-weighted average linkage (UPGMA) by nearest-neighbour chains: the same tree as always merging the
 * closest pair, in O(n²) (Murtagh 1983; average linkage is reducible).
 *
 * `totals` is a lower triangle, row after row: entry (i, j < i) at i(i−1)/2 + j is the SUM of the
 * similarities over all pairs of members of i and j. It is used up. `sizes` are member counts. No merge
 * below `threshold` is made. Ties go to the lowest index. Merges come in the order of descending
 * similarity, a group's own merges before those it takes part in.
 */
export function averageLinkage(totals: Float64Array, sizes: readonly number[], threshold: number): Merge[] {
  const count = sizes.length;
  const size = Float64Array.from(sizes);
  const active = new Uint8Array(count).fill(1);
  const merges: Merge[] = [];
  const chain: number[] = [];
  let next = 0;
  for (;;) {
    if (chain.length === 0) {
      while (next < count && active[next] === 0) next += 1;
      if (next === count) break;
      chain.push(next);
    }
    const tip = chain[chain.length - 1]!;
    const previous = chain.length > 1 ? chain[chain.length - 2]! : -1;
    let best = -1;
    let bestSimilarity = Number.NEGATIVE_INFINITY;
    const row = (tip * (tip - 1)) / 2;
    for (let other = 0; other < tip; other += 1) {
      if (active[other] === 0) continue;
      const similarity = totals[row + other]! / size[other]!;
      if (similarity > bestSimilarity) {
        bestSimilarity = similarity;
        best = other;
      }
    }
    for (let other = tip + 1; other < count; other += 1) {
      if (active[other] === 0) continue;
      const similarity = totals[(other * (other - 1)) / 2 + tip]! / size[other]!;
      if (similarity > bestSimilarity) {
        bestSimilarity = similarity;
        best = other;
      }
    }
    if (best < 0 || bestSimilarity / size[tip]! < threshold) {
      // Nothing can come closer to it later (reducibility): it stays as it is.
      active[tip] = 0;
      chain.pop();
      continue;
    }
    if (previous >= 0 && similarityOf(totals, size, tip, previous) >= bestSimilarity / size[tip]!)
      best = previous;
    if (best !== previous) {
      chain.push(best);
      continue;
    }
    chain.length -= 2;
    const a = Math.min(tip, best);
    const b = Math.max(tip, best);
    merges.push({ a, b, similarity: similarityOf(totals, size, tip, best) });
    for (let other = 0; other < count; other += 1) {
      if (other === a || other === b || active[other] === 0) continue;
      totals[indexOf(a, other)]! += totals[indexOf(b, other)]!;
    }
    size[a]! += size[b]!;
    active[b] = 0;
  }
  return merges
    .map((merge, order) => ({ merge, order }))
    .sort((x, y) => y.merge.similarity - x.merge.similarity || x.order - y.order)
    .map(({ merge }) => merge);
}

/** For each item the lowest index of its group after `merges`. */
export function groupsAfter(count: number, merges: readonly Merge[]): number[] {
  const parents = Array.from({ length: count }, (_, index) => index);
  const rootOf = (item: number): number => {
    let root = item;
    while (parents[root] !== root) root = parents[root]!;
    return root;
  };
  for (const { a, b } of merges) {
    const x = rootOf(a);
    const y = rootOf(b);
    parents[Math.max(x, y)] = Math.min(x, y);
  }
  return parents.map((_, index) => rootOf(index));
}

function indexOf(x: number, y: number): number {
  return x > y ? (x * (x - 1)) / 2 + y : (y * (y - 1)) / 2 + x;
}

function similarityOf(totals: Float64Array, size: Float64Array, x: number, y: number): number {
  return totals[indexOf(x, y)]! / (size[x]! * size[y]!);
}
