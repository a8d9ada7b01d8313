/**
 * The topics of one instance, found online: in stream order, without being told how many there are. Requests form
 * micro-clusters, micro-clusters form topics, topics form topic clusters. `Topics` is the only door of this room; its
 * `add` shows the steps, and each step has a file that decides it.
 */
import type { ClusterRow, MicroTopic, StateRow, TopicRow } from '../domain/facts.ts';
import { assignRequest, nearestTopicalMicro } from './assignment.ts';
import type { DocumentFrequencies } from './naming/scores.ts';
import { pruneIfDue } from './pruning.ts';
import { regroupIfDue } from './regrouping.ts';
import { restoreState, takeState } from './state-codec.ts';
import { clusterId, clustersToName, topicId, topicsToName, type GroupToName } from './groups-to-name.ts';
import { createTopicIfDue } from './topic-creation.ts';
import { rowKeyOf, TopicState, type Topic, type TopicCluster, type TopicOptions } from './topic-state.ts';

/** About what a topic or a cluster takes, beside its micro-clusters. */
const TOPIC_BYTES = 500;

export class Topics {
  readonly #state: TopicState;

  constructor(options: TopicOptions) {
    this.#state = new TopicState(options);
  }

  /** Adds a request and returns the number of its micro-cluster. */
  add(vector: Float32Array, request: string, position: number): number {
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
        const { topic } = micros.resolve(micro);
        return topic === before ? [] : [{ instance, micro, topic: topic < 0 ? null : topic }];
      }),
      topics: changes.topicChanges.drain().flatMap(([number, before]) => {
        const topic = topics[number]!;
        return rowKeyOf(topic) === before ? [] : [this.#topicRow(topic)];
      }),
      clusters: changes.clusterChanges.drain().flatMap(([number, before]) => {
        const cluster = clusters[number]!;
        return cluster.name === before ? [] : [this.#clusterRow(cluster)];
      }),
    };
  }

  /** The rows of all topics and topic clusters as they are now, by number. */
  rows(): { topics: TopicRow[]; clusters: ClusterRow[] } {
    const { topics, clusters } = this.#state;
    return {
      topics: topics.map((topic) => this.#topicRow(topic)),
      clusters: clusters.map((cluster) => this.#clusterRow(cluster)),
    };
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

  /** Takes back all state rows, in any order, into a new object; ignores rows of other kinds. */
  restore(rows: readonly StateRow[]): void {
    restoreState(this.#state, rows);
  }

  /** About how much memory it takes. */
  get bytes(): number {
    const { micros, centroids, topics, clusters } = this.#state;
    return micros.bytes + centroids.bytes + (topics.length + clusters.length) * TOPIC_BYTES;
  }

  /** Gives the memory of the vectors back. The object is of no use afterwards. */
  release(): void {
    this.#state.micros.release();
  }

  #topicRow({ number, position, name, ...topic }: Topic): TopicRow {
    const { instance } = this.#state;
    const cluster = topic.cluster < 0 ? null : topic.cluster;
    const heir = topic.heir < 0 ? null : topic.heir;
    const since = topic.since < 0 ? null : topic.since;
    return { instance, topic: number, id: topicId(this.#state, position), name, cluster, heir, since };
  }

  #clusterRow({ number, origin, name }: TopicCluster): ClusterRow {
    const { instance } = this.#state;
    return { instance, cluster: number, id: clusterId(this.#state, origin), name };
  }
}
