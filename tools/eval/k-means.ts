import { DotArena } from '../../src/reader/numeric/dot-kernel.ts';
import { VectorTable } from '../../src/reader/numeric/vector-table.ts';
import { addTo, dotOf } from '../../src/reader/numeric/vectors.ts';
import { randomNumbers } from './counts.ts';

const ROUNDS = 40;
const STARTS = 3;

/**
 * Spherical k-means with k-means++ starts, the best of three unless given; the same seed, the same groups. Group of
 * each unit vector.
 */
export function kMeans(
  vectors: readonly Float32Array[],
  k: number,
  { seed = 12345, starts = STARTS }: { readonly seed?: number; readonly starts?: number } = {},
): number[] {
  const dimensions = vectors[0]?.length ?? 0;
  const arena = new DotArena(dimensions);
  const cosines = new Float32Array(k);
  const random = randomNumbers(seed);
  let best: number[] = [];
  let bestTotal = Number.NEGATIVE_INFINITY;
  for (let start = 0; start < starts; start += 1) {
    let centroids = seeds(vectors, k, random);
    let groups: number[] = [];
    let total = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const table = new VectorTable(arena);
      for (const centroid of centroids) table.push(centroid);
      total = 0;
      const next = vectors.map((vector) => {
        table.cosines(vector, cosines);
        let group = 0;
        for (let other = 1; other < k; other += 1) if (cosines[other]! > cosines[group]!) group = other;
        total += cosines[group]!;
        return group;
      });
      table.clear();
      const same = next.every((group, item) => group === groups[item]);
      groups = next;
      if (same) break;
      const sums = centroids.map(() => new Float32Array(dimensions));
      groups.forEach((group, item) => addTo(sums[group]!, vectors[item]!));
      centroids = sums.map((sum, group) => (sum.some((value) => value !== 0) ? sum : centroids[group]!));
    }
    if (total > bestTotal) [best, bestTotal] = [groups, total];
  }
  return best;
}

function seeds(vectors: readonly Float32Array[], k: number, random: () => number): Float32Array[] {
  const chosen = [vectors[Math.floor(random() * vectors.length)]!];
  const distances = vectors.map(() => Number.POSITIVE_INFINITY);
  while (chosen.length < k) {
    const latest = chosen[chosen.length - 1]!;
    let total = 0;
    vectors.forEach((vector, item) => {
      distances[item] = Math.min(distances[item]!, Math.max(0, 1 - dotOf(vector, latest)));
      total += distances[item]!;
    });
    let left = random() * total;
    let pick = distances.findIndex((distance) => (left -= distance) <= 0);
    if (pick < 0) pick = vectors.length - 1;
    chosen.push(vectors[pick]!);
  }
  return chosen;
}
