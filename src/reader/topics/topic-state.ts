/**
 * The topics of one instance as data, and the few changes that all steps share. Keeps the invariant that every change
 * is recorded, for the published rows and for the stored state.
 *
 * Test: test/reader/topics/topics.test.ts.
 */
import type { DotArena } from '../numeric/dot-kernel.ts';
import { normOf } from '../numeric/vectors.ts';
import { CentroidCosines } from './centroid-similarity.ts';
import {
  correctionIn,
  heirOf,
  NOTHING_CURATED,
  visibleTopicOf,
  type Decided,
  type TopicCuration,
} from './curated-topics.ts';
import { ChangeTracker } from './change-tracker.ts';
import { Corrections } from './corrections.ts';
import { Labels } from './labels.ts';
import { sumOf, weightOf, type MicroCluster } from './micro-cluster.ts';
import { MicroClusters, type Shown } from './micro-clusters.ts';
import type { DocumentFrequencies } from './naming/scores.ts';
import { WordsOfMicros } from './naming/wording.ts';
import { OwnTopics } from './own-topics.ts';
import { WideClaims } from './wide-claims.ts';
import type { InstanceThresholds } from './instance-thresholds.ts';
import { LEAST_REQUESTS } from './topic-creation.ts';

export interface Topic {
  readonly number: number;
  /** Message position of the micro-cluster that it was created for: the topic's identity. */
  readonly position: number;
  name: string;
  /** Number of its requests when it got its name. */
  namedAt: number;
  /** Number of its topic cluster, or −1. */
  cluster: number;
  /** Length of the mean vector of its core, as of its creation or the last regrouping. */
  length: number;
  /** Number of the topic that it merged into, or −1. */
  heir: number;
  /** Message position of the request at which it merged, or −1. */
  since: number;
  /** Id and description that its author gave; null for a found topic. */
  readonly own: { readonly id: string; readonly description: string } | null;
}

export interface TopicCluster {
  readonly number: number;
  /**
   * Position of the topic that it was created for, with a counter from the second such cluster on; the UUID if a person
   * made it.
   */
  readonly origin: string;
  readonly isOwn: boolean;
  name: string;
  /** Number of its requests when it got its name; 0 before. */
  namedAt: number;
}

/** The members and wording of each topic. Valid until a micro-cluster changes. */
export class Overview {
  readonly members: ReadonlyMap<number, readonly MicroCluster[]>;
  /** Document frequencies of words among topics. */
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
  /** Index = number. */
  readonly topics: Topic[] = [];
  /** Index = number. */
  readonly clusters: TopicCluster[] = [];
  readonly own = new OwnTopics();
  readonly corrections = new Corrections();
  readonly wideClaims = new WideClaims();
  readonly labels = new Labels();
  readonly topicChanges = new ChangeTracker<string>();
  readonly clusterChanges = new ChangeTracker<string>();
  /** Own topics that have to be stored. */
  readonly ownChanges = new ChangeTracker<never>();
  /** Corrections that have to be stored. */
  readonly correctionChanges = new ChangeTracker<never>();
  /** Number of requests so far; `savedRequests` is its value when the state was last taken. */
  requests = 0;
  /** Message position of the last request. */
  position = 0;
  savedRequests = 0;
  /** Number of requests at which topics are regrouped next. */
  nextRegrouping = LEAST_REQUESTS;
  /** Amount by which pruning has lowered the threshold to join a micro-cluster, on a similarity scale of 1. */
  relaxation = 0;
  readonly #topicAt = new Map<number, Topic>();
  #curation: TopicCuration = NOTHING_CURATED;
  /** What decides beneath the choice that the rest is Other. */
  #beneath: Decided = this;

  constructor({ instance, instanceId, thresholds, dimensions, arena }: TopicOptions) {
    this.instance = instance;
    this.instanceId = instanceId;
    this.thresholds = thresholds;
    this.dimensions = dimensions;
    this.micros = new MicroClusters(arena, (micro) => this.visibleTopic(micro));
    this.centroids = new CentroidCosines(arena);
  }

  /**
   * Returns the overview. Claimed and corrected requests neither name the topic beneath nor shape its cluster, unless
   * nothing else is left of it.
   */
  overview(): Overview {
    const members = this.micros.byTopic();
    if (this.own.active === 0 && this.corrections.active === 0)
      return new Overview(members, this.frequencies());
    const unclaimed = [...members].map(([topic, all]): [number, readonly MicroCluster[]] => {
      const left = all.filter((micro) => !this.isDecided(micro));
      return [topic, left.length > 0 ? left : all];
    });
    return new Overview(new Map(unclaimed), this.frequencies());
  }

  /** The topic under which a micro-cluster is shown, or −1. */
  visibleTopic(micro: Shown): number {
    return visibleTopicOf(micro, this);
  }

  /** The topic under which a micro-cluster would be shown if found topics were shown, or −1. */
  topicBeneath(micro: Shown): number {
    return visibleTopicOf(micro, this.#beneath);
  }

  /** True if a person decided about the requests of a micro-cluster: they say nothing about the topic found for them. */
  isDecided({ claim, corrections }: Shown): boolean {
    return this.own.isActive(claim) || corrections.some((one) => correctionIn(this, one) !== null);
  }

  /** The decisions of people that are in effect. */
  get curation(): TopicCuration {
    return this.#curation;
  }

  /** Applies decisions; see `Topics.curate`. */
  curate(decide: () => TopicCuration | null): void {
    this.micros.noteAll();
    for (const topic of this.topics) this.topicChanges.note(topic.number, this.rowKeyOf(topic));
    const corrected = this.#corrected();
    const { routesToOther } = this.#curation;
    this.restoreCuration(decide() ?? this.#curation);
    if (this.#curation.routesToOther !== routesToOther) this.wideClaims.touchAll();
    for (const micro of [...corrected, ...this.#corrected()]) this.touch(micro);
  }

  /** Notes that a micro-cluster changed, where its claim or its labels may change too. */
  touch({ number }: Pick<MicroCluster, 'number'>): void {
    this.labels.touch(number);
    if (this.#curation.routesToOther) this.wideClaims.touch(number);
  }

  #withoutOther(): Decided {
    const { own, corrections, wideClaims } = this;
    return { own, corrections, wideClaims, curation: { ...this.#curation, routesToOther: false } };
  }

  #corrected(): MicroCluster[] {
    return this.corrections.size === 0
      ? []
      : this.micros.live.filter(({ corrections }) => corrections.length > 0);
  }

  /** Restores the decisions that were in effect when the state was taken. */
  restoreCuration(curation: TopicCuration): void {
    this.#curation = curation;
    this.#beneath = curation.routesToOther ? this.#withoutOther() : this;
  }

  /** The topic cluster, heir and message position of the merge that are shown for a topic; −1 if there is none. */
  publishedLinks(topic: Topic): { readonly cluster: number; readonly heir: number; readonly since: number } {
    const { number } = topic;
    const { merges, moves } = this.#curation;
    const cluster = moves.get(number) ?? topic.cluster;
    const merge = merges.get(number);
    const heir = heirOf(number, this.#curation, this.own);
    return merge === undefined || heir === number
      ? { cluster, heir: topic.heir, since: topic.since }
      : { cluster, heir, since: merge.since };
  }

  /** True for a topic that a person hid, and for Other where nothing counts as Other. */
  isHidden({ number }: Topic): boolean {
    const { hidden, other, routesToOther } = this.#curation;
    return hidden.has(number) || (number === other && !routesToOther);
  }

  /** A key that differs if the published row differs. */
  rowKeyOf(topic: Topic): string {
    const { cluster, heir } = this.publishedLinks(topic);
    return `${cluster}:${heir}:${this.isHidden(topic)}:${topic.name}`;
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
   * Moves micro-clusters into a new topic, as its core. Returns null if topics were created for all of them before,
   * because an id never changes its meaning.
   */
  createTopic(members: readonly MicroCluster[]): Topic | null {
    const first = members.find(({ position }) => !this.#topicAt.has(position));
    if (first === undefined) return null;
    const topic = this.#newTopic({ position: first.position, name: '', own: null });
    for (const member of members) this.micros.moveToTopic(member, topic.number, true);
    topic.length = normOf(sumOf(members)) / weightOf(members);
    return topic;
  }

  /** Creates an own topic; it holds what it claims. */
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
