/**
 * Finds the topics of one instance online: in stream order, without knowing their number. Requests form micro-clusters,
 * micro-clusters form topics, topics form topic clusters. `Topics` is the only entrance to this room; `add` shows the
 * steps, and each step has its own file.
 *
 * Test: test/reader/topics/topics.test.ts.
 */
import type { ClusterRow, LabelMicro, LabelRow, MicroTopic, StateRow, TopicRow } from '../../domain/facts.ts';
import { assignRequest, correctMicros, nearestTopicalMicro } from './assignment.ts';
import type { Correction } from './corrections.ts';

import type { LabelVersion } from './labels.ts';
import type { DocumentFrequencies } from './naming/scores.ts';
import { correctionIn, isGone, NOTHING_CURATED, type TopicCuration } from './curated-topics.ts';
import { createOther, createOwnTopic, type NewTopic } from './own-topic-creation.ts';
import { pruneIfDue } from './pruning.ts';
import { regroupIfDue } from './regrouping.ts';
import type { ReadRequest } from './read-request.ts';
import { restoreState, takeState } from './state-codec.ts';
import { clustersToName, topicsToName, type GroupToName } from './groups-to-name.ts';
import { createTopicIfDue } from './topic-creation.ts';
import { TopicState, type Topic, type TopicCluster, type TopicOptions } from './topic-state.ts';
import { clusterId, topicId } from './topic-ids.ts';

/** Estimated memory of a topic or cluster besides its micro-clusters, bytes. */
const TOPIC_BYTES = 500;

/** The topics of one instance. Call `add` in stream order. */
export class Topics {
  readonly #state: TopicState;

  constructor(options: TopicOptions) {
    this.#state = new TopicState(options);
  }

  /** Adds a request and returns the number of its micro-cluster. */
  add(vector: Float32Array, request: ReadRequest, position: number): number {
    const state = this.#state;
    state.requests += 1;
    state.position = position;
    const micro = assignRequest(state, vector, request, position);
    state.touch(micro);
    if (!micro.core) createTopicIfDue(state, state.micros.inWaitingGroup(micro.waitingGroup));
    pruneIfDue(state);
    regroupIfDue(state);
    return this.resolve(micro.number);
  }

  /**
   * The micro-cluster with a topic that a request with this vector would join; null if there is none. Changes nothing:
   * the answer to a question may belong to a topic, but neither creates nor shapes one.
   */
  topicalMicro(vector: Float32Array): number | null {
    return nearestTopicalMicro(this.#state, vector)?.number ?? null;
  }

  /** True if an own topic claims a request, or a correction gives it one. */
  claims(vector: Float32Array, request: ReadRequest): boolean {
    const { own, corrections, thresholds } = this.#state;
    return (
      (own.active > 0 && own.claimOf(vector, request.keys(), thresholds) >= 0) ||
      corrections
        .near(vector, thresholds.micro)
        .some((one) => correctionIn(this.#state, one)?.belongs === true)
    );
  }

  /**
   * Number of the topic under which a micro-cluster is shown, or −1; where the rest is Other: would be shown if it were
   * not. So nothing that is found depends on that choice.
   */
  topicOf(micro: number): number {
    return this.#state.topicBeneath(this.#state.micros.resolve(micro));
  }

  /** True if a micro-cluster has a found topic, or a person gave it one; false for null. */
  hasTopic(micro: number | null): boolean {
    if (micro === null) return false;
    const { topic, claim, corrections } = this.#state.micros.resolve(micro);
    if (topic >= 0 || this.#state.own.isActive(claim)) return true;
    return corrections.some((one) => correctionIn(this.#state, one)?.belongs === true);
  }

  /** Number of the micro-cluster that now holds the requests of `micro`. */
  resolve(micro: number): number {
    return this.#state.micros.resolve(micro).number;
  }

  /** Document frequencies of words among the instance's topics. Valid until the next request. */
  frequencies(): DocumentFrequencies {
    return this.#state.frequencies();
  }

  /** The rows that changed since the last call, ascending by number. */
  drain(): {
    micros: MicroTopic[];
    topics: TopicRow[];
    clusters: ClusterRow[];
    labels: readonly LabelRow[];
    labelMicros: readonly LabelMicro[];
  } {
    this.#state.wideClaims.refresh(this.#state);
    this.#state.labels.refresh(this.#state);
    const { instance, micros, topics, clusters, labels, ...changes } = this.#state;
    return {
      ...labels.drain(instance),
      micros: micros.changes.drain().flatMap(([micro, before]) => {
        const topic = this.#state.visibleTopic(micros.resolve(micro));
        return topic === before ? [] : [{ instance, micro, topic: topic < 0 ? null : topic }];
      }),
      topics: changes.topicChanges.drain().flatMap(([number, before]) => {
        const topic = topics[number]!;
        return this.#state.rowKeyOf(topic) === before ? [] : [this.#topicRow(topic)];
      }),
      clusters: changes.clusterChanges.drain().flatMap(([number, before]) => {
        const cluster = clusters[number]!;
        return cluster.name === before ? [] : [this.#clusterRow(cluster)];
      }),
    };
  }

  /** The current row of one topic. */
  row(topic: number): TopicRow {
    return this.#topicRow(this.#state.topics[topic]!);
  }

  /** The current rows of all topics and topic clusters, by number. */
  rows(): { topics: TopicRow[]; clusters: ClusterRow[] } {
    const { topics, clusters } = this.#state;
    return {
      topics: topics.map((topic) => this.#topicRow(topic)),
      clusters: clusters.map((cluster) => this.#clusterRow(cluster)),
    };
  }

  /**
   * Applies people's decisions. `decide` may make or retire topics and clusters. It returns the decisions then in
   * effect, or null if they have not changed.
   */
  curate(decide: () => TopicCuration | null): void {
    this.#state.curate(decide);
  }

  /** Number of own topics that claim requests. */
  get ownTopics(): number {
    return this.#state.own.active;
  }

  /** Makes an own topic and returns its number. Call this and what follows on decisions inside `curate`. */
  createTopic(made: NewTopic): number {
    return createOwnTopic(this.#state, made);
  }

  /** Retires an own topic: its requests appear under the found topics again. */
  retire(topic: number): void {
    this.#state.own.retire(topic);
    this.#state.ownChanges.markUnsaved(topic);
  }

  /** Number of labels ever made. */
  get labels(): number {
    return this.#state.labels.size;
  }

  /** Number of examples that labels keep. */
  get labelExamples(): number {
    return this.#state.labels.examples;
  }

  /** Whether there is a label with this id, or was one whose making was undone. */
  labelIs(id: string): 'there' | 'gone' | 'new' {
    const { labels } = this.#state;
    const number = labels.numberOf(id);
    if (number === null) return 'new';
    return labels.isGone(number) ? 'gone' : 'there';
  }

  /** Makes or changes a label; see `Labels.save`. */
  saveLabel(
    label: LabelVersion,
    vectors: readonly Float32Array[],
  ): { readonly label: number; readonly version: number } {
    return this.#state.labels.save(label, vectors);
  }

  /** Takes a version of a label back. */
  retireLabel(version: number): void {
    this.#state.labels.retire(version);
  }

  /** Makes the topic Other, unless it was made before, and returns its number. */
  makeOther(position: number): number {
    const { other } = this.#state.curation;
    return other >= 0 ? other : createOther(this.#state, position);
  }

  /** True for the topic Other. */
  isOther(topic: number): boolean {
    return topic === this.#state.curation.other;
  }

  /** True for an own topic whose creation was undone, and for Other where nothing counts as Other. */
  isGone(topic: number): boolean {
    return isGone(topic, this.#state.curation, this.#state.own);
  }

  /** Number of corrections in effect. */
  get corrections(): number {
    return this.#state.corrections.active;
  }

  /** Corrects the topic of requests that say nearly the same, earlier ones too; returns the correction's number. */
  correct(correction: Correction): number {
    const { corrections, correctionChanges } = this.#state;
    const number = corrections.add(correction);
    correctionChanges.markUnsaved(number);
    correctMicros(this.#state, correction.vector, number);
    return number;
  }

  /** Takes a correction back. */
  retireCorrection(number: number): void {
    this.#state.corrections.retire(number);
    this.#state.correctionChanges.markUnsaved(number);
    this.#state.micros.forgetCorrection(number);
  }

  /** Makes a topic cluster and returns its number. */
  createCluster(id: string, name: string): number {
    const { clusters, clusterChanges } = this.#state;
    const number = clusters.length;
    clusters.push({ number, origin: id, isOwn: true, name, namedAt: 0 });
    clusterChanges.note(number, '');
    clusterChanges.markUnsaved(number);
    return number;
  }

  /** Topics that a writer may name. `asks` tells whether to ask for the name of a topic with this many requests. */
  topicsToName(asks: (number: number, requests: number) => boolean): GroupToName[] {
    return topicsToName(this.#state, asks);
  }

  /** Clusters that a writer may name, like `topicsToName`. `nameOf` returns the name under which a topic is shown. */
  clustersToName(
    asks: (number: number, requests: number) => boolean,
    nameOf: (number: number, ours: string) => string,
  ): GroupToName[] {
    return clustersToName(this.#state, asks, ({ number, name }) => nameOf(number, name));
  }

  /** The state rows that changed since the last call. */
  takeState(): StateRow[] {
    return takeState(this.#state);
  }

  /**
   * Restores a new object from its state rows, in any order; ignores rows of other kinds. `curation`: the decisions
   * that were in effect.
   */
  restore(rows: readonly StateRow[], curation: TopicCuration = NOTHING_CURATED): void {
    this.#state.restoreCuration(curation);
    restoreState(this.#state, rows);
  }

  /** Estimated memory, bytes. */
  get bytes(): number {
    const { micros, centroids, own, corrections, wideClaims, labels, topics, clusters } = this.#state;
    return (
      micros.bytes +
      centroids.bytes +
      own.bytes +
      corrections.bytes +
      wideClaims.bytes +
      labels.bytes +
      (topics.length + clusters.length) * TOPIC_BYTES
    );
  }

  /** Frees the memory of the vectors. The object must not be used afterwards. */
  release(): void {
    this.#state.micros.release();
  }

  #topicRow(topic: Topic): TopicRow {
    const { instance } = this.#state;
    const { cluster, heir, since } = this.#state.publishedLinks(topic);
    return {
      instance,
      topic: topic.number,
      id: topicId(this.#state, topic),
      name: topic.name,
      cluster: cluster < 0 ? null : cluster,
      heir: heir < 0 ? null : heir,
      since: since < 0 ? null : since,
      description: topic.own?.description ?? null,
      isOwn: topic.own !== null,
      isHidden: this.#state.isHidden(topic),
      isNamed: topic.own !== null,
    };
  }

  #clusterRow(cluster: TopicCluster): ClusterRow {
    const { instance } = this.#state;
    const { number, name, isOwn } = cluster;
    return { instance, cluster: number, id: clusterId(this.#state, cluster), name, isNamed: isOwn };
  }
}
