/**
 * The similarity of two topics: the cosine of their centroids, corrected for what all requests share. Caches the
 * cosines, because most centroids stay the same between two regroupings.
 *
 * Test: test/reader/topics/centroid-similarity.test.ts.
 */
import type { DotArena } from '../numeric/dot-kernel.ts';
import { startOfRow } from '../numeric/lower-triangle.ts';
import { VectorTable } from '../numeric/vector-table.ts';
import type { RequestSums } from './micro-cluster.ts';
import type { Topic } from './topic-state.ts';

/** Sum of a topic's requests. A changed sum must be a new object, because the cache compares identities. */
export interface TopicSum extends RequestSums {
  readonly topic: Topic;
}

/** Least share of a squared centroid length, above the similarity floor, that counts as the topic's own. */
export const LEAST_OWN_SHARE = 0.05;

/** Cosines between the centroids of topics. Keeps those between topics that have not changed since the last call. */
export class CentroidCosines {
  readonly #arena: DotArena;
  /** The topics of the last call, up to the first whose row has changed. */
  #topics: readonly TopicSum[] = [];
  #cosines = new Float32Array(0);

  constructor(arena: DotArena) {
    this.#arena = arena;
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    return this.#cosines.byteLength + this.#topics.reduce((bytes, { sum }) => bytes + sum.byteLength, 0);
  }

  /**
   * Returns a lower triangle (row by row, without the diagonal), with unused room after it. Valid until the next call.
   */
  of(topics: readonly TopicSum[]): Float32Array {
    const cosines = this.#cached(topics);
    const table = new VectorTable(this.#arena);
    for (const { sum } of topics) table.push(sum);
    const all = new Float32Array(topics.length);
    for (const [row, { sum }] of topics.entries()) {
      if (this.#topics[row]?.sum === sum) continue;
      table.cosinesOf(row, all);
      cosines.set(all.subarray(0, row), startOfRow(row));
      for (let other = row + 1; other < topics.length; other += 1)
        cosines[startOfRow(other) + row] = all[other]!;
    }
    table.clear();
    this.#topics = topics;
    this.#cosines = cosines;
    return cosines;
  }

  /** A triangle with the cached cosines. A removed topic shifts the rows after it, so the cache ends there. */
  #cached(topics: readonly TopicSum[]): Float32Array<ArrayBuffer> {
    const changed = this.#topics.findIndex(({ topic }, row) => topic !== topics[row]?.topic);
    if (changed >= 0) this.#topics = this.#topics.slice(0, changed);
    const size = startOfRow(topics.length);
    if (this.#cosines.length >= size) return this.#cosines;
    const grown = new Float32Array(size * 2);
    grown.set(this.#cosines);
    return grown;
  }
}

/**
 * Similarity of two topics: the cosine of their centroids without the part that all requests share. That part is larger
 * in a centroid than in a request, because the differences between requests cancel out in their mean. `normA` and
 * `normB` are the lengths of the centroids; they do not matter if `floor` is 0.
 */
export function centroidSimilarity(cosine: number, normA: number, normB: number, floor: number): number {
  // An erased topic has a zero centroid, which is similar to nothing.
  if (normA === 0 || normB === 0) return 0;
  if (floor === 0) return cosine;
  const own = (norm: number): number => Math.max(norm * norm - floor, LEAST_OWN_SHARE * (1 - floor));
  return (cosine * normA * normB - floor) / Math.sqrt(own(normA) * own(normB));
}
