/**
 * The micro-clusters of one instance: finds the nearest one to a request, and changes them. Keeps the invariant that a
 * request never leaves its micro-cluster and micro-clusters only merge, so that a message can refer to one by number
 * for good.
 *
 * Test: test/reader/topics/micro-clusters.test.ts.
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

/** The group of a new micro-cluster. */
export interface Place {
  /** Number of the topic, or −1. */
  readonly topic: number;
  readonly core: boolean;
  /** Number of the waiting group that it joins, unless it is core; null for a group of its own. */
  readonly waitingGroup: number | null;
}

/** What decides under which topic a micro-cluster is shown. */
export type Shown = Pick<MicroCluster, 'number' | 'topic' | 'claim' | 'corrections'>;

/** Returns the number of the topic under which a micro-cluster is shown, or −1. */
export type VisibleTopic = (micro: Shown) => number;

/** Of requests that nobody decided about. */
export const UNDECIDED: Pick<MicroCluster, 'claim' | 'corrections'> = {
  claim: -1,
  corrections: [],
};

/** Estimated memory of the samples, words and index entries of a micro-cluster, and of a merged one, bytes. */
const MICRO_BYTES = 4000;
const MERGED_BYTES = 200;

/** The micro-clusters of one instance, live and merged. */
export class MicroClusters {
  /** The live micro-clusters by row of the vector table; numbers ascend. */
  readonly live: MicroCluster[] = [];
  readonly words = new WordIndex();
  /** The topic under which each changed micro-cluster was shown; undefined if it is new. */
  readonly changes = new ChangeTracker<number | undefined>();
  /** Number of the next micro-cluster. */
  next = 0;
  readonly #arena: DotArena;
  readonly #table: VectorTable;
  readonly #byNumber = new Map<number, MicroCluster>();
  /** Merged micro-cluster → the one that it merged into, which may have merged since. */
  readonly #mergedInto = new Map<number, number>();
  /** Live micro-cluster → all that merged into it, directly or not. */
  readonly #absorbed = new Map<number, number[]>();
  /** Cached sums by topic; an entry is dropped when it changes. */
  readonly #topicSums = new Map<number, RequestSums>();
  /** Keys by row, parallel to `live`. */
  readonly #keys = new KeyIndex();
  readonly #groupSums = new GroupSums();
  /** Cosine of each row with the last measured vector. */
  #cosines = new Float32Array(64);

  readonly #visibleTopic: VisibleTopic;

  constructor(arena: DotArena, visibleTopic: VisibleTopic = ({ topic }) => topic) {
    this.#arena = arena;
    this.#visibleTopic = visibleTopic;
    this.#table = new VectorTable(arena);
  }

  /** Computes the cosines of a vector for `nearest` and `similaritiesByGroup`. */
  measure(vector: Float32Array): void {
    if (this.#cosines.length < this.live.length) this.#cosines = new Float32Array(this.live.length * 2);
    this.#table.cosines(vector, this.#cosines);
  }

  /**
   * The micro-cluster with the greatest cosine that is at least `threshold`; of equal ones the earliest. Null if there
   * is none.
   */
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

  /** The micro-clusters whose cosine is at least `threshold`. */
  within(threshold: number): MicroCluster[] {
    return this.live.filter((_, row) => this.#cosines[row]! >= threshold);
  }

  /**
   * Similarities of the measured request to the requests of each group. `keys`: of the request. `scale`: similarity
   * scale.
   */
  similaritiesByGroup(keys: RequestKeys, scale: number): GroupSimilarities {
    return this.#groupSums.sum(this.live, this.#cosines, this.#keys.bonuses(keys), scale);
  }

  /**
   * Sums of similarities over all pairs of requests of two micro-clusters, in the layout of `averageLinkage`.
   * `keyScale`: factor on the bonus of keys; 0 compares vectors only.
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
    const weighRow = (row: number): void => {
      const [norm, weight, own] = [norms[row]!, keyScale * weights[row]!, keys?.[row]];
      for (let other = 0, at = startOfRow(row); other < row; other += 1, at += 1) {
        totals[at]! *= norm * norms[other]!;
        if (own !== undefined) totals[at]! += mainKeyBonus(own, keys![other]!) * weight * weights[other]!;
      }
    };
    for (let row = 1; row < members.length; row += 1) weighRow(row);
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

  /**
   * The sums over a topic's requests. Returns the same object while the sums are the same. `members`: those of
   * `TopicState.overview`, because one object is kept for each topic.
   */
  sumsOfTopic(topic: number, members: readonly MicroCluster[]): RequestSums {
    const known = this.#topicSums.get(topic);
    if (known !== undefined) return known;
    const sums = requestSums(members);
    this.#topicSums.set(topic, sums);
    return sums;
  }

  /** The live micro-cluster with this number; undefined if it has merged. */
  get(number: number): MicroCluster | undefined {
    return this.#byNumber.get(number);
  }

  /** The micro-cluster that this one merged into; undefined while it is live. */
  mergedInto(number: number): number | undefined {
    return this.#mergedInto.get(number);
  }

  /** The micro-clusters that merged into a live one, directly or not. */
  absorbedBy(number: number): readonly number[] {
    return this.#absorbed.get(number) ?? [];
  }

  /** The live micro-cluster that now holds the requests of this one. */
  resolve(number: number): MicroCluster {
    let live = number;
    for (let into = this.#mergedInto.get(live); into !== undefined; into = this.#mergedInto.get(live)) {
      live = into;
    }
    return this.#byNumber.get(live)!;
  }

  /** Adds a request to a micro-cluster. */
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

  /** Creates a micro-cluster of one request. */
  create(
    vector: Float32Array,
    keys: RequestKeys,
    position: number,
    { topic, core, waitingGroup }: Place,
    { claim, corrections }: Pick<MicroCluster, 'claim' | 'corrections'> = UNDECIDED,
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
      corrections,
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

  /** Moves a micro-cluster to a topic. A core one leaves its waiting group; a loose one stays in it. */
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

  /** Sets the own topic that claims a micro-cluster. Its found topic stays; the topic that is shown may change. */
  claim(micro: MicroCluster, topic: number): void {
    if (micro.claim === topic) return;
    this.#note(micro);
    this.#topicSums.delete(micro.topic);
    micro.claim = topic;
    this.changes.markUnsaved(micro.number);
  }

  /** Adds a correction, later than those before, to a micro-cluster. Call `noteAll` before. */
  correct(micro: MicroCluster, correction: number): void {
    micro.corrections = [correction, ...micro.corrections];
    this.changes.markUnsaved(micro.number);
  }

  /** Drops a correction that was taken back, so that alike micro-clusters can merge again. Call `noteAll` before. */
  forgetCorrection(correction: number): void {
    for (const micro of this.live) {
      if (!micro.corrections.includes(correction)) continue;
      micro.corrections = micro.corrections.filter((one) => one !== correction);
      this.changes.markUnsaved(micro.number);
    }
  }

  /** Call before a change of the topic under which a micro-cluster is shown. */
  noteShown(micro: MicroCluster): void {
    this.#note(micro);
  }

  /** Call before a change of which topics are shown. */
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
   * Merges `gone` into `kept`, which must have the same topic and the same `core`. Call `compact` after the last merge.
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

  /** Restores stored micro-clusters, ascending by number. `mergedInto`: merged ones, each with its successor. */
  restore(
    live: readonly MicroCluster[],
    mergedInto: readonly (readonly [number: number, into: number])[],
  ): void {
    for (const micro of live) this.#insert(micro);
    for (const [number, into] of mergedInto) this.#mergedInto.set(number, into);
    for (const [number] of mergedInto) this.#absorb(this.resolve(number).number, [number]);
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    const vectors = this.live.reduce((bytes, { sum }) => bytes + sum.byteLength, 0);
    return (
      this.#table.bytes + vectors + this.live.length * MICRO_BYTES + this.#mergedInto.size * MERGED_BYTES
    );
  }

  /** Frees the memory of the vectors. The object must not be used afterwards. */
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

  /** Records the shown topic before it changes, for all that merged into this micro-cluster too. */
  #note(micro: MicroCluster): void {
    const visibleTopic = this.#visibleTopic(micro);
    for (const changed of [micro.number, ...this.absorbedBy(micro.number)])
      this.changes.note(changed, visibleTopic);
  }
}
