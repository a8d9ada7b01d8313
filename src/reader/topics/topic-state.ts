/**
 * What the topics of one instance consist of, and the few changes that every step makes. Each change is noted, for the
 * rows that readers see and for the state that is stored.
 * Covered by test/reader/topics/topics.test.ts.
 */
import type { DotArena } from '../numeric/dot-kernel.ts';
import { normOf } from '../numeric/vectors.ts';
import { CentroidCosines } from './centroid-similarity.ts';
import { heirOf, NOTHING_CURATED, shownTopicOf, type TopicCuration } from './curated-topics.ts';
import { ChangeTracker } from './change-tracker.ts';
import { sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { MicroClusters } from './micro-clusters.ts';
import type { DocumentFrequencies } from './naming/scores.ts';
import { WordsOfMicros } from './naming/wording.ts';
import { OwnTopics } from './own-topics.ts';
import type { InstanceThresholds } from './instance-thresholds.ts';
import { LEAST_REQUESTS } from './topic-creation.ts';

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
  /** What a person who made it said of it; null for a topic that was found. */
  readonly own: { readonly id: string; readonly description: string } | null;
}

export interface TopicCluster {
  readonly number: number;
  /**
   * The position of the topic that it was created for, with a counter from the second such cluster on; the UUID of one
   * that a person made.
   */
  readonly origin: string;
  readonly isOwn: boolean;
  name: string;
  /** Requests that it had when it got its name; 0 before. */
  namedAt: number;
}

/** What forms each topic and what its requests say: valid until a micro-cluster changes. */
export class Overview {
  readonly members: ReadonlyMap<number, readonly MicroCluster[]>;
  /** How common words are among topics. */
  readonly frequencies: DocumentFrequencies;
  readonly #words = new Map<number, WordsOfMicros>();

  constructor(members: ReadonlyMap<number, readonly MicroCluster[]>, frequencies: DocumentFrequencies) {
    this.members = members;
    this.frequencies = frequencies;
  }

  wordsOf({ number }: Pick<Topic, 'number'>): WordsOfMicros {
    const known = this.#words.get(number);
    if (known !== undefined) return known;
    const words = new WordsOfMicros(this.members.get(number)!);
    this.#words.set(number, words);
    return words;
  }
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
  readonly own = new OwnTopics();
  readonly topicChanges = new ChangeTracker<string>();
  readonly clusterChanges = new ChangeTracker<string>();
  /** Which topics of people's making are to be stored. */
  readonly ownChanges = new ChangeTracker<never>();
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
  #curation: TopicCuration = NOTHING_CURATED;

  constructor({ instance, instanceId, thresholds, dimensions, arena }: TopicOptions) {
    this.instance = instance;
    this.instanceId = instanceId;
    this.thresholds = thresholds;
    this.dimensions = dimensions;
    this.micros = new MicroClusters(arena, (micro) => this.shownTopic(micro));
    this.centroids = new CentroidCosines(arena);
  }

  /** What a claim took from a topic neither names it nor shapes its cluster, unless nothing is left. */
  overview(): Overview {
    const members = this.micros.byTopic();
    if (this.own.active === 0) return new Overview(members, this.frequencies());
    const unclaimed = [...members].map(([topic, all]): [number, readonly MicroCluster[]] => {
      const left = all.filter(({ claim }) => !this.own.isActive(claim));
      return [topic, left.length > 0 ? left : all];
    });
    return new Overview(new Map(unclaimed), this.frequencies());
  }

  /** The topic under which a micro-cluster is shown, or −1. */
  shownTopic(micro: Pick<MicroCluster, 'topic' | 'claim'>): number {
    return shownTopicOf(micro, this.#curation, this.own);
  }

  /** What people decided, as it applies now. */
  get curation(): TopicCuration {
    return this.#curation;
  }

  /** As `Topics.curate`. */
  curate(decide: () => TopicCuration | null): void {
    this.micros.noteAll();
    for (const topic of this.topics) this.topicChanges.note(topic.number, this.rowKeyOf(topic));
    this.#curation = decide() ?? this.#curation;
  }

  /** Takes back what applied when the state was taken. */
  restoreCuration(curation: TopicCuration): void {
    this.#curation = curation;
  }

  /** The topic cluster, heir and place of merging that are shown of a topic; −1: none. */
  shownLinks(topic: Topic): { readonly cluster: number; readonly heir: number; readonly since: number } {
    const { number } = topic;
    const { merges, moves } = this.#curation;
    const cluster = moves.get(number) ?? topic.cluster;
    const merge = merges.get(number);
    const heir = heirOf(number, this.#curation, this.own);
    return merge === undefined || heir === number
      ? { cluster, heir: topic.heir, since: topic.since }
      : { cluster, heir, since: merge.since };
  }

  /** Differs when the row that readers see differs. */
  rowKeyOf(topic: Topic): string {
    const { cluster, heir } = this.shownLinks(topic);
    return `${cluster}:${heir}:${this.#curation.hidden.has(topic.number)}:${topic.name}`;
  }

  frequencies(): DocumentFrequencies {
    return this.micros.words.frequencies(this.micros.live);
  }

  insertTopic(topic: Topic): void {
    this.topics[topic.number] = topic;
    if (topic.own === null) this.#topicAt.set(topic.position, topic);
  }

  changeTopic(topic: Topic, change: Partial<Omit<Topic, 'number' | 'position'>>): void {
    this.topicChanges.note(topic.number, this.rowKeyOf(topic));
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
    const topic = this.#newTopic({ position: first.position, name: '', own: null });
    for (const member of members) this.micros.moveToTopic(member, topic.number, true);
    topic.length = normOf(sumOf(members)) / weightOf(members);
    return topic;
  }

  /** A topic of a person's making; it holds what it claims. */
  createOwnTopic(topic: Pick<Topic, 'position' | 'name' | 'own'>): Topic {
    return this.#newTopic(topic);
  }

  #newTopic(given: Pick<Topic, 'position' | 'name' | 'own'>): Topic {
    const topic = {
      ...given,
      number: this.topics.length,
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
