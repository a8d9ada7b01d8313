/**
 * How well vectors of texts agree with labels: whether near vectors have the same label, whether pairs of one label are
 * nearer than others, whether cosines follow grades.
 */
import { DotArena } from '../../src/reader/numeric/dot-kernel.ts';
import { VectorTable } from '../../src/reader/numeric/vector-table.ts';
import { addTo, normOf, dotOf } from '../../src/reader/numeric/vectors.ts';
import { randomNumbers } from './counts.ts';
import { binaryScores, ranks, type Scored } from './report.ts';

const PAIRS = 20_000;

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
    addTo(centroid.sum, vector);
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

/** A vector of unit length; zeros stay zeros. */
export function unit(vector: Float32Array): Float32Array {
  const norm = normOf(vector);
  return norm > 0 ? vector.map((value) => value / norm) : vector;
}

/** Area under the ROC curve of the cosines of pairs: as many of one label as of any two, drawn reproducibly. */
export function pairAuc(vectors: readonly Float32Array[], labels: readonly string[]): number {
  const byLabel = Map.groupBy(labels.keys(), (item) => labels[item]!);
  const random = randomNumbers(1);
  const below = (end: number): number => Math.floor(random() * end);
  const scored: Scored[] = [];
  for (let i = 0; i < PAIRS; i += 1) {
    const a = below(vectors.length);
    const peers = byLabel.get(labels[a]!)!;
    const b = i % 2 === 0 ? peers[below(peers.length)]! : below(vectors.length);
    if (a === b) continue;
    scored.push({
      score: dotOf(vectors[a]!, vectors[b]!),
      decided: false,
      positive: labels[a] === labels[b],
    });
  }
  return binaryScores(scored).auc;
}

/** Spearman's rank correlation; ties have their mean rank. */
export function spearman(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const middle = (x.length - 1) / 2;
  let [product, squareX, squareY] = [0, 0, 0];
  for (let i = 0; i < x.length; i += 1) {
    product += (x[i]! - middle) * (y[i]! - middle);
    squareX += (x[i]! - middle) ** 2;
    squareY += (y[i]! - middle) ** 2;
  }
  return product / Math.sqrt(squareX * squareY);
}
