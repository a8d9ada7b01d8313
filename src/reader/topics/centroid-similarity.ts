/**
 * How similar two topics are: the cosine of their centroids, corrected for what all requests have in common. Most
 * centroids stay the same between two regroupings, so their cosines are cached.
 */
import type { DotArena } from '../numeric/dot-kernel.ts';
import { startOfRow } from '../numeric/lower-triangle.ts';
import { VectorTable } from '../numeric/vector-table.ts';
import type { RequestSums } from './micro-cluster.ts';
import type { Topic } from './topic-state.ts';

/** A topic's requests, added up. `sum` is another object when the sum is another. */
export interface TopicSum extends RequestSums {
  readonly topic: Topic;
}

/** Share of a squared centroid length, above the similarity floor, that counts as the topic's own at least. */
export const LEAST_OWN_SHARE = 0.05;

/** Cosines between the centroids of topics. Those of topics that are the same as in the last call are cached. */
export class CentroidCosines {
  readonly #arena: DotArena;
  /** The topics of the last call, as far as their rows have stayed. */
  #topics: readonly TopicSum[] = [];
  #cosines = new Float32Array(0);

  constructor(arena: DotArena) {
    this.#arena = arena;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#cosines.byteLength + this.#topics.reduce((bytes, { sum }) => bytes + sum.byteLength, 0);
  }

  /** A lower triangle, with unused room behind it; valid until the next call. */
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

  /** A triangle with what is cached. A topic that is gone moves the rows behind it, so the cache ends there. */
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
 * Similarity of two topics: the cosine of their centroids without what all requests have in common. That is a larger
 * part of a centroid than of a request, because what tells requests apart cancels out in their mean. `normA` and
 * `normB` are the lengths of the centroids; with a similarity floor of 0 they do not matter.
 */
export function centroidSimilarity(cosine: number, normA: number, normB: number, floor: number): number {
  // What nothing is known of any more is like nothing.
  if (normA === 0 || normB === 0) return 0;
  if (floor === 0) return cosine;
  const own = (norm: number): number => Math.max(norm * norm - floor, LEAST_OWN_SHARE * (1 - floor));
  return (cosine * normA * normB - floor) / Math.sqrt(own(normA) * own(normB));
}
