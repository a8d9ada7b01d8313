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
 * similarities over all pairs of members of i and j. `sizes` are member counts. No merge
 * below `threshold` is made. Ties go to the lowest index. Merges come in the order of descending
 * similarity, a group's own merges before those it takes part in.
 */
export function averageLinkage(totals: Float64Array, sizes: readonly number[], threshold: number): Merge[] {
  const count = sizes.length;
  const size = Float64Array.from(sizes);
  // Both halves, so that all of an item's totals lie in a row.
  const square = new Float64Array(count * count);
  for (let item = 1, at = 0; item < count; item += 1) {
    for (let other = 0; other < item; other += 1, at += 1) {
      square[item * count + other] = totals[at]!;
      square[other * count + item] = totals[at]!;
    }
  }
  /** What can still be merged, ascending. */
  const active = Int32Array.from({ length: count }, (_, index) => index);
  let left = count;
  const drop = (item: number): void => {
    const place = active.subarray(0, left).indexOf(item);
    active.copyWithin(place, place + 1, left);
    left -= 1;
  };
  const merges: Merge[] = [];
  const chain: number[] = [];
  for (;;) {
    if (chain.length === 0) {
      if (left === 0) break;
      chain.push(active[0]!);
    }
    const tip = chain[chain.length - 1]!;
    const previous = chain.length > 1 ? chain[chain.length - 2]! : -1;
    let best = -1;
    let bestSimilarity = Number.NEGATIVE_INFINITY;
    const row = tip * count;
    for (let place = 0; place < left; place += 1) {
      const other = active[place]!;
      if (other === tip) continue;
      const similarity = square[row + other]! / size[other]!;
      if (similarity > bestSimilarity) {
        bestSimilarity = similarity;
        best = other;
      }
    }
    if (best < 0 || bestSimilarity / size[tip]! < threshold) {
      // Nothing can come closer to it later (reducibility): it stays as it is.
      drop(tip);
      chain.pop();
      continue;
    }
    if (
      previous >= 0 &&
      square[row + previous]! / (size[tip]! * size[previous]!) >= bestSimilarity / size[tip]!
    )
      best = previous;
    if (best !== previous) {
      chain.push(best);
      continue;
    }
    chain.length -= 2;
    const a = Math.min(tip, best);
    const b = Math.max(tip, best);
    merges.push({ a, b, similarity: square[row + best]! / (size[tip]! * size[best]!) });
    drop(b);
    for (let place = 0; place < left; place += 1) {
      const other = active[place]!;
      if (other === a) continue;
      const total = square[a * count + other]! + square[b * count + other]!;
      square[a * count + other] = total;
      square[other * count + a] = total;
    }
    size[a]! += size[b]!;
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
