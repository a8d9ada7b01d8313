import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { averageLinkage, groupsAfter } from '../../../src/reader/numeric/linkage.ts';

/** Always merges the closest pair, recomputing every mean: what averageLinkage must equal. */
function plainLinkage(
  similarity: readonly (readonly number[])[],
  sizes: readonly number[],
  threshold: number,
): string[] {
  const groups = sizes.map((_, index) => [index]);
  const mean = (x: readonly number[], y: readonly number[]): number => {
    let total = 0;
    let pairs = 0;
    for (const i of x) {
      for (const j of y) {
        total += similarity[Math.max(i, j)]![Math.min(i, j)]! * sizes[i]! * sizes[j]!;
        pairs += sizes[i]! * sizes[j]!;
      }
    }
    return total / pairs;
  };
  for (;;) {
    let best: [number, number, number] | null = null;
    for (let x = 0; x < groups.length; x += 1) {
      for (let y = 0; y < x; y += 1) {
        const value = mean(groups[x]!, groups[y]!);
        if (value >= threshold && (best === null || value > best[2])) best = [x, y, value];
      }
    }
    if (best === null) return groups.map((group) => group.sort((a, b) => a - b).join(' ')).sort();
    groups[best[1]]!.push(...groups[best[0]]!);
    groups.splice(best[0], 1);
  }
}

describe('averageLinkage', () => {
  it('finds the groups that merging the closest pair finds, at any threshold', () => {
    let state = 9;
    const random = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    for (let round = 0; round < 30; round += 1) {
      const count = 2 + Math.floor(random() * 25);
      const sizes = Array.from({ length: count }, () => 1 + Math.floor(random() * 5));
      const similarity = sizes.map((_, row) => Array.from({ length: row }, () => random() * 2 - 1));
      const threshold = random() - 0.5;
      const totals = Float64Array.from(
        similarity.flatMap((row, i) => row.map((value, j) => value * sizes[i]! * sizes[j]!)),
      );
      const merges = averageLinkage(totals, sizes, threshold);
      const found = groupsAfter(
        sizes.map((_, item) => item),
        merges,
      );
      deepEqual(found.map((group) => group.join(' ')).sort(), plainLinkage(similarity, sizes, threshold));
      ok(
        merges.every(
          ({ similarity: at }, index) => index === 0 || at <= merges[index - 1]!.similarity + 1e-12,
        ),
      );
    }
  });

  it('has nothing to merge in one item or none', () => {
    equal(averageLinkage(new Float64Array(0), [1], 0).length, 0);
    equal(averageLinkage(new Float64Array(0), [], 0).length, 0);
  });
});
