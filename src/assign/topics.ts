import type { ClusterRow, MicroTopic, StateRow, TopicRow } from '../domain/facts.ts';
import { beginning } from '../domain/beginning.ts';
import { derivedId } from '../domain/ids.ts';
import { ByteReader, ByteWriter } from '../domain/state-bytes.ts';
import {
  CentroidCosines,
  centroidSimilarity,
  clusterFloor,
  clusterTopics,
  type ClusteredTopic,
} from '../topics/clustering.ts';
import type { DotArena } from '../numeric/dot-kernel.ts';
import { averageLinkage, groupsAfter, type Merge } from '../numeric/linkage.ts';
import {
  contentStems,
  namesOf,
  pairsOf,
  togetherUsed,
  uniqueName,
  type Background,
  type PairUse,
  type Sample,
} from './names.ts';
import { continuations, wantedEntity } from '../topics/inheritance.ts';
import { addTo, dotsOf, normOf, VectorTable } from '../numeric/vectors.ts';

/** What is added to the similarity of two requests by the topics that they have; nothing where one has none. */
interface PairBias {
  readonly same: number;
  readonly different: number;
}

/** Cosine similarities; they belong to the embedding model. */
export interface TopicThresholds {
  /** At least this close to a micro-cluster's centroid: the request joins it. */
  readonly micro: number;
  /** Mean pairwise similarity down to which micro-clusters form one topic. */
  readonly topic: number;
  /** Mean similarity of centroids down to which topics form one cluster. */
  readonly cluster: number;
  /** Similarity of requests that have nothing in common. Default 0. */
  readonly zero?: number;
  /** As how much counts what is 1 in a model where nothing in common is 0. Default 1. */
  readonly unit?: number;
}

/** A topic is born at this many request turns. */
const BIRTH_MASS = 3;
/** More live micro-clusters than this are merged down to `KEPT_MICROS`. */
const MOST_MICROS = 1000;
const KEPT_MICROS = 700;
/** How much the leader threshold gives way each time the micro-clusters had to be merged. */
const RELAXATION = 0.02;
/**
 * Linkage with memory: two requests of one topic count as this much closer, of two topics this much
 * farther, so that a topic only splits or merges when the change is clear.
 */
const MEMORY = 0.04;
/** A group is small below this many times the square root of the instance's request turns. */
const SMALL_ROOT = 0.3;
/** A small group joins the nearest large one down to this share of the topic threshold. */
const FOLD_SHARE = 0.6;
/** It joins one that it is much nearer to than to all others down to this share. */
const STANDING_OUT_SHARE = 0.25;
/** Fewer others tell nothing of how near a large group is by chance. */
const FEWEST_OTHERS = 5;
/** Among more topics than this a new one joins a cluster; the clusters are formed anew with the next groups. */
const FEW_TOPICS = 100;
/** A topic is named anew when it has this many times the requests it had when it was named, or lost some. */
const TOPIC_RENAMING_GROWTH = 1.2;
/** A cluster is named anew when it has this many times the requests it had when it was named. */
const RENAMING_GROWTH = 2;
const SAMPLES_PER_MICRO = 4;
const SAMPLE_LENGTH = 120;
const WORDS_PER_MICRO = 16;
const PAIRS_PER_MICRO = 32;
const SAMPLES_PER_NAME = 48;

interface MicroSample {
  readonly text: string;
  readonly score: number;
}
interface Micro {
  readonly number: number;
  /** Position of the first request turn. */
  readonly position: number;
  count: number;
  readonly sum: Float32Array;
  /** Raised when `sum` changes. */
  version: number;
  norm: number;
  /** Topic number, or −1. */
  topic: number;
  /** While there is no topic: the number of the first micro-cluster of the group it waits in. */
  pending: number;
  samples: MicroSample[];
  /** Requests that hold a stem, for at most `WORDS_PER_MICRO` stems: what the members say, beyond the samples. */
  readonly words: Map<string, number>;
  /** The same for pairs of words, at most `PAIRS_PER_MICRO`. */
  readonly pairs: Map<string, PairUse>;
}
interface Topic {
  readonly number: number;
  /** Position of the founding micro-cluster: the topic's identity. */
  readonly position: number;
  name: string;
  /** Request turns when it was named. */
  namedAt: number;
  cluster: number;
}
interface Cluster {
  readonly number: number;
  /** Position of the topic it was founded on; with a counter when that topic founded one before. */
  readonly origin: string;
  name: string;
  namedAt: number;
}

/** Topics and topic clusters of one instance. Requests come in stream order; the number of topics is never given. */
export class Topics {
  readonly #instance: number;
  readonly #instanceId: string;
  readonly #thresholds: TopicThresholds;
  readonly #dimensions: number;
  readonly #table: VectorTable;
  /** Live micro-clusters by row; numbers ascend. */
  readonly #live: Micro[] = [];
  readonly #micros = new Map<number, Micro>();
  /** Merged micro-clusters → the one they went into (possibly merged itself later). */
  readonly #mergedInto = new Map<number, number>();
  /** Live micro-cluster → every number that ended in it. */
  readonly #absorbed = new Map<number, number[]>();
  readonly #topics: Topic[] = [];
  readonly #clusters: Cluster[] = [];
  /** Stem → live micro-clusters that count it among their words. */
  readonly #holders = new Map<string, Set<Micro>>();
  /** Founding position → topic. */
  readonly #founded = new Map<number, number>();
  readonly #centroids: CentroidCosines;
  /** Sums of topics' requests as they last were. */
  readonly #sums = new Map<
    number,
    { readonly members: readonly Micro[]; readonly versions: readonly number[]; readonly sum: Float32Array }
  >();
  #scores = new Float32Array(64);

  #requests = 0;
  #nextRegrouping = BIRTH_MASS;
  /** How far the leader threshold has given way, in units. */
  #relaxed = 0;
  #nextMicro = 0;

  /** What the batch changed: micro → topic before (undefined: new), topic and cluster rows before. */
  readonly #microsBefore = new Map<number, number | undefined>();
  readonly #topicsBefore = new Map<number, string>();
  readonly #clustersBefore = new Map<number, string>();
  readonly #dirtyMicros = new Set<number>();
  readonly #dirtyTopics = new Set<number>();
  readonly #dirtyClusters = new Set<number>();
  readonly #dirtyMerged = new Set<number>();
  #dirtyMeta = false;

  constructor(
    instance: number,
    instanceId: string,
    thresholds: TopicThresholds,
    dimensions: number,
    arena: DotArena,
  ) {
    this.#instance = instance;
    this.#instanceId = instanceId;
    this.#thresholds = thresholds;
    this.#dimensions = dimensions;
    this.#table = new VectorTable(arena);
    this.#centroids = new CentroidCosines(arena);
  }

  /** Takes a request turn in; returns its micro-cluster's number. */
  add(vector: Float32Array, request: string, position: number): number {
    this.#requests += 1;
    this.#dirtyMeta = true;
    this.#measure(vector);
    const best = this.#nearestRow();
    const micro = best >= 0 ? this.#join(best, vector) : this.#found(vector, position);
    offerSample(micro, request, best >= 0 ? this.#scores[best]! : 1);
    for (const stem of contentStems(request)) this.#countWord(micro, stem, 1);
    for (const [key, use] of pairsOf(request)) countPair(micro.pairs, key, use);
    this.#dirtyMicros.add(micro.number);
    if (micro.topic < 0) this.#bearIfDue(micro.pending);
    if (this.#live.length > MOST_MICROS) this.#prune();
    if (this.#requests >= this.#nextRegrouping) {
      this.#regroup();
      this.#nextRegrouping = nextRegroupingAfter(this.#requests);
    }
    return this.resolve(micro.number);
  }

  /**
   * The micro-cluster of a topic that a request with this vector would join, or null. Nothing is taken in: what is
   * said in answer to a question can belong to a topic, but neither makes topics nor says what one is about.
   */
  topicalMicro(vector: Float32Array): number | null {
    this.#measure(vector);
    const row = this.#nearestRow((micro) => micro.topic >= 0);
    return row < 0 ? null : this.#live[row]!.number;
  }

  /** The live micro-cluster that `micro` is part of now. */
  resolve(micro: number): number {
    let live = micro;
    for (let target = this.#mergedInto.get(live); target !== undefined; target = this.#mergedInto.get(live)) {
      live = target;
    }
    return live;
  }

  /** Words as the instance's topics use them now: good until the next request or change of groups. */
  background(): Background {
    const groupOf = ({ topic, pending }: Micro): number => (topic >= 0 ? topic : -2 - pending);
    const known = new Map<string, number>();
    return {
      groups: new Set(this.#live.map(groupOf)).size,
      groupsWith: (stem) => {
        let groups = known.get(stem);
        if (groups === undefined) {
          const holders = this.#holders.get(stem);
          groups = holders === undefined ? 0 : new Set([...holders].map(groupOf)).size;
          known.set(stem, groups);
        }
        return groups;
      },
    };
  }

  /** The rows that changed since the last call. */
  drain(): { micros: MicroTopic[]; topics: TopicRow[]; clusters: ClusterRow[] } {
    const micros: MicroTopic[] = [];
    for (const [micro, before] of this.#microsBefore) {
      const topic = this.#micros.get(this.resolve(micro))!.topic;
      if (before === topic) continue;
      micros.push({ instance: this.#instance, micro, topic: topic < 0 ? null : topic });
    }
    const topics: TopicRow[] = [];
    for (const [number, before] of this.#topicsBefore) {
      const topic = this.#topics[number]!;
      if (before === topicKey(topic)) continue;
      topics.push({
        instance: this.#instance,
        topic: number,
        id: derivedId(this.#instanceId, 'topic', String(topic.position)),
        name: topic.name,
        cluster: topic.cluster < 0 ? null : topic.cluster,
      });
    }
    const clusters: ClusterRow[] = [];
    for (const [number, before] of this.#clustersBefore) {
      const cluster = this.#clusters[number]!;
      if (before === cluster.name) continue;
      clusters.push({
        instance: this.#instance,
        cluster: number,
        id: derivedId(this.#instanceId, 'cluster', cluster.origin),
        name: cluster.name,
      });
    }
    this.#microsBefore.clear();
    this.#topicsBefore.clear();
    this.#clustersBefore.clear();
    return {
      micros: micros.sort((x, y) => x.micro - y.micro),
      topics: topics.sort((x, y) => x.topic - y.topic),
      clusters: clusters.sort((x, y) => x.cluster - y.cluster),
    };
  }

  /** State rows changed since the last call: kinds `topics`, `micro`, `merged`, `topic`, `cluster`. */
  takeState(): StateRow[] {
    const rows: StateRow[] = [];
    const put = (kind: string, key: number, value: Uint8Array | null): void => {
      rows.push({ instance: this.#instance, kind, key, value });
    };
    if (this.#dirtyMeta) {
      put(
        'topics',
        0,
        new ByteWriter()
          .byte(3)
          .count(this.#dimensions)
          .count(this.#requests)
          .count(this.#nextRegrouping)
          .count(this.#nextMicro)
          .text(String(this.#relaxed))
          .finish(),
      );
    }
    for (const number of this.#dirtyMicros) {
      const micro = this.#micros.get(number);
      put('micro', number, micro === undefined ? null : writeMicro(micro));
    }
    for (const number of this.#dirtyMerged) {
      put('merged', number, new ByteWriter().count(this.#mergedInto.get(number)!).finish());
    }
    for (const number of this.#dirtyTopics) {
      const topic = this.#topics[number]!;
      put(
        'topic',
        number,
        new ByteWriter()
          .count(topic.position)
          .text(topic.name)
          .count(topic.namedAt)
          .link(topic.cluster)
          .finish(),
      );
    }
    for (const number of this.#dirtyClusters) {
      const cluster = this.#clusters[number]!;
      put(
        'cluster',
        number,
        new ByteWriter().text(cluster.origin).text(cluster.name).count(cluster.namedAt).finish(),
      );
    }
    this.#dirtyMeta = false;
    for (const dirty of [this.#dirtyMicros, this.#dirtyMerged, this.#dirtyTopics, this.#dirtyClusters])
      dirty.clear();
    return rows;
  }

  /** Takes back the rows of `takeState`, in any order; rows of other kinds are left alone. Call on a fresh object. */
  restore(rows: readonly StateRow[]): void {
    const of = (kind: string): { key: number; read: ByteReader }[] =>
      rows
        .flatMap((row) =>
          row.kind === kind && row.value !== null ? [{ key: row.key, read: new ByteReader(row.value) }] : [],
        )
        .sort((x, y) => x.key - y.key);
    for (const { read } of of('topics')) {
      if (read.byte() !== 3) throw new Error('topic state was written by another version: rebuild the views');
      const dimensions = read.count();
      if (dimensions !== this.#dimensions) {
        throw new Error(
          `topic state has vectors of ${dimensions} dimensions, the embedding model gives ${this.#dimensions}: rebuild the views`,
        );
      }
      this.#requests = read.count();
      this.#nextRegrouping = read.count();
      this.#nextMicro = read.count();
      this.#relaxed = Number(read.text());
    }
    for (const { key, read } of of('topic')) {
      const topic = {
        number: key,
        position: read.count(),
        name: read.text(),
        namedAt: read.count(),
        cluster: read.link(),
      };
      this.#topics[key] = topic;
      this.#founded.set(topic.position, key);
    }
    for (const { key, read } of of('cluster')) {
      this.#clusters[key] = { number: key, origin: read.text(), name: read.text(), namedAt: read.count() };
    }
    for (const { key, read } of of('micro')) this.#insert(readMicro(key, read, this.#dimensions));
    for (const { key, read } of of('merged')) this.#mergedInto.set(key, read.count());
    for (const number of this.#mergedInto.keys()) {
      const live = this.resolve(number);
      const absorbed = this.#absorbed.get(live);
      if (absorbed === undefined) this.#absorbed.set(live, [number]);
      else absorbed.push(number);
    }
  }

  /** Gives the memory of the vectors back. The object is of no use afterwards. */
  release(): void {
    this.#table.clear();
  }

  get #unit(): number {
    return this.#thresholds.unit ?? 1;
  }

  #leaderThreshold(): number {
    const { micro, topic } = this.#thresholds;
    return Math.max((micro + topic) / 2, micro - this.#relaxed * this.#unit);
  }

  /** Puts the cosines with all live micro-clusters into `#scores`. */
  #measure(vector: Float32Array): void {
    if (this.#scores.length < this.#live.length) this.#scores = new Float32Array(this.#live.length * 2);
    this.#table.cosines(vector, this.#scores);
  }

  /** Row of the nearest micro-cluster by `#scores`, the first of equals; −1 when none is near enough to be joined. */
  #nearestRow(mayJoin?: (micro: Micro) => boolean): number {
    let best = -1;
    let bestCosine = this.#leaderThreshold();
    for (let row = 0; row < this.#live.length; row += 1) {
      const cosine = this.#scores[row]!;
      if (cosine < bestCosine || (best >= 0 && cosine === bestCosine)) continue;
      if (mayJoin !== undefined && !mayJoin(this.#live[row]!)) continue;
      best = row;
      bestCosine = cosine;
    }
    return best;
  }

  #insert(micro: Micro): void {
    this.#live.push(micro);
    this.#micros.set(micro.number, micro);
    this.#table.push(micro.sum);
    micro.norm = normOf(micro.sum);
    for (const stem of micro.words.keys()) this.#hold(stem, micro);
  }

  /** Adds to a stem's count; when there is no room, in the place of a stem that occurred once. */
  #countWord(micro: Micro, stem: string, count: number): void {
    const { words } = micro;
    const known = words.get(stem);
    if (known === undefined) {
      if (words.size >= WORDS_PER_MICRO) {
        const single = firstCountedOnce(words);
        if (single === undefined) return;
        words.delete(single);
        this.#letGo(single, micro);
      }
      this.#hold(stem, micro);
    }
    words.set(stem, (known ?? 0) + count);
  }

  #hold(stem: string, micro: Micro): void {
    const holders = this.#holders.get(stem);
    if (holders === undefined) this.#holders.set(stem, new Set([micro]));
    else holders.add(micro);
  }

  #letGo(stem: string, micro: Micro): void {
    const holders = this.#holders.get(stem);
    holders?.delete(micro);
    if (holders?.size === 0) this.#holders.delete(stem);
  }

  #join(row: number, vector: Float32Array): Micro {
    const micro = this.#live[row]!;
    addTo(micro.sum, vector);
    micro.version += 1;
    micro.count += 1;
    micro.norm = this.#table.set(row, micro.sum);
    return micro;
  }

  /** A micro-cluster of its own; its topic is the nearest one, else it waits with its nearest peers. */
  #found(vector: Float32Array, position: number): Micro {
    const number = this.#nextMicro;
    this.#nextMicro += 1;
    const micro: Micro = {
      number,
      position,
      count: 1,
      sum: Float32Array.from(vector),
      version: 0,
      norm: 1,
      topic: -1,
      pending: number,
      samples: [],
      words: new Map(),
      pairs: new Map(),
    };
    this.#microsBefore.set(number, undefined);
    const nearest = this.#nearestGroup(this.#scores);
    if (nearest !== null && nearest.similarity >= this.#thresholds.topic) {
      micro.topic = nearest.topic;
      if (nearest.topic < 0) micro.pending = nearest.pending;
    }
    this.#insert(micro);
    return micro;
  }

  /**
   * The topic or waiting group whose members are on average most similar to what `cosines` were measured
   * from; a topic is taken before a waiting group when it is similar enough.
   */
  #nearestGroup(cosines: Float32Array): { topic: number; pending: number; similarity: number } | null {
    const totals = new Map<number, { topic: number; pending: number; total: number; mass: number }>();
    for (let row = 0; row < this.#live.length; row += 1) {
      const micro = this.#live[row]!;
      const key = micro.topic >= 0 ? micro.topic : -1 - micro.pending;
      const total = totals.get(key);
      const similarity = cosines[row]! * micro.norm;
      if (total === undefined) {
        totals.set(key, { topic: micro.topic, pending: micro.pending, total: similarity, mass: micro.count });
      } else {
        total.total += similarity;
        total.mass += micro.count;
      }
    }
    let best: { topic: number; pending: number; similarity: number } | null = null;
    let bestRank = Number.NEGATIVE_INFINITY;
    for (const { topic, pending, total, mass } of totals.values()) {
      const similarity = total / mass;
      const rank = similarity + (topic >= 0 && similarity >= this.#thresholds.topic ? 1 : 0);
      if (rank <= bestRank) continue;
      bestRank = rank;
      best = { topic, pending, similarity };
    }
    return best;
  }

  #bearIfDue(pending: number): void {
    const members = this.#live.filter((micro) => micro.topic < 0 && micro.pending === pending);
    if (massOf(members) < BIRTH_MASS) return;
    const number = this.#foundTopic(members);
    const background = this.background();
    const held = this.#members();
    this.#name(this.#topics[number]!, held, background);
    if (held.size <= FEW_TOPICS) this.#recluster(held, background);
    else this.#joinCluster(number, held, background);
  }

  /** A topic of its own for `members`: a new one, or the one that its earliest free member founded before. */
  #foundTopic(members: readonly Micro[]): number {
    const holders = new Set(this.#live.map((micro) => micro.topic));
    for (const micro of members) {
      const founded = this.#founded.get(micro.position);
      if (founded !== undefined && holders.has(founded)) continue;
      const number = founded ?? this.#topics.length;
      if (founded === undefined) {
        this.#topicsBefore.set(number, '');
        this.#topics.push({ number, position: micro.position, name: '', namedAt: 0, cluster: -1 });
        this.#founded.set(micro.position, number);
        this.#dirtyTopics.add(number);
      }
      for (const member of members) this.#setTopic(member, number);
      return number;
    }
    return -1;
  }

  #setTopic(micro: Micro, topic: number): void {
    if (micro.topic === topic) return;
    this.#touch(micro);
    micro.topic = topic;
    micro.pending = micro.number;
    this.#dirtyMicros.add(micro.number);
  }

  #touch(micro: Micro): void {
    for (const number of [micro.number, ...(this.#absorbed.get(micro.number) ?? [])]) {
      if (!this.#microsBefore.has(number)) this.#microsBefore.set(number, micro.topic);
    }
  }

  /** Sums of pairwise similarities between micro-clusters, as `averageLinkage` takes them. */
  #pairTotals(bias: PairBias): Float64Array {
    const count = this.#live.length;
    const totals = new Float64Array((count * (count - 1)) / 2);
    this.#table.pairCosines(totals);
    const norms = Float64Array.from(this.#live, ({ norm }) => norm);
    const counts = Float64Array.from(this.#live, ({ count: members }) => members);
    const topics = Int32Array.from(this.#live, ({ topic }) => topic);
    let at = 0;
    for (let row = 1; row < count; row += 1) {
      const [norm, members, topic] = [norms[row]!, counts[row]!, topics[row]!];
      for (let other = 0; other < row; other += 1) {
        let total = totals[at]! * norm * norms[other]!;
        const peer = topics[other]!;
        if (topic >= 0 && peer >= 0)
          total += (topic === peer ? bias.same : bias.different) * members * counts[other]!;
        totals[at] = total;
        at += 1;
      }
    }
    return totals;
  }

  #linked(threshold: number, totals: Float64Array): Merge[] {
    return averageLinkage(
      totals,
      this.#live.map((micro) => micro.count),
      threshold,
    );
  }

  #regroup(): void {
    const memory = MEMORY * this.#unit;
    const merges = this.#linked(
      this.#thresholds.topic,
      this.#pairTotals({ same: memory, different: -memory }),
    );
    const groups = new Map<number, Micro[]>();
    groupsAfter(this.#live.length, merges).forEach((group, row) => {
      const members = groups.get(group);
      if (members === undefined) groups.set(group, [this.#live[row]!]);
      else members.push(this.#live[row]!);
    });
    const { topical: large, small } = this.#fold([...groups.values()]);
    const continued = continuations(large.map(holdingsOf));
    const continuedTopics = new Set(continued);

    // A topic that no large group continues goes where most of it went.
    const before = this.#live.map((micro) => micro.topic);
    large.forEach((members, index) => {
      const topic = continued[index]!;
      if (topic >= 0) for (const micro of members) this.#setTopic(micro, topic);
    });
    large.forEach((members, index) => {
      if (continued[index]! >= 0) return;
      const founded = this.#foundTopic(members);
      if (founded >= 0) return;
      const wanted = wantedEntity(holdingsOf(members));
      for (const micro of members) this.#setTopic(micro, wanted?.entity ?? micro.topic);
    });
    this.#settleSmall(small, before, continuedTopics);
    const background = this.background();
    const members = this.#members();
    for (const [number, micros] of [...members].sort(([x], [y]) => x - y)) {
      const topic = this.#topics[number]!;
      const mass = massOf(micros);
      if (mass < topic.namedAt || mass >= topic.namedAt * TOPIC_RENAMING_GROWTH)
        this.#name(topic, members, background);
    }
    this.#recluster(members, background);
  }

  /**
   * Parts the linked groups into those that make topics and those too small for one. A group that is small
   * beside the instance joins the nearest large one if there is one near, or nearer than the nearest of so
   * many would be by chance, so that old instances do not fill up with topics of three requests and
   * fragments of large ones; if there is none, it is a topic like any other.
   */
  #fold(groups: readonly Micro[][]): { topical: Micro[][]; small: Micro[][] } {
    const enough = Math.max(BIRTH_MASS, Math.floor(SMALL_ROOT * Math.sqrt(this.#requests)));
    const large = groups.filter((members) => massOf(members) >= enough);
    const targets = large.map((members) => ({
      members: [...members],
      sum: sumOf(members, this.#dimensions),
      mass: massOf(members),
    }));
    const targetSums = targets.map(({ sum }) => sum);
    const zero = this.#thresholds.zero ?? 0;
    const dots = new Float64Array(targets.length);
    const topical: Micro[][] = [];
    const small: Micro[][] = [];
    for (const members of groups) {
      const mass = massOf(members);
      if (mass >= enough) continue;
      const held = members.some((micro) => micro.topic >= 0);
      if (mass < BIRTH_MASS && held) {
        small.push(members);
        continue;
      }
      const sum = sumOf(members, this.#dimensions);
      dotsOf(sum, targetSums, dots);
      const means = targets.map((target, index) => dots[index]! / (mass * target.mass));
      const nearest = largest(means);
      const share = standsOut(means, nearest) ? STANDING_OUT_SHARE : FOLD_SHARE;
      const least = zero + (this.#thresholds.topic - zero) * share + (held ? MEMORY * this.#unit : 0);
      if (nearest >= 0 && means[nearest]! >= least) targets[nearest]!.members.push(...members);
      else if (mass >= BIRTH_MASS) topical.push(members);
      else small.push(members);
    }
    return { topical: [...targets.map(({ members }) => members), ...topical], small };
  }

  /**
   * Groups that make no topic. What had a topic keeps it while it goes on, and follows it when it was
   * merged; what had none waits.
   */
  #settleSmall(small: readonly Micro[][], before: readonly number[], continued: ReadonlySet<number>): void {
    const settled = new Set<Micro>(this.#live);
    for (const members of small) for (const micro of members) settled.delete(micro);
    const topicBefore = new Map(this.#live.map((micro, row) => [micro, before[row]!]));
    const wentTo = (topic: number): number => {
      const moved = [...settled].filter((micro) => topicBefore.get(micro) === topic);
      return wantedEntity(holdingsOf(moved))?.entity ?? topic;
    };
    for (const members of small) {
      const held = wantedEntity(holdingsOf(members));
      if (held !== null) {
        const topic = continued.has(held.entity) ? held.entity : wentTo(held.entity);
        for (const micro of members) this.#setTopic(micro, topic);
        continue;
      }
      for (const micro of members) {
        if (micro.pending === members[0]!.number) continue;
        micro.pending = members[0]!.number;
        this.#dirtyMicros.add(micro.number);
      }
    }
  }

  /** Merges the nearest micro-clusters, never across topics, and lets the leader search be more generous. */
  #prune(): void {
    const wanted = this.#live.length - KEPT_MICROS;
    const bias = { same: 0, different: -4 };
    // Those down to a threshold are the first of all: most often they are enough.
    const totals = this.#pairTotals(bias);
    let merges = this.#linked(this.#thresholds.topic, totals);
    if (merges.length < wanted) merges = this.#linked(-1, totals);
    const rows = [...this.#live];
    for (const { a, b } of merges.slice(0, wanted)) {
      const kept = this.#micros.get(this.resolve(rows[a]!.number))!;
      const gone = this.#micros.get(this.resolve(rows[b]!.number))!;
      this.#absorb(kept, gone);
    }
    const left = rows.filter((micro) => this.#micros.has(micro.number));
    this.#live.length = 0;
    this.#table.clear();
    for (const micro of left) this.#insert(micro);
    this.#relaxed += RELAXATION;
    for (const pending of new Set(left.filter((micro) => micro.topic < 0).map((micro) => micro.pending))) {
      this.#bearIfDue(pending);
    }
  }

  #absorb(kept: Micro, gone: Micro): void {
    this.#touch(gone);
    if (kept.topic < 0 && gone.topic >= 0) {
      const pending = kept.pending;
      for (const micro of this.#live) {
        if (micro.topic < 0 && micro.pending === pending && this.#micros.has(micro.number))
          this.#setTopic(micro, gone.topic);
      }
    } else if (kept.topic < 0 && gone.pending !== kept.pending) {
      const from = gone.pending;
      for (const micro of this.#live) {
        if (micro.topic >= 0 || micro.pending !== from) continue;
        micro.pending = kept.pending;
        this.#dirtyMicros.add(micro.number);
      }
    }
    addTo(kept.sum, gone.sum);
    kept.version += 1;
    kept.count += gone.count;
    for (const { text, score } of gone.samples) offerSample(kept, text, score, true);
    for (const [stem, count] of gone.words) {
      this.#countWord(kept, stem, count);
      this.#letGo(stem, gone);
    }
    for (const [key, use] of gone.pairs) countPair(kept.pairs, key, use);
    this.#micros.delete(gone.number);
    this.#mergedInto.set(gone.number, kept.number);
    this.#absorbed.set(kept.number, [
      ...(this.#absorbed.get(kept.number) ?? []),
      gone.number,
      ...(this.#absorbed.get(gone.number) ?? []),
    ]);
    this.#absorbed.delete(gone.number);
    this.#dirtyMerged.add(gone.number);
    this.#dirtyMicros.add(gone.number);
    this.#dirtyMicros.add(kept.number);
  }

  /** Live micro-clusters of each topic that has any. */
  #members(): Map<number, Micro[]> {
    const held = new Map<number, Micro[]>();
    for (const micro of this.#live) {
      if (micro.topic < 0) continue;
      const members = held.get(micro.topic);
      if (members === undefined) held.set(micro.topic, [micro]);
      else members.push(micro);
    }
    return held;
  }

  #name(topic: Topic, held: ReadonlyMap<number, readonly Micro[]>, background: Background): void {
    const members = held.get(topic.number) ?? [];
    const taken = new Set<string>();
    for (const number of held.keys()) {
      if (number !== topic.number) taken.add(this.#topics[number]!.name);
    }
    const names = namesOf(samplesOf(members), background, wordShares(members), 'topic', pairUses(members));
    this.#changeTopic(topic, () => {
      topic.name = uniqueName(names, taken);
      topic.namedAt = massOf(members);
    });
  }

  #changeTopic(topic: Topic, change: () => void): void {
    if (!this.#topicsBefore.has(topic.number)) this.#topicsBefore.set(topic.number, topicKey(topic));
    change();
    this.#dirtyTopics.add(topic.number);
  }

  /** Forms the clusters anew over all topics that have members. */
  #recluster(members: ReadonlyMap<number, readonly Micro[]>, background: Background): void {
    const topics: ClusteredTopic[] = [...members]
      .sort(([x], [y]) => x - y)
      .map(([number, micros]) => {
        const sum = this.#sumOfTopic(number, micros);
        return { topic: number, sum, mass: massOf(micros), cluster: this.#topics[number]!.cluster };
      });
    for (const number of this.#sums.keys()) if (!members.has(number)) this.#sums.delete(number);
    const groups = clusterTopics(topics, this.#thresholds, this.#centroids);
    const used = new Set(groups.map(({ cluster }) => cluster));
    const formed = groups.map(({ cluster, topics: grouped }) => {
      const kept = cluster >= 0 ? this.#clusters[cluster]! : this.#foundCluster(grouped, used);
      used.add(kept.number);
      return { kept, grouped };
    });
    for (const { kept, grouped } of formed) {
      for (const number of grouped) {
        const topic = this.#topics[number]!;
        if (topic.cluster !== kept.number) this.#changeTopic(topic, () => (topic.cluster = kept.number));
      }
      const mass = grouped.reduce((sum, number) => sum + massOf(members.get(number)!), 0);
      if (kept.namedAt > 0 && mass < kept.namedAt * RENAMING_GROWTH) continue;
      const taken = new Set(formed.flatMap(({ kept: other }) => (other === kept ? [] : [other.name])));
      if (!this.#clustersBefore.has(kept.number)) this.#clustersBefore.set(kept.number, kept.name);
      kept.name = this.#clusterName(grouped, members, background, taken);
      kept.namedAt = mass;
      this.#dirtyClusters.add(kept.number);
    }
  }

  /** Puts a topic into the cluster whose topics are on average most similar to it, or into one of its own. */
  #joinCluster(number: number, members: ReadonlyMap<number, readonly Micro[]>, background: Background): void {
    const own = this.#sumOfTopic(number, members.get(number)!);
    const others = [...members.keys()].filter((other) => other !== number).sort((x, y) => x - y);
    const sums = others.map((other) => this.#sumOfTopic(other, members.get(other)!));
    const dots = new Float64Array(sums.length);
    dotsOf(own, sums, dots);
    const zero = this.#thresholds.zero ?? 0;
    const norm = normOf(own);
    const meanNorm = norm / massOf(members.get(number)!);
    const clusters = new Map<number, { total: number; topics: number }>();
    for (const [index, other] of others.entries()) {
      const { cluster } = this.#topics[other]!;
      const otherNorm = normOf(sums[index]!);
      const cosine = centroidSimilarity(
        dots[index]! / (norm * otherNorm),
        meanNorm,
        otherNorm / massOf(members.get(other)!),
        zero,
      );
      const known = clusters.get(cluster);
      if (known === undefined) clusters.set(cluster, { total: cosine, topics: 1 });
      else {
        known.total += cosine;
        known.topics += 1;
      }
    }
    let best: Cluster | null = null;
    let similarity = clusterFloor(this.#thresholds);
    for (const [cluster, { total, topics }] of clusters) {
      if (cluster < 0 || total / topics < similarity || (best !== null && total / topics === similarity))
        continue;
      best = this.#clusters[cluster]!;
      similarity = total / topics;
    }
    const joined = best ?? this.#foundCluster([number], new Set(clusters.keys()));
    const topic = this.#topics[number]!;
    if (topic.cluster !== joined.number) this.#changeTopic(topic, () => (topic.cluster = joined.number));
    if (best !== null) return;
    const taken = new Set([...clusters.keys()].flatMap((cluster) => this.#clusters[cluster]?.name ?? []));
    if (!this.#clustersBefore.has(joined.number)) this.#clustersBefore.set(joined.number, joined.name);
    joined.name = this.#clusterName([number], members, background, taken);
    joined.namedAt = massOf(members.get(number)!);
    this.#dirtyClusters.add(joined.number);
  }

  /** The same object as the last time while the same members have the same requests. */
  #sumOfTopic(topic: number, members: readonly Micro[]): Float32Array {
    const known = this.#sums.get(topic);
    if (
      known !== undefined &&
      known.members.length === members.length &&
      members.every(
        (micro, index) => micro === known.members[index] && micro.version === known.versions[index],
      )
    )
      return known.sum;
    const sum = sumOf(members, this.#dimensions);
    this.#sums.set(topic, { members, versions: members.map(({ version }) => version), sum });
    return sum;
  }

  /** A cluster named after its first topic: an empty one of the same origin if there is one, else a new one. */
  #foundCluster(topics: readonly number[], used: ReadonlySet<number>): Cluster {
    const position = Math.min(...topics.map((number) => this.#topics[number]!.position));
    for (let round = 1; ; round += 1) {
      const origin = round === 1 ? String(position) : `${position}:${round}`;
      const known = this.#clusters.find((cluster) => cluster.origin === origin);
      if (known !== undefined && used.has(known.number)) continue;
      if (known !== undefined) return known;
      const cluster = { number: this.#clusters.length, origin, name: '', namedAt: 0 };
      this.#clusters.push(cluster);
      return cluster;
    }
  }

  #clusterName(
    topics: readonly number[],
    members: ReadonlyMap<number, readonly Micro[]>,
    background: Background,
    taken: ReadonlySet<string>,
  ): string {
    const bySize = [...topics].sort((x, y) => massOf(members.get(y)!) - massOf(members.get(x)!) || x - y);
    const largest = this.#topics[bySize[0]!]!.name;
    if (topics.length === 1) return uniqueName([largest], taken);
    const samples = bySize.slice(0, 12).flatMap((number) => {
      const of = samplesOf(members.get(number)!).slice(0, 8);
      const total = of.reduce((sum, { weight }) => sum + weight, 0);
      return of.map(({ text, weight }) => ({ text, weight: weight / total }));
    });
    const clusterShares = meanShares(topics.map((number) => wordShares(members.get(number)!)));
    return uniqueName([...namesOf(samples, background, clusterShares, 'cluster'), largest], taken);
  }
}

/** 3, 4, 6, 9, … then every 500, growing to every 5,000 as a batch of new requests changes less. */
export function nextRegroupingAfter(requests: number): number {
  if (requests < 1000) return Math.min(Math.floor(requests * 1.5), requests + 500);
  return requests + Math.min(5000, Math.max(500, Math.floor(requests / 10)));
}

/** The first place of the largest number; −1 of none. */
function largest(numbers: readonly number[]): number {
  let best = -1;
  numbers.forEach((value, index) => {
    if (best < 0 || value > numbers[best]!) best = index;
  });
  return best;
}

/**
 * Whether the number at `place` lies farther above the mean of the others than the largest of as many normally
 * distributed ones would: by √(2 ln n) standard deviations.
 */
function standsOut(numbers: readonly number[], place: number): boolean {
  const others = numbers.length - 1;
  if (others < FEWEST_OTHERS) return false;
  let sum = 0;
  let squares = 0;
  numbers.forEach((value, index) => {
    if (index === place) return;
    sum += value;
    squares += value * value;
  });
  const mean = sum / others;
  const deviation = Math.sqrt(Math.max(0, squares / others - mean * mean));
  return numbers[place]! - mean >= Math.sqrt(2 * Math.log(others)) * deviation;
}

function massOf(micros: readonly Micro[]): number {
  return micros.reduce((sum, micro) => sum + micro.count, 0);
}

function sumOf(micros: readonly Micro[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const micro of micros) addTo(sum, micro.sum);
  return sum;
}

function holdingsOf(micros: readonly Micro[]): { holder: number; mass: number }[] {
  return micros.map((micro) => ({ holder: micro.topic, mass: micro.count }));
}

function topicKey(topic: Topic): string {
  return `${topic.cluster}:${topic.name}`;
}

/** Keeps the most central short requests of a micro-cluster, each text once. */
function offerSample(micro: Micro, request: string, cosine: number, scored = false): void {
  const text = beginning(request, SAMPLE_LENGTH);
  const score = Math.fround(scored ? cosine : cosine - Math.min(text.length, SAMPLE_LENGTH) / 300);
  const lower = text.toLowerCase();
  if (micro.samples.some((sample) => sample.text.toLowerCase() === lower)) return;
  micro.samples.push({ text, score });
  if (micro.samples.length <= SAMPLES_PER_MICRO) return;
  let worst = 0;
  micro.samples.forEach((sample, index) => {
    if (sample.score <= micro.samples[worst]!.score) worst = index;
  });
  micro.samples.splice(worst, 1);
}

/** At most 48 samples: of the largest micro-clusters first, each text weighing its share of them. */
function samplesOf(micros: readonly Micro[]): Sample[] {
  const bySize = [...micros].sort((x, y) => y.count - x.count || x.number - y.number);
  const samples: Sample[] = [];
  for (let turn = 0; turn < SAMPLES_PER_MICRO; turn += 1) {
    for (const micro of bySize) {
      const sample = micro.samples[turn];
      if (sample === undefined) continue;
      samples.push({ text: sample.text, weight: micro.count / micro.samples.length });
      if (samples.length === SAMPLES_PER_NAME) return samples;
    }
  }
  return samples;
}

function firstCountedOnce(words: ReadonlyMap<string, number>): string | undefined {
  for (const [stem, count] of words) if (count <= 1) return stem;
  return undefined;
}

/** Adds to a pair's use; when there is no room, in the place of a pair that occurred once. */
function countPair(pairs: Map<string, PairUse>, key: string, use: PairUse): void {
  const known = pairs.get(key);
  if (known !== undefined) {
    pairs.set(key, togetherUsed(known, use));
    return;
  }
  if (pairs.size >= PAIRS_PER_MICRO) {
    const single = [...pairs].find(([, { count }]) => count === 1);
    if (single === undefined) return;
    pairs.delete(single[0]);
  }
  pairs.set(key, use);
}

/** How the requests use pairs of words. */
function pairUses(micros: readonly Micro[]): { uses: Map<string, PairUse>; members: number } {
  const uses = new Map<string, PairUse>();
  for (const { pairs } of micros) {
    for (const [key, use] of pairs) {
      const known = uses.get(key);
      uses.set(key, known === undefined ? use : togetherUsed(known, use));
    }
  }
  return { uses, members: massOf(micros) };
}

/** Share of the requests that hold each stem. */
function wordShares(micros: readonly Micro[]): Map<string, number> {
  const mass = massOf(micros);
  const shares = new Map<string, number>();
  for (const { words } of micros) {
    for (const [stem, count] of words) shares.set(stem, (shares.get(stem) ?? 0) + count / mass);
  }
  return shares;
}

function meanShares(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const mean = new Map<string, number>();
  for (const shares of all) {
    for (const [stem, share] of shares) mean.set(stem, (mean.get(stem) ?? 0) + share / all.length);
  }
  return mean;
}

function writeMicro(micro: Micro): Uint8Array {
  const writer = new ByteWriter()
    .count(micro.position)
    .count(micro.count)
    .link(micro.topic)
    .count(micro.pending)
    .floats(micro.sum)
    .count(micro.samples.length);
  for (const { text, score } of micro.samples) writer.text(text).float(score);
  writer.count(micro.words.size);
  for (const [stem, count] of micro.words) writer.text(stem).count(count);
  writer.count(micro.pairs.size);
  for (const [key, { count, leading, surface, votes }] of micro.pairs)
    writer.text(key).count(count).count(leading).text(surface).count(votes);
  return writer.finish();
}

function readMicro(number: number, read: ByteReader, dimensions: number): Micro {
  const position = read.count();
  const count = read.count();
  const topic = read.link();
  const pending = read.count();
  const sum = read.floats(dimensions);
  const samples: MicroSample[] = [];
  for (let left = read.count(); left > 0; left -= 1) samples.push({ text: read.text(), score: read.float() });
  const words = new Map<string, number>();
  for (let left = read.count(); left > 0; left -= 1) words.set(read.text(), read.count());
  const pairs = new Map<string, PairUse>();
  for (let left = read.count(); left > 0; left -= 1) {
    pairs.set(read.text(), {
      count: read.count(),
      leading: read.count(),
      surface: read.text(),
      votes: read.count(),
    });
  }
  return { number, position, count, sum, version: 0, norm: 0, topic, pending, samples, words, pairs };
}
