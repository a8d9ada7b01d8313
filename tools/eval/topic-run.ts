/**
 * The online topics of labelled conversations, message by message, with looks at them on the way. Each message is a
 * batch of its own, so that the topic which a request got on its arrival is known.
 * Covered by test/tools/eval/topic-run.test.ts.
 */
import type { Enrichment, Turn } from '../../src/domain/facts.ts';
import type { Thresholds } from '../../src/domain/model-thresholds.ts';
import { Assigner } from '../../src/reader/threads/assigner.ts';
import type { LabelledConversation } from './conversations.ts';

export interface EnrichedConversation extends LabelledConversation {
  /** Parallel to `turns`. */
  readonly enrichments: readonly Enrichment[];
}

/** A user turn that the enricher takes for a request. */
export interface RunRequest {
  /** The same in every order of the conversations. */
  readonly id: string;
  /** The whole turn. */
  readonly content: string;
  /** The part of it that the topic was given. */
  readonly request: string;
  readonly vector: Float32Array;
  readonly label: string | null;
  readonly domain: string;
  /** Topic number right after the request was assigned. */
  readonly topicOnArrival: number | null;
}

export interface LabelledRequest extends RunRequest {
  readonly label: string;
}

export interface TopicInfo {
  readonly name: string;
  readonly cluster: number | null;
}

/** The topics at one moment. */
export interface TopicSnapshot {
  /** In order of arrival; a later snapshot of the same run begins with the same ones. */
  readonly requests: readonly LabelledRequest[];
  /** Topic number or null; parallel to `requests`. */
  readonly topicOf: readonly (number | null)[];
  readonly topics: ReadonlyMap<number, TopicInfo>;
  /** Names of the topic clusters. */
  readonly clusters: ReadonlyMap<number, string>;
}

const INSTANCE = 1;
const INSTANCE_ID = '0190a000-0000-7000-8000-000000000001';
/** The state is taken, and thrown away, after so many messages, as the worker takes it after each batch. */
const STATE_EVERY = 2000;

/** One instance that conversations are added to, one after the other. */
export class TopicRun {
  readonly #assigner: Assigner;
  readonly #topicOfMicro = new Map<number, number | null>();
  readonly #topics = new Map<number, TopicInfo>();
  readonly #clusters = new Map<number, string>();
  readonly #requests: { readonly request: RunRequest; readonly micro: number | null }[] = [];
  readonly #labelled: { readonly request: LabelledRequest; readonly micro: number | null }[] = [];
  #position = 0;
  #session = 0;

  constructor(thresholds: Thresholds, dimensions: number) {
    // Nothing here reads the language of a session, and telling it takes longer than all the rest.
    this.#assigner = new Assigner({ thresholds, dimensions, detectLanguage: () => null });
    this.#assigner.restoreInstance(INSTANCE, INSTANCE_ID, []);
  }

  /** Labelled requests so far. */
  get size(): number {
    return this.#labelled.length;
  }

  add({ id, domain, turns, enrichments }: EnrichedConversation): void {
    this.#session += 1;
    this.#assigner.restoreSession(INSTANCE, this.#session, null);
    turns.forEach(({ role, content, label, domain: own = domain }, index) => {
      const enrichment = enrichments[index]!;
      const micro = this.#assign(id, role, content, enrichment);
      const { kind, request, vector } = enrichment;
      if (role !== 'user' || kind !== 'request' || vector === null) return;
      const topicOnArrival = this.#topicOf(micro);
      const made = { id: `${id}#${index}`, content, request, vector, domain: own, topicOnArrival };
      this.#requests.push({ request: { ...made, label }, micro });
      if (label !== null) this.#labelled.push({ request: { ...made, label }, micro });
    });
  }

  snapshot(): TopicSnapshot {
    return {
      requests: this.#labelled.map(({ request }) => request),
      topicOf: this.#labelled.map(({ micro }) => this.#topicOf(micro)),
      topics: new Map(this.#topics),
      clusters: new Map(this.#clusters),
    };
  }

  /** All requests of each topic, labelled or not. */
  members(): Map<number, RunRequest[]> {
    const members = new Map<number, RunRequest[]>();
    for (const { request, micro } of this.#requests) {
      const topic = this.#topicOf(micro);
      if (topic === null) continue;
      const own = members.get(topic);
      if (own === undefined) members.set(topic, [request]);
      else own.push(request);
    }
    return members;
  }

  /** Gives the memory back. */
  close(): void {
    this.#assigner.reset();
  }

  /** Assigns the next message and returns its micro-cluster. */
  #assign(sessionId: string, role: Turn['role'], content: string, enrichment: Enrichment): number | null {
    this.#position += 1;
    const turn: Turn = {
      position: this.#position,
      instance: INSTANCE,
      instanceId: INSTANCE_ID,
      session: this.#session,
      sessionId,
      role,
      user: null,
      content,
      at: 0,
    };
    const { messages, micros, topics, clusters } = this.#assigner.assign([turn], [enrichment]);
    if (this.#position % STATE_EVERY === 0) this.#assigner.takeState();
    for (const { micro, topic } of micros) this.#topicOfMicro.set(micro, topic);
    for (const { topic, name, cluster } of topics) this.#topics.set(topic, { name, cluster });
    for (const { cluster, name } of clusters) this.#clusters.set(cluster, name);
    return messages[0]!.micro;
  }

  #topicOf(micro: number | null): number | null {
    return micro === null ? null : (this.#topicOfMicro.get(micro) ?? null);
  }
}

/**
 * Snapshots at `sizes`, ascending: each at the end of the conversation with which that many labelled requests have
 * come. Sizes that the conversations do not reach are left out. `after` is called after each conversation.
 */
export function snapshotsAt(
  run: TopicRun,
  conversations: readonly EnrichedConversation[],
  sizes: readonly number[],
  after: () => void = () => undefined,
): Map<number, TopicSnapshot> {
  const snapshots = new Map<number, TopicSnapshot>();
  const left = [...sizes];
  for (const conversation of conversations) {
    if (left.length === 0) break;
    run.add(conversation);
    after();
    if (run.size < left[0]!) continue;
    const snapshot = run.snapshot();
    while (left.length > 0 && run.size >= left[0]!) snapshots.set(left.shift()!, snapshot);
  }
  return snapshots;
}

/** The labelled requests of each topic. Requests without a topic are left out. */
export function byTopic({ requests, topicOf }: TopicSnapshot): Map<number, LabelledRequest[]> {
  const members = new Map<number, LabelledRequest[]>();
  requests.forEach((request, place) => {
    const topic = topicOf[place]!;
    if (topic === null) return;
    const own = members.get(topic);
    if (own === undefined) members.set(topic, [request]);
    else own.push(request);
  });
  return members;
}
