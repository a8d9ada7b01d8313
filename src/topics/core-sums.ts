/**
 * The cores of an instance's topics during one regrouping: for each topic the sum of its core vectors, kept up to date
 * while topics merge and grow.
 * Covered by test/topics/regrouping.test.ts.
 */
import { addTo, dotOf, dotsOf, normOf } from '../numeric/vectors.ts';
import type { GroupSimilarities } from './group-similarities.ts';
import { KeyIndex } from './key-index.ts';
import { keysOfAll, sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { addKeys, keyBonus, MOST_BONUS, type RequestKeys } from './request-keys.ts';
import type { TopicState } from './topic-state.ts';

interface Core {
  readonly topic: number;
  readonly sum: Float32Array;
  readonly keys: RequestKeys;
  weight: number;
}

/** A core, and how similar it is to another. */
interface Neighbour {
  readonly other: Core;
  readonly similarity: number;
}

export class CoreSums {
  readonly #state: TopicState;
  /** Ascending by topic. */
  #cores: Core[];
  /** For each core the most similar one behind it that is similar enough to merge, while that is known. */
  readonly #nearest = new Map<Core, Neighbour | null>();
  /** What `similaritiesTo` needs of the cores; null while topics merge. */
  #index: CoreIndex | null = null;

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

  /**
   * The two topics whose requests are most similar on average, of those that nobody decided about; null when no two are
   * as similar as `least`.
   */
  nearestPair(least: number): { larger: number; smaller: number } | null {
    let best: { a: Core; b: Core; similarity: number } | null = null;
    for (const [index, core] of this.#cores.entries()) {
      if (!this.#nearest.has(core)) this.#nearest.set(core, this.#nearestBehind(index, least));
      const nearest = this.#nearest.get(core);
      if (nearest === null || nearest === undefined) continue;
      if (best === null || nearest.similarity > best.similarity)
        best = { a: core, b: nearest.other, similarity: nearest.similarity };
    }
    if (best === null || best.similarity < least) return null;
    const { a, b } = best;
    const [larger, smaller] = b.weight > a.weight ? [b, a] : [a, b];
    return { larger: larger.topic, smaller: smaller.topic };
  }

  merge(larger: number, smaller: number): void {
    const [kept, gone] = [this.#core(larger), this.#core(smaller)];
    addTo(kept.sum, gone.sum);
    addKeys(kept.keys, gone.keys);
    kept.weight += gone.weight;
    this.#index = null;
    this.#cores = this.#cores.filter((core) => core !== gone);
    for (const [core, nearest] of this.#nearest)
      if (nearest !== null && (nearest.other === kept || nearest.other === gone)) this.#nearest.delete(core);
    this.#nearest.delete(kept);
    const { held } = this.#state.curation;
    // The merged core may be nearest to one before it.
    for (const core of this.#cores) {
      const nearest = this.#nearest.get(core);
      if (core.topic >= kept.topic || nearest === undefined || held.has(core.topic)) continue;
      const similarity = this.#similarityOf(core, kept, dotOf(core.sum, kept.sum));
      if (nearest === null || similarity > nearest.similarity)
        this.#nearest.set(core, { other: kept, similarity });
    }
  }

  /** As `MicroClusters.similaritiesByGroup`, for a request like those of the micro-cluster, and for topics only. */
  similaritiesTo({ sum, keys, weight }: MicroCluster): GroupSimilarities {
    this.#index ??= new CoreIndex(this.#cores);
    const { scale } = this.#state.thresholds;
    return this.#index.similaritiesTo(sum, keys, weight, scale);
  }

  add(micro: MicroCluster, topic: number): void {
    const core = this.#core(topic);
    addTo(core.sum, micro.sum);
    addKeys(core.keys, micro.keys);
    core.weight += micro.weight;
    this.#index?.update(this.#cores.indexOf(core), micro.keys);
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

  /** Null when none is as similar as `least`. */
  #nearestBehind(index: number, least: number): Neighbour | null {
    const core = this.#cores[index]!;
    const { held } = this.#state.curation;
    if (held.has(core.topic)) return null;
    const others = this.#cores.slice(index + 1).filter(({ topic }) => !held.has(topic));
    const dots = new Float64Array(others.length);
    dotsOf(
      core.sum,
      others.map(({ sum }) => sum),
      dots,
    );
    const missing = MOST_BONUS * this.#state.thresholds.scale;
    let best: Neighbour | null = null;
    for (const [at, other] of others.entries()) {
      const dot = dots[at]!;
      if (dot / (core.weight * other.weight) + missing < least) continue;
      const similarity = this.#similarityOf(core, other, dot);
      if (similarity >= least && (best === null || similarity > best.similarity))
        best = { other, similarity };
    }
    return best;
  }

  /** Mean similarity of the requests of two cores. */
  #similarityOf(a: Core, b: Core, dot: number): number {
    const { scale } = this.#state.thresholds;
    return (dot + scale * keyBonus(a.keys, b.keys)) / (a.weight * b.weight);
  }
}

/** The cores of topics as lists, for comparing one micro-cluster after the other with all of them. */
class CoreIndex {
  readonly #cores: readonly Core[];
  readonly #sums: readonly Float32Array[];
  readonly #keys = new KeyIndex();
  readonly #groups: readonly number[];
  readonly #totals: Float64Array;
  readonly #weights: Float64Array;

  constructor(cores: readonly Core[]) {
    this.#cores = cores;
    this.#sums = cores.map(({ sum }) => sum);
    for (const { keys } of cores) this.#keys.push(keys);
    this.#groups = cores.map(({ topic }) => topic);
    this.#totals = new Float64Array(cores.length);
    this.#weights = Float64Array.from(cores, ({ weight }) => weight);
  }

  /** Call when the core in a row has grown by requests with such keys. */
  update(row: number, keys: RequestKeys): void {
    this.#weights[row] = this.#cores[row]!.weight;
    this.#keys.hold(row, keys);
  }

  similaritiesTo(sum: Float32Array, keys: RequestKeys, weight: number, scale: number): GroupSimilarities {
    const [totals, bonuses] = [this.#totals, this.#keys.bonuses(keys)];
    dotsOf(sum, this.#sums, totals);
    for (let row = 0; row < totals.length; row += 1)
      totals[row] = (totals[row]! + scale * bonuses[row]!) / weight;
    return { groups: this.#groups, totals, weights: this.#weights };
  }
}
