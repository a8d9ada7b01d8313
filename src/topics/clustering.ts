import type { DotArena } from '../numeric/dot-kernel.ts';
import { averageLinkage, groupsAfter } from '../numeric/linkage.ts';
import { continuations } from './inheritance.ts';
import { normOf, VectorTable } from '../numeric/vectors.ts';

/** A topic as the clustering sees it. */
export interface ClusteredTopic {
  readonly topic: number;
  /** Sum of its requests' vectors; the same object only as long as they are the same. */
  readonly sum: Float32Array;
  /** Request turns. */
  readonly mass: number;
  /** The cluster it is in, or −1. */
  readonly cluster: number;
}

/** Two topics of one cluster count as this much closer, of two clusters this much farther. */
const MEMORY = 0.04;
/** Of a centroid that has hardly anything of its own. */
const LEAST_OWN = 0.05;

/**
 * Cosines between the centroids of topics. Most topics have the same requests as the last time when another is
 * born: what was computed between two such topics is kept.
 */
export class CentroidCosines {
  readonly #arena: DotArena;
  #topics: readonly ClusteredTopic[] = [];
  /** Lower triangle over `#topics`, row after row, with room behind it. */
  #cosines = new Float32Array(0);

  constructor(arena: DotArena) {
    this.#arena = arena;
  }

  /** Lower triangle over the topics, row after row: (i, j < i) at i(i−1)/2 + j, at least. Good until the next call. */
  of(topics: readonly ClusteredTopic[]): Float32Array {
    const count = topics.length;
    const cosines = this.#withRoomFor(topics);
    const table = new VectorTable(this.#arena);
    for (const { sum } of topics) table.push(sum);
    const all = new Float32Array(count);
    for (const [row, { sum }] of topics.entries()) {
      if (this.#topics[row]?.sum === sum) continue;
      table.cosinesOf(row, all);
      const start = (row * (row - 1)) / 2;
      for (let other = 0; other < row; other += 1) cosines[start + other] = all[other]!;
      for (let other = row + 1; other < count; other += 1)
        cosines[(other * (other - 1)) / 2 + row] = all[other]!;
    }
    table.clear();
    this.#topics = topics;
    this.#cosines = cosines;
    return cosines;
  }

  /**
   * What is known, for the topics that are to be looked at: their rows where they were. A topic that is gone
   * moves the rows behind it, which happens seldom; then nothing from there on counts as known.
   */
  #withRoomFor(topics: readonly ClusteredTopic[]): Float32Array<ArrayBuffer> {
    let same = 0;
    while (same < this.#topics.length && this.#topics[same]!.topic === topics[same]?.topic) same += 1;
    this.#topics = this.#topics.slice(0, same);
    const size = (topics.length * (topics.length - 1)) / 2;
    if (this.#cosines.length >= size) return this.#cosines;
    const grown = new Float32Array(size * 2);
    grown.set(this.#cosines);
    return grown;
  }
}

/** As `TopicThresholds` has them. */
export interface ClusterThresholds {
  readonly cluster: number;
  readonly zero?: number;
  readonly unit?: number;
}

/** Down to which `centroidSimilarity` topics form one cluster. */
export function clusterFloor({ cluster, zero = 0, unit = 1 }: ClusterThresholds): number {
  return (cluster - zero) / unit;
}

/**
 * Cosine of two centroids once what all requests have in common is taken out, which is more of a centroid than of a
 * request: what tells requests apart cancels out in a mean. `norms`: lengths of the mean vectors.
 */
export function centroidSimilarity(cosine: number, normA: number, normB: number, zero: number): number {
  if (zero === 0) return cosine;
  const own = (norm: number): number => Math.max(norm * norm - zero, LEAST_OWN * (1 - zero));
  return (cosine * normA * normB - zero) / Math.sqrt(own(normA) * own(normB));
}

/**
 * Groups topics by average linkage over their centroids, every topic counting once however large, and
 * says which existing cluster each group continues (−1: a new one). Every topic gets a group; topics and
 * groups ascend.
 */
export function clusterTopics(
  topics: readonly ClusteredTopic[],
  thresholds: ClusterThresholds,
  centroids: CentroidCosines,
): { cluster: number; topics: number[] }[] {
  const cosines = centroids.of(topics);
  const totals = new Float64Array((topics.length * (topics.length - 1)) / 2);
  const zero = thresholds.zero ?? 0;
  const norms = topics.map(({ sum, mass }) => (zero === 0 ? 1 : normOf(sum) / mass));
  let at = 0;
  for (let row = 1; row < topics.length; row += 1) {
    const { cluster } = topics[row]!;
    for (let other = 0; other < row; other += 1) {
      const peer = topics[other]!.cluster;
      const memory = cluster < 0 || peer < 0 ? 0 : cluster === peer ? MEMORY : -MEMORY;
      totals[at] = centroidSimilarity(cosines[at]!, norms[row]!, norms[other]!, zero) + memory;
      at += 1;
    }
  }
  const sizes = topics.map(() => 1);
  const groups = new Map<number, ClusteredTopic[]>();
  groupsAfter(topics.length, averageLinkage(totals, sizes, clusterFloor(thresholds))).forEach(
    (group, row) => {
      const members = groups.get(group);
      if (members === undefined) groups.set(group, [topics[row]!]);
      else members.push(topics[row]!);
    },
  );
  const all = [...groups.values()];
  const continued = continuations(
    all.map((members) => members.map(({ cluster, mass }) => ({ holder: cluster, mass }))),
  );
  return all.map((members, index) => ({
    cluster: continued[index]!,
    topics: members.map(({ topic }) => topic),
  }));
}
