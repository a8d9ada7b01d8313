/**
 * The cores of an instance's topics during one regrouping, each as a sum: merges cores that have grown together, and
 * measures how near the waiting micro-clusters are.
 *
 * Test: test/reader/topics/regrouping.test.ts.
 */
import { averageLinkage } from '../numeric/linkage.ts';
import { startOfRow } from '../numeric/lower-triangle.ts';
import { addTo, dotsOf, normOf } from '../numeric/vectors.ts';
import type { GroupSimilarities } from './group-similarities.ts';
import { KeyIndex } from './key-index.ts';
import { keysOfAll, sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { addKeys, keyBonus, type RequestKeys } from './request-keys.ts';
import type { TopicState } from './topic-state.ts';

export interface Core {
  readonly topic: number;
  readonly sum: Float32Array;
  readonly keys: RequestKeys;
  weight: number;
}

/** Returns the cores, ascending by topic. */
export function coresOf({ micros }: TopicState): Core[] {
  const members = Map.groupBy(
    micros.live.filter(({ core }) => core),
    ({ topic }) => topic,
  );
  return [...members]
    .sort(([a], [b]) => a - b)
    .map(([topic, own]) => ({ topic, sum: sumOf(own), keys: keysOfAll(own), weight: weightOf(own) }));
}

/**
 * Merges the cores with the greatest mean similarity, as long as it is at least `least`; the larger core absorbs the
 * smaller. Cores that a person decided on stay. Calls `onMerge` with the two topics. Returns the remaining cores.
 */
export function mergeCores(
  cores: readonly Core[],
  { curation, thresholds }: TopicState,
  least: number,
  onMerge: (larger: number, smaller: number) => void,
): Core[] {
  const left = new Set(cores);
  const heads = cores.filter(({ topic }) => !curation.held.has(topic));
  const weights = heads.map(({ weight }) => weight);
  for (const { a, b } of averageLinkage(pairTotals(heads, thresholds.scale), weights, least)) {
    const [first, second] = [heads[a]!, heads[b]!].sort((x, y) => y.weight - x.weight || x.topic - y.topic);
    addTo(first!.sum, second!.sum);
    addKeys(first!.keys, second!.keys);
    first!.weight += second!.weight;
    heads[a] = first!;
    left.delete(second!);
    onMerge(first!.topic, second!.topic);
  }
  return [...left];
}

/** Sums of similarities over all pairs of requests of two cores, in the layout of `averageLinkage`. */
function pairTotals(cores: readonly Core[], scale: number): Float64Array {
  const totals = new Float64Array(startOfRow(cores.length));
  const sums = cores.map(({ sum }) => sum);
  for (const [row, { sum, keys }] of cores.entries()) {
    const start = startOfRow(row);
    dotsOf(sum, sums.slice(0, row), totals.subarray(start, start + row));
    for (let other = 0; other < row; other += 1)
      totals[start + other]! += scale * keyBonus(cores[other]!.keys, keys);
  }
  return totals;
}

/** The cores of topics as lists, to compare many micro-clusters with all of them. */
export class CoreIndex {
  readonly #cores: readonly Core[];
  readonly #scale: number;
  readonly #sums: readonly Float32Array[];
  readonly #keys = new KeyIndex();
  readonly #groups: readonly number[];
  readonly #totals: Float64Array;
  readonly #weights: Float64Array;

  constructor(cores: readonly Core[], scale: number) {
    this.#cores = cores;
    this.#scale = scale;
    this.#sums = cores.map(({ sum }) => sum);
    for (const { keys } of cores) this.#keys.push(keys);
    this.#groups = cores.map(({ topic }) => topic);
    this.#totals = new Float64Array(cores.length);
    this.#weights = Float64Array.from(cores, ({ weight }) => weight);
  }

  /**
   * The similarities of a micro-cluster to the topics, in the form of `MicroClusters.similaritiesByGroup` (per request,
   * topics only).
   */
  similaritiesTo({ sum, keys, weight }: MicroCluster): GroupSimilarities {
    const [totals, bonuses] = [this.#totals, this.#keys.bonuses(keys)];
    dotsOf(sum, this.#sums, totals);
    for (let row = 0; row < totals.length; row += 1)
      totals[row] = (totals[row]! + this.#scale * bonuses[row]!) / weight;
    return { groups: this.#groups, totals, weights: this.#weights };
  }

  add(micro: MicroCluster, topic: number): void {
    const row = this.#groups.indexOf(topic);
    const core = this.#cores[row]!;
    addTo(core.sum, micro.sum);
    addKeys(core.keys, micro.keys);
    core.weight += micro.weight;
    this.#weights[row] = core.weight;
    this.#keys.hold(row, micro.keys);
  }
}

/** Stores the length of each mean vector for the requests that arrive until the next regrouping. */
export function saveLengths(cores: readonly Core[], state: TopicState): void {
  for (const { topic, sum, weight } of cores) {
    const length = normOf(sum) / weight;
    const row = state.topics[topic]!;
    if (row.length !== length) state.changeTopic(row, { length });
  }
}
