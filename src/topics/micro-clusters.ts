/**
 * The micro-clusters of one instance: finds the nearest one to a request, and changes them. They are the grain of
 * topics: a request never leaves its micro-cluster, and micro-clusters only merge, so a message refers to one by its
 * number for good.
 */
import type { DotArena } from '../numeric/dot-kernel.ts';
import { startOfRow } from '../numeric/lower-triangle.ts';
import { VectorTable } from '../numeric/vector-table.ts';
import { addTo, normOf } from '../numeric/vectors.ts';
import { ChangeTracker } from './change-tracker.ts';
import { groupOf, sumOf, type MicroCluster } from './micro-cluster.ts';
import { WordIndex } from './naming/word-index.ts';
import { mergeSamplesAndPhrases } from './naming/wording.ts';

export interface Nearest {
  readonly row: number;
  readonly micro: MicroCluster;
  readonly cosine: number;
}

/** What is added to the similarity of two requests that both have a topic. */
export interface PairBonus {
  readonly sameTopic: number;
  readonly otherTopic: number;
}

/** About what samples, words and indexes of a micro-cluster take, and the trace of a merged one. */
const MICRO_BYTES = 4000;
const MERGED_BYTES = 200;

export class MicroClusters {
  /** By row of the vector table; numbers ascend. */
  readonly live: MicroCluster[] = [];
  readonly words = new WordIndex();
  /** Topic of each micro-cluster before it changed; undefined when it is new. */
  readonly changes = new ChangeTracker<number | undefined>();
  /** The number of the next micro-cluster. */
  next = 0;
  readonly #table: VectorTable;
  readonly #byNumber = new Map<number, MicroCluster>();
  /** Merged micro-cluster → the one that it merged into, which may have merged since. */
  readonly #mergedInto = new Map<number, number>();
  /** Live micro-cluster → all that merged into it, directly or not. */
  readonly #absorbed = new Map<number, number[]>();
  /** Sums of topics' vectors; those that changed are missing. */
  readonly #topicSums = new Map<number, Float32Array>();
  /** Cosine of each row with the vector last measured. */
  #cosines = new Float32Array(64);

  constructor(arena: DotArena) {
    this.#table = new VectorTable(arena);
  }

  /** Computes the cosines that `nearest` and `nearestGroup` compare. */
  measure(vector: Float32Array): void {
    if (this.#cosines.length < this.live.length) this.#cosines = new Float32Array(this.live.length * 2);
    this.#table.cosines(vector, this.#cosines);
  }

  /** The micro-cluster with the highest cosine from `threshold` on; of equal ones the earliest. */
  nearest(threshold: number, mayJoin?: (micro: MicroCluster) => boolean): Nearest | null {
    let best = -1;
    let bestCosine = threshold;
    for (let row = 0; row < this.live.length; row += 1) {
      const cosine = this.#cosines[row]!;
      if (cosine < bestCosine || (best >= 0 && cosine === bestCosine)) continue;
      if (mayJoin !== undefined && !mayJoin(this.live[row]!)) continue;
      best = row;
      bestCosine = cosine;
    }
    return best < 0 ? null : { row: best, micro: this.live[best]!, cosine: bestCosine };
  }

  /**
   * The topic or waiting group (as `groupOf` gives it) whose requests have the highest mean similarity from
   * `threshold` on. Topics precede waiting groups.
   */
  nearestGroup(threshold: number): number | null {
    const groups = new Map<number, { similarities: number; weight: number }>();
    for (const [row, micro] of this.live.entries()) {
      const similarities = this.#cosines[row]! * micro.norm;
      const group = groups.get(groupOf(micro));
      if (group === undefined) groups.set(groupOf(micro), { similarities, weight: micro.weight });
      else {
        group.similarities += similarities;
        group.weight += micro.weight;
      }
    }
    let nearest: number | null = null;
    let bestRank = Number.NEGATIVE_INFINITY;
    for (const [group, { similarities, weight }] of groups) {
      const similarity = similarities / weight;
      const rank = group >= 0 ? similarity + 1 : similarity;
      if (similarity < threshold || rank <= bestRank) continue;
      nearest = group;
      bestRank = rank;
    }
    return nearest;
  }

  /** Sums of similarities over all pairs of requests of two micro-clusters, as `averageLinkage` takes them. */
  pairTotals(bonus: PairBonus): Float64Array {
    const count = this.live.length;
    const totals = new Float64Array(startOfRow(count));
    this.#table.pairCosines(totals);
    const norms = Float64Array.from(this.live, ({ norm }) => norm);
    const weights = Float64Array.from(this.live, ({ weight }) => weight);
    const topics = Int32Array.from(this.live, ({ topic }) => topic);
    for (let row = 1, at = 0; row < count; row += 1) {
      const [norm, weight, topic] = [norms[row]!, weights[row]!, topics[row]!];
      for (let other = 0; other < row; other += 1, at += 1) {
        let total = totals[at]! * norm * norms[other]!;
        if (topic >= 0 && topics[other]! >= 0) {
          const own = topic === topics[other] ? bonus.sameTopic : bonus.otherTopic;
          total += own * weight * weights[other]!;
        }
        totals[at] = total;
      }
    }
    return totals;
  }

  byTopic(): Map<number, MicroCluster[]> {
    return Map.groupBy(
      this.live.filter(({ topic }) => topic >= 0),
      ({ topic }) => topic,
    );
  }

  inWaitingGroup(group: number): MicroCluster[] {
    return this.live.filter(
      ({ number, topic, waitingGroup }) => topic < 0 && waitingGroup === group && this.#byNumber.has(number),
    );
  }

  /** Sum of the vectors of a topic's requests: the same object as long as it is the same sum. */
  sumOfTopic(topic: number, members: readonly MicroCluster[]): Float32Array {
    const sum = this.#topicSums.get(topic) ?? sumOf(members);
    this.#topicSums.set(topic, sum);
    return sum;
  }

  /** The live micro-cluster with this number; undefined when it has merged into another. */
  get(number: number): MicroCluster | undefined {
    return this.#byNumber.get(number);
  }

  /** The micro-cluster that this one merged into; undefined while it is live. */
  mergedInto(number: number): number | undefined {
    return this.#mergedInto.get(number);
  }

  /** The live micro-cluster that holds the requests of this one now. */
  resolve(number: number): MicroCluster {
    let live = number;
    for (let into = this.#mergedInto.get(live); into !== undefined; into = this.#mergedInto.get(live)) {
      live = into;
    }
    return this.#byNumber.get(live)!;
  }

  /** Adds a request's vector. */
  join({ row, micro }: Nearest, vector: Float32Array): void {
    addTo(micro.sum, vector);
    micro.weight += 1;
    micro.norm = this.#table.set(row, micro.sum);
    this.#topicSums.delete(micro.topic);
    this.changes.markUnsaved(micro.number);
  }

  /** A micro-cluster of one request, in a topic or waiting group (as `groupOf` gives it) or on its own. */
  create(vector: Float32Array, position: number, group: number | null): MicroCluster {
    const number = this.next;
    this.next += 1;
    const micro: MicroCluster = {
      number,
      position,
      weight: 1,
      sum: Float32Array.from(vector),
      norm: 1,
      topic: group !== null && group >= 0 ? group : -1,
      waitingGroup: group !== null && group < 0 ? -1 - group : number,
      samples: [],
      words: new Map(),
      phrases: new Map(),
    };
    this.#topicSums.delete(micro.topic);
    this.changes.note(number, undefined);
    this.changes.markUnsaved(number);
    this.#insert(micro);
    return micro;
  }

  moveToTopic(micro: MicroCluster, topic: number): void {
    if (micro.topic === topic) return;
    this.#note(micro);
    this.#topicSums.delete(micro.topic);
    this.#topicSums.delete(topic);
    micro.topic = topic;
    micro.waitingGroup = micro.number;
    this.changes.markUnsaved(micro.number);
  }

  moveToWaitingGroup(micro: MicroCluster, group: number): void {
    if (micro.waitingGroup === group) return;
    micro.waitingGroup = group;
    this.changes.markUnsaved(micro.number);
  }

  /**
   * Merges one micro-cluster into another. If only `gone` has a topic, the waiting group of `kept` joins that topic;
   * if neither has one, their waiting groups become one. Call `compact` after the last merge.
   */
  merge(kept: MicroCluster, gone: MicroCluster): void {
    this.#note(gone);
    if (kept.topic < 0) {
      if (gone.topic >= 0) {
        for (const micro of this.inWaitingGroup(kept.waitingGroup)) this.moveToTopic(micro, gone.topic);
      } else {
        for (const micro of this.inWaitingGroup(gone.waitingGroup))
          this.moveToWaitingGroup(micro, kept.waitingGroup);
      }
    }
    addTo(kept.sum, gone.sum);
    kept.weight += gone.weight;
    mergeSamplesAndPhrases(kept, gone);
    this.words.merge(kept, gone);
    this.#topicSums.delete(kept.topic);
    this.#byNumber.delete(gone.number);
    this.#mergedInto.set(gone.number, kept.number);
    this.#absorb(kept.number, [gone.number, ...(this.#absorbed.get(gone.number) ?? [])]);
    this.#absorbed.delete(gone.number);
    this.changes.markUnsaved(gone.number);
    this.changes.markUnsaved(kept.number);
  }

  /** Removes the rows of merged micro-clusters. */
  compact(): void {
    const left = this.live.filter(({ number }) => this.#byNumber.has(number));
    this.live.length = 0;
    this.#table.clear();
    for (const micro of left) this.#insert(micro);
  }

  /** Takes back what was stored; numbers ascend. `mergedInto`: merged micro-clusters, each with its successor. */
  restore(
    live: readonly MicroCluster[],
    mergedInto: readonly (readonly [number: number, into: number])[],
  ): void {
    for (const micro of live) this.#insert(micro);
    for (const [number, into] of mergedInto) this.#mergedInto.set(number, into);
    for (const [number] of mergedInto) this.#absorb(this.resolve(number).number, [number]);
  }

  /** About how much memory it takes. */
  get bytes(): number {
    const vectors = this.live.reduce((bytes, { sum }) => bytes + sum.byteLength, 0);
    return (
      this.#table.bytes + vectors + this.live.length * MICRO_BYTES + this.#mergedInto.size * MERGED_BYTES
    );
  }

  /** Gives the memory of the vectors back. The object is of no use afterwards. */
  release(): void {
    this.#table.clear();
  }

  #insert(micro: MicroCluster): void {
    this.live.push(micro);
    this.#byNumber.set(micro.number, micro);
    this.#table.push(micro.sum);
    micro.norm = normOf(micro.sum);
    this.words.insert(micro);
  }

  #absorb(live: number, gone: readonly number[]): void {
    const absorbed = this.#absorbed.get(live);
    if (absorbed === undefined) this.#absorbed.set(live, [...gone]);
    else absorbed.push(...gone);
  }

  /** Notes the topic before it changes, also for the micro-clusters that merged into this one. */
  #note({ number, topic }: MicroCluster): void {
    for (const changed of [number, ...(this.#absorbed.get(number) ?? [])]) this.changes.note(changed, topic);
  }
}
