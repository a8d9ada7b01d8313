/**
 * The cores of an instance's topics during one regrouping: for each topic the sum of its core vectors, kept up to date
 * while topics merge and grow.
 * Covered by test/topics/regrouping.test.ts.
 */
import { addTo, dotOf, dotsOf, normOf } from '../numeric/vectors.ts';
import { keysOfAll, sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import type { GroupSimilarity } from './micro-clusters.ts';
import { addKeys, keyBonus, type RequestKeys } from './request-keys.ts';
import type { TopicState } from './topic-state.ts';

interface Core {
  readonly topic: number;
  readonly sum: Float32Array;
  readonly keys: RequestKeys;
  weight: number;
}

export class CoreSums {
  readonly #state: TopicState;
  /** Ascending by topic. */
  #cores: Core[];
  /** For each core the most similar one behind it, while that is known. */
  readonly #nearest = new Map<Core, { readonly other: Core; readonly similarity: number } | null>();

  constructor(state: TopicState) {
    this.#state = state;
    this.#cores = [
      ...Map.groupBy(
        state.micros.live.filter(({ core }) => core),
        ({ topic }) => topic,
      ),
    ]
      .sort(([a], [b]) => a - b)
      .map(([topic, members]) => ({
        topic,
        sum: sumOf(members),
        keys: keysOfAll(members),
        weight: weightOf(members),
      }));
  }

  /** The two topics whose requests are most similar on average; null with fewer than two topics. */
  nearestPair(): { larger: number; smaller: number; similarity: number } | null {
    let best: { a: Core; b: Core; similarity: number } | null = null;
    for (const [index, core] of this.#cores.entries()) {
      if (!this.#nearest.has(core)) this.#nearest.set(core, this.#nearestBehind(index));
      const nearest = this.#nearest.get(core);
      if (nearest === null || nearest === undefined) continue;
      if (best === null || nearest.similarity > best.similarity)
        best = { a: core, b: nearest.other, similarity: nearest.similarity };
    }
    if (best === null) return null;
    const { a, b, similarity } = best;
    const [larger, smaller] = b.weight > a.weight ? [b, a] : [a, b];
    return { larger: larger.topic, smaller: smaller.topic, similarity };
  }

  merge(larger: number, smaller: number): void {
    const [kept, gone] = [this.#core(larger), this.#core(smaller)];
    addTo(kept.sum, gone.sum);
    addKeys(kept.keys, gone.keys);
    kept.weight += gone.weight;
    this.#cores = this.#cores.filter((core) => core !== gone);
    for (const [core, nearest] of this.#nearest)
      if (nearest !== null && (nearest.other === kept || nearest.other === gone)) this.#nearest.delete(core);
    this.#nearest.delete(kept);
    // The merged core may be nearest to one before it.
    for (const core of this.#cores) {
      const nearest = this.#nearest.get(core);
      if (core.topic >= kept.topic || nearest === undefined) continue;
      const similarity = this.#similarityOf(core, kept);
      if (nearest === null || similarity > nearest.similarity)
        this.#nearest.set(core, { other: kept, similarity });
    }
  }

  /** As `MicroClusters.similaritiesByGroup`, for a request like those of the micro-cluster, and for topics only. */
  similaritiesTo(micro: MicroCluster): Map<number, GroupSimilarity> {
    const dots = this.#totals(micro);
    return new Map(
      this.#cores.map(({ topic, weight }, index) => [topic, { total: dots[index]! / micro.weight, weight }]),
    );
  }

  add(micro: MicroCluster, topic: number): void {
    const core = this.#core(topic);
    addTo(core.sum, micro.sum);
    addKeys(core.keys, micro.keys);
    core.weight += micro.weight;
  }

  /** Notes the length of each mean vector, for requests that arrive until the next regrouping. */
  saveLengths(): void {
    for (const { topic, sum, weight } of this.#cores) {
      const length = normOf(sum) / weight;
      const row = this.#state.topics[topic]!;
      if (row.length !== length) this.#state.changeTopic(row, { length });
    }
  }

  #core(topic: number): Core {
    return this.#cores.find((core) => core.topic === topic)!;
  }

  #nearestBehind(index: number): { other: Core; similarity: number } | null {
    const core = this.#cores[index]!;
    let best: { other: Core; similarity: number } | null = null;
    for (const other of this.#cores.slice(index + 1)) {
      const similarity = this.#similarityOf(core, other);
      if (best === null || similarity > best.similarity) best = { other, similarity };
    }
    return best;
  }

  /** Similarities of its requests to those of each core, added up. */
  #totals({ sum, keys }: MicroCluster): Float64Array {
    const totals = new Float64Array(this.#cores.length);
    dotsOf(
      sum,
      this.#cores.map((core) => core.sum),
      totals,
    );
    const { scale } = this.#state.thresholds;
    for (const [index, core] of this.#cores.entries()) totals[index]! += scale * keyBonus(keys, core.keys);
    return totals;
  }

  /** Mean similarity of the requests of two cores. */
  #similarityOf(a: Core, b: Core): number {
    const { scale } = this.#state.thresholds;
    return (dotOf(a.sum, b.sum) + scale * keyBonus(a.keys, b.keys)) / (a.weight * b.weight);
  }
}
