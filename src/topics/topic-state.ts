/**
 * What the topics of one instance consist of, and the few changes that every step makes. Each change is noted, for the
 * rows that readers see and for the state that is stored.
 * Covered by test/topics/topics.test.ts.
 */
import type { DotArena } from '../numeric/dot-kernel.ts';
import { normOf } from '../numeric/vectors.ts';
import { CentroidCosines } from './centroid-similarity.ts';
import { ChangeTracker } from './change-tracker.ts';
import { sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { MicroClusters } from './micro-clusters.ts';
import type { DocumentFrequencies } from './naming/scores.ts';
import type { InstanceThresholds } from './thresholds.ts';

/** A waiting group becomes a topic when it has this many requests. */
export const LEAST_REQUESTS = 3;

export interface Topic {
  readonly number: number;
  /** Message position of the micro-cluster that it was created for: the topic's identity. */
  readonly position: number;
  name: string;
  /** Requests that it had when it got its name. */
  namedAt: number;
  /** Number of its topic cluster, or −1. */
  cluster: number;
  /** Length of the mean vector of its core, as of its creation or the last regrouping. */
  length: number;
  /** Number of the topic that it merged into, or −1. */
  heir: number;
  /** Message position of the request at whose arrival it merged, or −1. */
  since: number;
}

export interface TopicCluster {
  readonly number: number;
  /** The position of the topic that it was created for, with a counter from the second such cluster on. */
  readonly origin: string;
  name: string;
  /** Requests that it had when it got its name; 0 before. */
  namedAt: number;
}

/** What forms each topic, and how common words are among topics: valid until a micro-cluster changes. */
export interface Overview {
  readonly members: ReadonlyMap<number, readonly MicroCluster[]>;
  readonly frequencies: DocumentFrequencies;
}

export interface TopicOptions {
  readonly instance: number;
  readonly instanceId: string;
  readonly thresholds: InstanceThresholds;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  readonly arena: DotArena;
}

/** Micro-clusters, topics and topic clusters of one instance. */
export class TopicState {
  readonly instance: number;
  readonly instanceId: string;
  readonly thresholds: InstanceThresholds;
  readonly dimensions: number;
  readonly micros: MicroClusters;
  readonly centroids: CentroidCosines;
  /** By number. */
  readonly topics: Topic[] = [];
  /** By number. */
  readonly clusters: TopicCluster[] = [];
  readonly topicChanges = new ChangeTracker<string>();
  readonly clusterChanges = new ChangeTracker<string>();
  /** Requests that have arrived, and the same when the state was last taken. */
  requests = 0;
  /** Message position of the last one. */
  position = 0;
  savedRequests = 0;
  /** Requests at which topics are regrouped next. */
  nextRegrouping = LEAST_REQUESTS;
  /** How far pruning has lowered the cosine from which a request joins a micro-cluster, on a scale of 1. */
  relaxation = 0;
  readonly #topicAt = new Map<number, Topic>();

  constructor({ instance, instanceId, thresholds, dimensions, arena }: TopicOptions) {
    this.instance = instance;
    this.instanceId = instanceId;
    this.thresholds = thresholds;
    this.dimensions = dimensions;
    this.micros = new MicroClusters(arena);
    this.centroids = new CentroidCosines(arena);
  }

  overview(): Overview {
    return { members: this.micros.byTopic(), frequencies: this.frequencies() };
  }

  frequencies(): DocumentFrequencies {
    return this.micros.words.frequencies(this.micros.live);
  }

  insertTopic(topic: Topic): void {
    this.topics[topic.number] = topic;
    this.#topicAt.set(topic.position, topic);
  }

  changeTopic(topic: Topic, change: Partial<Omit<Topic, 'number' | 'position'>>): void {
    this.topicChanges.note(topic.number, rowKeyOf(topic));
    this.topicChanges.markUnsaved(topic.number);
    Object.assign(topic, change);
  }

  /**
   * Moves micro-clusters into a topic of their own, as its core. Returns null when topics were created for all of them
   * before: an id never gets another meaning.
   */
  createTopic(members: readonly MicroCluster[]): Topic | null {
    const first = members.find(({ position }) => !this.#topicAt.has(position));
    if (first === undefined) return null;
    const topic = this.#newTopic(first.position);
    for (const member of members) this.micros.moveToTopic(member, topic.number, true);
    topic.length = normOf(sumOf(members)) / weightOf(members);
    return topic;
  }

  #newTopic(position: number): Topic {
    const topic = {
      number: this.topics.length,
      position,
      name: '',
      namedAt: 0,
      cluster: -1,
      length: 1,
      heir: -1,
      since: -1,
    };
    this.insertTopic(topic);
    this.topicChanges.note(topic.number, '');
    this.topicChanges.markUnsaved(topic.number);
    return topic;
  }
}

/** Differs when the row that readers see differs. */
export function rowKeyOf({ cluster, heir, name }: Topic): string {
  return `${cluster}:${heir}:${name}`;
}
