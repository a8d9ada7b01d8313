import type { ClusterRow, MicroTopic, StateRow, TopicRow } from '../domain/facts.ts';
import { derivedId } from '../domain/ids.ts';
import { contentStems } from '../language/core-words.ts';
import type { Background } from './naming/names.ts';
import { MOST_MICROS, prune } from './pruning.ts';
import { nextRegroupingAfter, regroup } from './regrouping.ts';
import { restoreState, takeState } from './state-codec.ts';
import { createTopicIfDue } from './topic-creation.ts';
import { rowKeyOf, TopicState, type TopicOptions } from './topic-state.ts';
import { addRequest } from './wording.ts';

/** About what a topic or a cluster takes, beside its micro-clusters. */
const TOPIC_BYTES = 500;

/**
 * Assigns the requests of one instance to topics, online: in stream order, without being told how many topics there
 * are. A request joins the nearest micro-cluster or forms a new one; micro-clusters form topics, topics form clusters.
 */
export class Topics {
  readonly #state: TopicState;

  constructor(options: TopicOptions) {
    this.#state = new TopicState(options);
  }

  /** Adds a request and returns the number of its micro-cluster. */
  add(vector: Float32Array, request: string, position: number): number {
    const state = this.#state;
    const { micros } = state;
    state.requests += 1;
    micros.measure(vector);
    const nearest = micros.nearest(joiningThreshold(state));
    if (nearest !== null) micros.join(nearest, vector);
    const micro =
      nearest?.micro ?? micros.create(vector, position, micros.nearestGroup(state.thresholds.topic));
    addRequest(micro, request, nearest?.cosine ?? 1);
    for (const stem of contentStems(request)) micros.words.count(micro, stem, 1);
    if (micro.topic < 0) createTopicIfDue(state, micro.waitingGroup);
    if (micros.live.length > MOST_MICROS) prune(state);
    if (state.requests >= state.nextRegrouping) {
      regroup(state);
      state.nextRegrouping = nextRegroupingAfter(state.requests);
    }
    return this.resolve(micro.number);
  }

  /**
   * The micro-cluster of a topic that a request with this vector would join, or null. Changes nothing: the answer to a
   * question can belong to a topic, but it neither creates a topic nor shapes one.
   */
  topicalMicro(vector: Float32Array): number | null {
    const { micros } = this.#state;
    micros.measure(vector);
    return micros.nearest(joiningThreshold(this.#state), ({ topic }) => topic >= 0)?.micro.number ?? null;
  }

  /** The number of the micro-cluster that holds the requests of `micro` now. */
  resolve(micro: number): number {
    return this.#state.micros.resolve(micro).number;
  }

  /** How common words are among the instance's topics: valid until the next request. */
  background(): Background {
    return this.#state.background();
  }

  /** The rows that changed since the last call, ascending by number. */
  drain(): { micros: MicroTopic[]; topics: TopicRow[]; clusters: ClusterRow[] } {
    const { instance, instanceId, micros, topics, clusters, ...changes } = this.#state;
    return {
      micros: micros.changes.drain().flatMap(([micro, before]) => {
        const { topic } = micros.resolve(micro);
        return topic === before ? [] : [{ instance, micro, topic: topic < 0 ? null : topic }];
      }),
      topics: changes.topicChanges.drain().flatMap(([number, before]) => {
        const topic = topics[number]!;
        if (rowKeyOf(topic) === before) return [];
        const id = derivedId(instanceId, 'topic', String(topic.position));
        const cluster = topic.cluster < 0 ? null : topic.cluster;
        return [{ instance, topic: number, id, name: topic.name, cluster }];
      }),
      clusters: changes.clusterChanges.drain().flatMap(([number, before]) => {
        const { origin, name } = clusters[number]!;
        if (name === before) return [];
        return [{ instance, cluster: number, id: derivedId(instanceId, 'cluster', origin), name }];
      }),
    };
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
}

/** The cosine with a centroid from which a request joins the micro-cluster. */
function joiningThreshold({ thresholds: { micro, topic, scale }, relaxation }: TopicState): number {
  return Math.max((micro + topic) / 2, micro - relaxation * scale);
}
