/**
 * The topics of one instance, found online: in stream order, without being told how many there are. Requests form
 * micro-clusters, micro-clusters form topics, topics form topic clusters. `Topics` is the only door of this room; its
 * `add` shows the steps, and each step has a file that decides it.
 */
import type { ClusterRow, MicroTopic, StateRow, TopicRow } from '../../domain/facts.ts';
import { assignRequest, nearestTopicalMicro } from './assignment.ts';
import type { DocumentFrequencies } from './naming/scores.ts';
import { NOTHING_CURATED, type TopicCuration } from './curated-topics.ts';
import { createOwnTopic, type NewTopic } from './own-topic-creation.ts';
import { pruneIfDue } from './pruning.ts';
import { regroupIfDue } from './regrouping.ts';
import type { ReadRequest } from './read-request.ts';
import { restoreState, takeState } from './state-codec.ts';
import { clustersToName, topicsToName, type GroupToName } from './groups-to-name.ts';
import { createTopicIfDue } from './topic-creation.ts';
import { TopicState, type Topic, type TopicCluster, type TopicOptions } from './topic-state.ts';
import { clusterId, topicId } from './topic-ids.ts';

/** About what a topic or a cluster takes, beside its micro-clusters. */
const TOPIC_BYTES = 500;

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
    if (!micro.core) createTopicIfDue(state, state.micros.inWaitingGroup(micro.waitingGroup));
    pruneIfDue(state);
    regroupIfDue(state);
    return this.resolve(micro.number);
  }

  /**
   * The micro-cluster of a topic that a request with this vector would join, or null. Changes nothing: the answer to a
   * question can belong to a topic, but it neither creates a topic nor shapes one.
   */
  topicalMicro(vector: Float32Array): number | null {
    return nearestTopicalMicro(this.#state, vector)?.number ?? null;
  }

  /** Whether a topic that a person made claims a request. */
  claims(vector: Float32Array, request: ReadRequest): boolean {
    const { own, thresholds } = this.#state;
    return own.active > 0 && own.claimOf(vector, request.keys(), thresholds) >= 0;
  }

  /** Number of the topic under which a micro-cluster is shown, or −1. */
  topicOf(micro: number): number {
    return this.#state.shownTopic(this.#state.micros.resolve(micro));
  }

  /** Whether a topic was found for a micro-cluster, or claims it; null: none. */
  hasTopic(micro: number | null): boolean {
    if (micro === null) return false;
    const { topic, claim } = this.#state.micros.resolve(micro);
    return topic >= 0 || this.#state.own.isActive(claim);
  }

  /** The number of the micro-cluster that holds the requests of `micro` now. */
  resolve(micro: number): number {
    return this.#state.micros.resolve(micro).number;
  }

  /** How common words are among the instance's topics: valid until the next request. */
  frequencies(): DocumentFrequencies {
    return this.#state.frequencies();
  }

  /** The rows that changed since the last call, ascending by number. */
  drain(): { micros: MicroTopic[]; topics: TopicRow[]; clusters: ClusterRow[] } {
    const { instance, micros, topics, clusters, ...changes } = this.#state;
    return {
      micros: micros.changes.drain().flatMap(([micro, before]) => {
        const topic = this.#state.shownTopic(micros.resolve(micro));
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

  /** The row of one topic as it is now. */
  row(topic: number): TopicRow {
    return this.#topicRow(this.#state.topics[topic]!);
  }

  /** The rows of all topics and topic clusters as they are now, by number. */
  rows(): { topics: TopicRow[]; clusters: ClusterRow[] } {
    const { topics, clusters } = this.#state;
    return {
      topics: topics.map((topic) => this.#topicRow(topic)),
      clusters: clusters.map((cluster) => this.#clusterRow(cluster)),
    };
  }

  /**
   * Takes what people decided: `decide` may make or retire topics and clusters, and returns what applies then; null:
   * what applied before.
   */
  curate(decide: () => TopicCuration | null): void {
    this.#state.curate(decide);
  }

  /** Topics of people's making that claim requests. */
  get ownTopics(): number {
    return this.#state.own.active;
  }

  /** Makes a topic that claims requests, and returns its number. Call it in `curate`, as the next two. */
  createTopic(made: NewTopic): number {
    return createOwnTopic(this.#state, made);
  }

  /** The topic claims nothing any more: what it held shows the topic that was found. */
  retire(topic: number): void {
    this.#state.own.retire(topic);
    this.#state.ownChanges.markUnsaved(topic);
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

  /** Topics whose names a writer may write; `asks` says of which with how many requests. */
  topicsToName(asks: (number: number, requests: number) => boolean): GroupToName[] {
    return topicsToName(this.#state, asks);
  }

  /** As `topicsToName`; `nameOf` gives the name under which a topic is shown. */
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
   * Takes back all state rows, in any order, into a new object; ignores rows of other kinds. `curation`: what people
   * decided, as it applied then.
   */
  restore(rows: readonly StateRow[], curation: TopicCuration = NOTHING_CURATED): void {
    restoreState(this.#state, rows);
    this.#state.restoreCuration(curation);
  }

  /** About how much memory it takes. */
  get bytes(): number {
    const { micros, centroids, own, topics, clusters } = this.#state;
    return micros.bytes + centroids.bytes + own.bytes + (topics.length + clusters.length) * TOPIC_BYTES;
  }

  /** Gives the memory of the vectors back. The object is of no use afterwards. */
  release(): void {
    this.#state.micros.release();
  }

  #topicRow(topic: Topic): TopicRow {
    const { instance, curation } = this.#state;
    const { cluster, heir, since } = this.#state.shownLinks(topic);
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
      isHidden: curation.hidden.has(topic.number),
      isNamed: topic.own !== null,
    };
  }

  #clusterRow(cluster: TopicCluster): ClusterRow {
    const { instance } = this.#state;
    const { number, name, isOwn } = cluster;
    return { instance, cluster: number, id: clusterId(this.#state, cluster), name, isNamed: isOwn };
  }
}
