import type { Assignment, MessageFact } from '../../src/domain/facts.ts';
import { INFERRED_SIGNALS } from '../../src/domain/signal-kinds.ts';
import { v5 } from 'uuid';
import { assignment } from './fold.ts';

const MESSAGES_PER_SESSION = 10;
const CLUSTERS = 20;
const GAPS = 20;
const REPEATED_REQUESTS = 20;
/** How long a conversation usually takes, in days. */
const SESSION_DAYS = 15 / 1440;
/** One session in so many is left in its middle and taken up again later. */
const LEFT_ONE_IN = 10;
/** How much longer than a conversation it is left. */
const LEFT_TIMES = 50;

export interface SyntheticStreamOptions {
  /** Messages that are spread evenly over `days`. */
  readonly messages: number;
  readonly days: number;
  /** Event time of the beginning, microseconds since 1970-01-01 UTC. */
  readonly start?: number;
  readonly instance?: number;
  readonly topics?: number;
  /** Default: none. */
  readonly labels?: number;
  /** Sessions, end users and positions are numbered from here on; apart from those of other instances. */
  readonly firstNumber?: number;
  readonly seed?: number;
}

/** Raised when the messages become other ones. */
export const SYNTHETIC_VERSION = 3;

/** Where a synthetic history begins unless told otherwise. */
export const SYNTHETIC_START = Date.UTC(2025, 10, 20) * 1000;

const NAMESPACE = '6f0f3a52-5d0c-4a4e-9b39-0d6a2b9f6f11';

/** As random as the service's own ids: ids in a row would be packed by the database, and be slow to unpack. */
const id = (kind: string) => (number: number) => v5(`${kind}:${number}`, NAMESPACE);

/** UUIDs of what a synthetic stream numbers. */
export const SYNTHETIC_IDS = {
  instance: id('instance'),
  user: id('user'),
  session: id('session'),
  gap: id('gap'),
  topic: id('topic'),
  cluster: id('cluster'),
  signal: id('signal'),
  repeatedRequest: id('repeated-request'),
  label: id('label'),
} as const;

interface OpenSession {
  readonly session: number;
  readonly user: number;
  /** Messages that are still to come. */
  left: number;
  micro: number;
}

/**
 * Messages of one instance that follow each other evenly: sessions of 10 that overlap and take minutes, or days
 * where they are taken up again, topics after Zipf, returning end users, every kind of entity. The same options
 * always give the same messages.
 */
export class SyntheticStream {
  readonly #instance: number;
  readonly #topics: number;
  readonly #labels: number;
  /** Sessions that are open at once: their messages alternate. */
  readonly #sessionsAtOnce: number;
  readonly #firstNumber: number;
  readonly #stepMicros: number;
  readonly #open: OpenSession[] = [];
  /** Sessions that were left in their middle. */
  readonly #left: OpenSession[] = [];
  #state: number;
  #messages = 0;
  #sessions = 0;
  #at: number;

  constructor(options: SyntheticStreamOptions) {
    this.#instance = options.instance ?? 1;
    this.#topics = options.topics ?? 200;
    this.#labels = options.labels ?? 0;
    this.#sessionsAtOnce = Math.max(2, Math.round((options.messages / options.days) * SESSION_DAYS));
    this.#firstNumber = options.firstNumber ?? 0;
    this.#stepMicros = Math.floor((options.days * 86_400e6) / options.messages);
    this.#state = options.seed ?? 1;
    this.#at = options.start ?? SYNTHETIC_START;
  }

  #random(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state / 2 ** 32;
  }

  /** The next messages, with the sessions that they open; the first time with all topics and their like. */
  next(count: number): Assignment {
    const messages: MessageFact[] = [];
    const sessions: Assignment['sessions'][number][] = [];
    const first = this.#messages === 0;
    for (let i = 0; i < count; i++) {
      this.#messages += 1;
      this.#at += this.#stepMicros;
      if (this.#left.length > (this.#sessionsAtOnce * LEFT_TIMES) / LEFT_ONE_IN) {
        this.#open.push(...this.#left.splice(Math.floor(this.#random() * this.#left.length), 1));
      }
      if (this.#open.length < this.#sessionsAtOnce) {
        this.#sessions += 1;
        const session = this.#firstNumber + this.#sessions;
        const user = this.#firstNumber + 1 + Math.floor(this.#random() * Math.max(10, this.#sessions / 5));
        this.#open.push({ session, user, left: MESSAGES_PER_SESSION, micro: 1 });
        sessions.push({
          instance: this.#instance,
          session,
          id: SYNTHETIC_IDS.session(session),
          user,
          title: `session ${session}`,
          summary: null,
          language: 'en',
          outcome: 'open',
        });
      }
      const at = Math.floor(this.#random() * this.#open.length);
      const turn = this.#open[at] as OpenSession;
      if (turn.left % 4 === 2) turn.micro = Math.floor(this.#topics ** this.#random());
      turn.left -= 1;
      if (turn.left === 0) this.#open.splice(at, 1);
      if (turn.left === MESSAGES_PER_SESSION / 2 && turn.session % LEFT_ONE_IN === 0)
        this.#left.push(...this.#open.splice(at, 1));
      const draw = this.#random();
      messages.push({
        position: this.#firstNumber + this.#messages,
        instance: this.#instance,
        session: turn.session,
        user: turn.user,
        at: this.#at,
        micro: turn.micro,
        signals: draw < 0.11 ? [Math.floor(draw * 100) % INFERRED_SIGNALS.length] : [],
        repeatedRequest: draw > 0.98 ? 1 + (this.#messages % REPEATED_REQUESTS) : null,
        // A gap concerns a few topics, not all of them.
        gap: draw > 0.96 && draw < 0.98 ? 1 + (turn.micro % GAPS) : null,
        wait: turn.left % 2 === 0 ? 80 + Math.floor(draw * 40) : -80,
      });
    }
    const numbered = <T>(count: number, row: (number: number) => T): T[] =>
      first ? Array.from({ length: count }, (_, index) => row(index + 1)) : [];
    return assignment({
      messages,
      sessions,
      micros: numbered(this.#topics, (micro) => ({ instance: this.#instance, micro, topic: micro })),
      topics: numbered(this.#topics, (topic) => ({
        instance: this.#instance,
        topic,
        id: SYNTHETIC_IDS.topic(topic),
        name: `topic ${topic}`,
        cluster: clusterOfTopic(topic),
        heir: null,
        since: null,
      })),
      clusters: numbered(CLUSTERS, (cluster) => ({
        instance: this.#instance,
        cluster,
        id: SYNTHETIC_IDS.cluster(cluster),
        name: `cluster ${cluster}`,
      })),
      signals: first
        ? INFERRED_SIGNALS.map((signal, number) => ({
            instance: this.#instance,
            signal: number,
            id: SYNTHETIC_IDS.signal(number),
            name: signal.name,
            signalType: signal.type,
            source: signal.source,
            description: signal.description,
          }))
        : [],
      repeatedRequests: numbered(REPEATED_REQUESTS, (repeatedRequest) => ({
        instance: this.#instance,
        repeatedRequest,
        id: SYNTHETIC_IDS.repeatedRequest(repeatedRequest),
        name: `repeat ${repeatedRequest}`,
        description: '',
        heir: null,
        since: null,
      })),
      labels: numbered(this.#labels, (number) => ({
        instance: this.#instance,
        label: number - 1,
        id: SYNTHETIC_IDS.label(number),
        name: `label ${number}`,
        description: '',
        isGone: false,
      })),
      // Every second topic has one label, every third another, and so on.
      labelMicros: numbered(this.#labels, (number) =>
        Array.from({ length: this.#topics }, (_, index) => index + 1)
          .filter((micro) => micro % (number + 1) === 0)
          .map((micro) => ({ instance: this.#instance, label: number - 1, micro, holds: true })),
      ).flat(),
      gaps: numbered(GAPS, (gap) => ({
        instance: this.#instance,
        gap,
        id: SYNTHETIC_IDS.gap(gap),
        name: `gap ${gap}`,
        description: '',
        gapType: gap % 2 === 0 ? 'TOOL' : 'KNOWLEDGE',
        heir: null,
        since: null,
      })),
    });
  }
}

/** The cluster of a topic of a synthetic stream. */
export function clusterOfTopic(topic: number): number {
  return 1 + (topic % CLUSTERS);
}
