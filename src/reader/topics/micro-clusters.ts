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
import { GroupSums, type GroupSimilarities } from './group-similarities.ts';
import { KeyIndex } from './key-index.ts';
import { requestSums, type MicroCluster, type RequestSums } from './micro-cluster.ts';
import { addKeys, boundKeys, mainKeyBonus, mainKeysOf, type RequestKeys } from './request-keys.ts';
import { WordIndex } from './naming/word-index.ts';
import { mergeSamplesAndPhrases } from './naming/wording.ts';

export interface Nearest {
  readonly row: number;
  readonly micro: MicroCluster;
  readonly cosine: number;
}

/** Where a new micro-cluster belongs. */
export interface Place {
  /** Number of the topic, or −1. */
  readonly topic: number;
  readonly core: boolean;
  /** Unless core: the waiting group that it joins; null: one of its own. */
  readonly waitingGroup: number | null;
}

/** Number of the topic under which a micro-cluster is shown, or −1. */
export type ShownTopic = (micro: Pick<MicroCluster, 'topic' | 'claim'>) => number;

/** About what samples, words and indexes of a micro-cluster take, and the trace of a merged one. */
const MICRO_BYTES = 4000;
const MERGED_BYTES = 200;

export class MicroClusters {
  /** By row of the vector table; numbers ascend. */
  readonly live: MicroCluster[] = [];
  readonly words = new WordIndex();
  /** The topic under which each micro-cluster was shown before it changed; undefined when it is new. */
  readonly changes = new ChangeTracker<number | undefined>();
  /** The number of the next micro-cluster. */
  next = 0;
  readonly #arena: DotArena;
  readonly #table: VectorTable;
  readonly #byNumber = new Map<number, MicroCluster>();
  /** Merged micro-cluster → the one that it merged into, which may have merged since. */
  readonly #mergedInto = new Map<number, number>();
  /** Live micro-cluster → all that merged into it, directly or not. */
  readonly #absorbed = new Map<number, number[]>();
  /** Sums over topics; those that changed are missing. */
  readonly #topicSums = new Map<number, RequestSums>();
  /** By row, as `live`. */
  readonly #keys = new KeyIndex();
  readonly #groupSums = new GroupSums();
  /** Cosine of each row with the vector last measured. */
  #cosines = new Float32Array(64);

  readonly #shown: ShownTopic;

  constructor(arena: DotArena, shown: ShownTopic = ({ topic }) => topic) {
    this.#arena = arena;
    this.#shown = shown;
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

  /** Of the measured request to the requests of each group. `keys`: of the request. `scale`: similarity scale. */
  similaritiesByGroup(keys: RequestKeys, scale: number): GroupSimilarities {
    return this.#groupSums.sum(this.live, this.#cosines, this.#keys.bonuses(keys), scale);
  }

  /**
   * Sums of similarities over all pairs of requests of two of some micro-clusters, as `averageLinkage` takes them.
   * `keyScale`: what the keys of requests add is multiplied by it; 0: only their vectors count.
   */
  pairTotals(members: readonly MicroCluster[], keyScale: number): Float64Array {
    const table = new VectorTable(this.#arena);
    for (const { sum } of members) table.push(sum);
    const totals = new Float64Array(startOfRow(members.length));
    table.pairCosines(totals);
    table.clear();
    const norms = Float64Array.from(members, ({ norm }) => norm);
    const weights = Float64Array.from(members, ({ weight }) => weight);
    const keys = keyScale === 0 ? null : mainKeysOf(members.map((member) => member.keys));
    for (let row = 1, at = 0; row < members.length; row += 1) {
      const [norm, weight, own] = [norms[row]!, keyScale * weights[row]!, keys?.[row]];
      for (let other = 0; other < row; other += 1, at += 1) {
        totals[at]! *= norm * norms[other]!;
        if (own !== undefined) totals[at]! += mainKeyBonus(own, keys![other]!) * weight * weights[other]!;
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
    const members: MicroCluster[] = [];
    for (const micro of this.live)
      if (micro.waitingGroup === group && !micro.core && this.#byNumber.has(micro.number))
        members.push(micro);
    return members;
  }

  /** A topic's requests, added up: the same object as long as it is the same sum. */
  sumsOfTopic(topic: number, members: readonly MicroCluster[]): RequestSums {
    const known = this.#topicSums.get(topic);
    if (known !== undefined) return known;
    const sums = requestSums(members);
    this.#topicSums.set(topic, sums);
    return sums;
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
  join({ row, micro }: Nearest, vector: Float32Array, keys: RequestKeys): void {
    addTo(micro.sum, vector);
    micro.weight += 1;
    addKeys(micro.keys, keys);
    boundKeys(micro.keys);
    this.#keys.hold(row, keys);
    micro.norm = this.#table.set(row, micro.sum);
    this.#groupSums.update(row, micro);
    this.#topicSums.delete(micro.topic);
    this.changes.markUnsaved(micro.number);
  }

  /** A micro-cluster of one request. */
  create(
    vector: Float32Array,
    keys: RequestKeys,
    position: number,
    { topic, core, waitingGroup }: Place,
    claim = -1,
  ): MicroCluster {
    const number = this.next;
    this.next += 1;
    const micro: MicroCluster = {
      number,
      position,
      weight: 1,
      sum: Float32Array.from(vector),
      norm: 1,
      topic,
      core,
      waitingGroup: waitingGroup ?? number,
      claim,
      keys,
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

  /** A core micro-cluster waits for nothing; a loose one stays in its waiting group. */
  moveToTopic(micro: MicroCluster, topic: number, core: boolean): void {
    if (micro.topic === topic && micro.core === core) return;
    this.#note(micro);
    this.#topicSums.delete(micro.topic);
    this.#topicSums.delete(topic);
    micro.topic = topic;
    micro.core = core;
    if (core) micro.waitingGroup = micro.number;
    this.#groupSums.forget();
    this.changes.markUnsaved(micro.number);
  }

  /** The topic that it is found in stays; what it shows may change. */
  claim(micro: MicroCluster, topic: number): void {
    if (micro.claim === topic) return;
    this.#note(micro);
    this.#topicSums.delete(micro.topic);
    micro.claim = topic;
    this.changes.markUnsaved(micro.number);
  }

  /** Call before what is shown of any micro-cluster changes. */
  noteAll(): void {
    for (const micro of this.live) this.#note(micro);
    this.#topicSums.clear();
  }

  moveToWaitingGroup(micro: MicroCluster, group: number): void {
    if (micro.waitingGroup === group) return;
    micro.waitingGroup = group;
    this.#groupSums.forget();
    this.changes.markUnsaved(micro.number);
  }

  /**
   * Merges one micro-cluster into another of the same topic that is core or loose as well. Call `compact` after the
   * last merge.
   */
  merge(kept: MicroCluster, gone: MicroCluster): void {
    this.#note(gone);
    addTo(kept.sum, gone.sum);
    kept.weight += gone.weight;
    addKeys(kept.keys, gone.keys);
    boundKeys(kept.keys);
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
    this.#keys.clear();
    this.#groupSums.forget();
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
    this.#keys.push(micro.keys);
    micro.norm = normOf(micro.sum);
    this.words.insert(micro);
  }

  #absorb(live: number, gone: readonly number[]): void {
    const absorbed = this.#absorbed.get(live);
    if (absorbed === undefined) this.#absorbed.set(live, [...gone]);
    else absorbed.push(...gone);
  }

  /** Notes the topic that is shown before it changes, also for the micro-clusters that merged into this one. */
  #note(micro: MicroCluster): void {
    const shown = this.#shown(micro);
    for (const changed of [micro.number, ...(this.#absorbed.get(micro.number) ?? [])])
      this.changes.note(changed, shown);
  }
}
