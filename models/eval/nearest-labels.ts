/** Whether vectors lie among those of their own label. */
import { DotArena } from '../../src/numeric/dot-kernel.ts';
import { VectorTable } from '../../src/numeric/vector-table.ts';

/** For each vector: has the nearest other one its label? */
export function nearestIsOfLabel(vectors: readonly Float32Array[], labels: readonly string[]): boolean[] {
  const table = new VectorTable(new DotArena(vectors[0]?.length ?? 0));
  for (const vector of vectors) table.push(vector);
  const cosines = new Float32Array(vectors.length);
  return vectors.map((vector, item) => {
    table.cosines(vector, cosines);
    cosines[item] = Number.NEGATIVE_INFINITY;
    let best = item === 0 ? 1 : 0;
    for (let other = 0; other < vectors.length; other += 1)
      if (cosines[other]! > cosines[best]!) best = other;
    return labels[best] === labels[item];
  });
}

/**
 * The first `shots` vectors of each label make its centroid; for each other vector: is the nearest centroid that of
 * its label? Null for those that made the centroids.
 */
export function centroidIsOfLabel(
  vectors: readonly Float32Array[],
  labels: readonly string[],
  shots: number,
): (boolean | null)[] {
  const dimensions = vectors[0]?.length ?? 0;
  const taken = new Map<string, { readonly sum: Float32Array; count: number }>();
  const made = vectors.map((vector, item) => {
    const label = labels[item]!;
    let centroid = taken.get(label);
    if (centroid === undefined)
      taken.set(label, (centroid = { sum: new Float32Array(dimensions), count: 0 }));
    if (centroid.count === shots) return false;
    centroid.count += 1;
    for (let i = 0; i < dimensions; i += 1) centroid.sum[i] = centroid.sum[i]! + vector[i]!;
    return true;
  });
  const names = [...taken.keys()];
  const table = new VectorTable(new DotArena(dimensions));
  for (const { sum } of taken.values()) table.push(unit(sum));
  const cosines = new Float32Array(names.length);
  return vectors.map((vector, item) => {
    if (made[item] === true) return null;
    table.cosines(vector, cosines);
    let best = 0;
    for (let other = 1; other < names.length; other += 1) if (cosines[other]! > cosines[best]!) best = other;
    return names[best] === labels[item];
  });
}

/** `a + weight * b` at unit length; zeros stay zeros. */
export function sumOf(a: Float32Array, b: Float32Array, weight: number): Float32Array {
  return unit(a.map((value, i) => value + weight * b[i]!));
}

function unit(vector: Float32Array): Float32Array {
  let square = 0;
  for (const x of vector) square += x * x;
  return square > 0 ? vector.map((x) => x / Math.sqrt(square)) : vector;
}
