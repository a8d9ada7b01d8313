import {
  SIGNALS,
  type Assignment,
  type ClusterRow,
  type Enrichment,
  type GapRow,
  type MessageFact,
  type MicroTopic,
  type OpeningAuthor,
  type RepeatedRequestRow,
  type SessionRow,
  type SignalKey,
  type SignalRow,
  type StateRow,
  type TopicRow,
  type Turn,
} from '../../domain/facts.ts';
import { beginning } from '../../domain/beginning.ts';
import { UNWATCHED, type StepListener } from '../../domain/steps.ts';
import { asksUser, canOnlyAnswer } from '../../conversations/answers.ts';
import type { Thresholds } from '../../domain/thresholds.ts';
import { DotArena } from '../../numeric/dot-kernel.ts';
import { GAP_TYPES, InstanceState } from './instance-state.ts';
import { Remembered } from './cached.ts';
import { isRepeated, newRequest } from '../../conversations/repeated-requests.ts';
import { SessionState } from '../../conversations/session-state.ts';
import { dequantise } from '../../numeric/quantised.ts';

export interface AssignerOptions {
  /** Cosine similarities of the embedding model in use. */
  readonly thresholds: Thresholds;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  /** ISO 639-1 code of a text, or null when that cannot be told reliably. Must depend on the text alone. */
  readonly detectLanguage: (text: string) => string | null;
  /** Told of each turn by its place among those given. */
  readonly steps?: StepListener;
  /** About how much memory instances and sessions may take between batches, bytes. Default 256 MiB. */
  readonly memoryBytes?: number;
}

/** What was forgotten, to be restored when it comes again. */
export interface Evicted {
  readonly instances: readonly number[];
  readonly sessions: readonly number[];
}

const MEMORY_BYTES = 256 * 2 ** 20;
/** Of the memory, sessions have this share. */
const SESSIONS_SHARE = 0.25;

const SIGNAL_INDEX = new Map<SignalKey, number>(SIGNALS.map(({ key }, index) => [key, index]));
const LAST_REQUEST_LENGTH = 160;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Gives every message its topic, signals, repeated request and gap, in stream order.
 *
 * All that it decides depends on the stream alone: not on how the stream was cut into batches, and not on
 * restarts, as long as the rows of `takeState` are stored with the batch and given back by `restore…`.
 */
export class Assigner {
  readonly #options: AssignerOptions;
  readonly #arena: DotArena;
  readonly #instances = new Remembered<InstanceState>();
  readonly #sessions = new Remembered<SessionState>();
  readonly #dirtyInstances = new Set<InstanceState>();
  readonly #dirtySessions = new Set<SessionState>();

  constructor(options: AssignerOptions) {
    this.#options = options;
    this.#arena = new DotArena(options.dimensions);
  }

  hasInstance(instance: number): boolean {
    return this.#instances.peek(instance) !== undefined;
  }

  hasSession(instance: number, session: number): boolean {
    return this.#sessions.peek(session)?.instance === instance;
  }

  /** Takes back all of an instance's rows of kinds other than `session`; none for a new instance. */
  restoreInstance(instance: number, instanceId: string, rows: readonly StateRow[]): void {
    const { thresholds, dimensions } = this.#options;
    this.#instances.peek(instance)?.release();
    const state = new InstanceState(instance, instanceId, thresholds, dimensions, this.#arena);
    state.restore(rows);
    this.#instances.set(instance, state, state.bytes);
  }

  /** Takes back a session's row; null for a new session. */
  restoreSession(instance: number, session: number, value: Uint8Array | null): void {
    const state =
      value === null
        ? new SessionState(instance, session)
        : SessionState.read(instance, session, value, this.#options.dimensions);
    this.#sessions.set(session, state, sessionBytes(value));
  }

  /**
   * Assigns a batch of turns in stream order; `enrichments` are parallel to `turns`. Throws when an
   * instance or session was not restored before: then call `reset` and restore.
   */
  assign(turns: readonly Turn[], enrichments: readonly Enrichment[]): Assignment {
    const { steps = UNWATCHED } = this.#options;
    const messages: Mutable<MessageFact>[] = [];
    /** With the first turn of each in this batch, and the place of the last one that its texts are of. */
    const touched = new Map<SessionState, { turn: Turn; last: number }>();
    const touchedInstances = new Set<InstanceState>();
    const openingAuthors: OpeningAuthor[] = [];
    /** Turns of this batch that still wait for their session's first user turn. */
    const waiting = new Map<SessionState, Mutable<MessageFact>[]>();
    turns.forEach((turn, index) => {
      steps.onText(index);
      const enrichment = enrichments[index];
      if (enrichment === undefined) throw new Error(`turn at position ${turn.position} has no enrichment`);
      const instance = this.#instances.use(turn.instance);
      if (instance === undefined) throw new Error(`instance ${turn.instance} was not restored`);
      const session = this.#session(turn);
      touchedInstances.add(instance);
      const known = touched.get(session);
      if (known === undefined) touched.set(session, { turn, last: index });
      else if (turn.role === 'user') known.last = index;
      const fact = this.#assignTurn(turn, enrichment, instance, session);
      messages.push(fact);
      if (turn.role === 'user') {
        if (!session.hasUserTurn) {
          session.hasUserTurn = true;
          session.user = turn.user;
          const here = waiting.get(session) ?? [];
          for (const opening of here) opening.user = turn.user;
          if (session.hasOpening && turn.user !== null) {
            openingAuthors.push({
              instance: turn.instance,
              session: turn.session,
              user: turn.user,
              beforePosition: turn.position,
            });
          }
          session.hasOpening = false;
        }
      } else if (!session.hasUserTurn) {
        const here = waiting.get(session);
        if (here === undefined) waiting.set(session, [fact]);
        else here.push(fact);
      }
    });
    for (const session of waiting.keys()) if (!session.hasUserTurn) session.hasOpening = true;

    const micros: MicroTopic[] = [];
    const topics: TopicRow[] = [];
    const clusters: ClusterRow[] = [];
    const signals: SignalRow[] = [];
    const repeatedRequests: RepeatedRequestRow[] = [];
    const gaps: GapRow[] = [];
    for (const instance of touchedInstances) {
      steps.onShared();
      this.#dirtyInstances.add(instance);
      const grouped = instance.topics.drain();
      micros.push(...grouped.micros);
      topics.push(...grouped.topics);
      clusters.push(...grouped.clusters);
      const other = instance.drain();
      signals.push(...other.signals);
      repeatedRequests.push(...other.repeatedRequests);
      gaps.push(...other.gaps);
    }
    const sessions: SessionRow[] = [];
    for (const [session, { turn, last }] of touched) {
      const { instance, sessionId } = turn;
      steps.onText(last);
      sessions.push({
        instance,
        session: session.session,
        id: sessionId,
        user: session.user,
        title: session.text.title,
        summary: session.text.summary,
        language: session.text.language(this.#options.detectLanguage),
      });
      this.#dirtySessions.add(session);
    }
    steps.onShared();
    return { messages, micros, topics, clusters, signals, repeatedRequests, gaps, sessions, openingAuthors };
  }

  /** The rows that changed since the last call, for the transaction that folds the batch. */
  takeState(): StateRow[] {
    const rows: StateRow[] = [];
    for (const state of this.#dirtyInstances) {
      rows.push(...state.takeState());
      this.#instances.measure(state.instance, state.bytes);
    }
    for (const state of this.#dirtySessions) {
      const { instance, session } = state;
      const value = state.write();
      rows.push({ instance, kind: 'session', key: session, value });
      this.#sessions.measure(session, sessionBytes(value));
    }
    this.#dirtyInstances.clear();
    this.#dirtySessions.clear();
    return rows;
  }

  /**
   * Forgets what was used least recently, beyond the memory that may be taken, and says what. Call after `takeState`:
   * what was not taken stays.
   */
  evict(): Evicted {
    const { memoryBytes = MEMORY_BYTES } = this.#options;
    const sessions = this.#sessions.evict(
      memoryBytes * SESSIONS_SHARE,
      (session) => !this.#dirtySessions.has(session),
    );
    const instances = this.#instances.evict(
      memoryBytes - this.#sessions.bytes,
      (instance) => !this.#dirtyInstances.has(instance),
      (instance) => instance.release(),
    );
    return { instances, sessions };
  }

  /** Forgets everything in memory, also what was not taken. */
  reset(): void {
    for (const instance of this.#instances.values()) instance.release();
    this.#instances.clear();
    this.#sessions.clear();
    this.#dirtyInstances.clear();
    this.#dirtySessions.clear();
  }

  #session(turn: Turn): SessionState {
    const session = this.#sessions.use(turn.session);
    if (session === undefined || session.instance !== turn.instance) {
      throw new Error(`session ${turn.session} of instance ${turn.instance} was not restored`);
    }
    return session;
  }

  #assignTurn(
    turn: Turn,
    enrichment: Enrichment,
    instance: InstanceState,
    session: SessionState,
  ): Mutable<MessageFact> {
    const fact: Mutable<MessageFact> = {
      position: turn.position,
      instance: turn.instance,
      session: turn.session,
      user: null,
      at: turn.at,
      micro: null,
      signals: [],
      repeatedRequest: null,
      gap: null,
    };
    switch (turn.role) {
      case 'user':
        this.#assignUserTurn(turn, enrichment, instance, session, fact);
        break;
      case 'assistant':
        fact.user = session.hasUserTurn ? session.author : null;
        fact.micro = this.#discussed(instance, session);
        if (enrichment.gap !== null) {
          const asked = session.requests.at(-1);
          fact.gap = instance.gaps.add(
            asked === undefined ? null : dequantise(asked.vector),
            session.lastRequest,
            GAP_TYPES.indexOf(enrichment.gap),
            turn.position,
            () => instance.topics.background(),
          );
        }
        session.answered = session.requests.length;
        session.askedAt = asksUser(turn.content) ? turn.at : null;
        session.text.addAssistantTurn(turn.content);
        break;
      case 'other':
        fact.user = session.hasUserTurn ? session.author : null;
        break;
    }
    return fact;
  }

  #assignUserTurn(
    turn: Turn,
    enrichment: Enrichment,
    instance: InstanceState,
    session: SessionState,
    fact: Mutable<MessageFact>,
  ): void {
    fact.user = turn.user;
    session.author = turn.user;
    const signals = new Set<number>();
    for (const key of enrichment.signals) signals.add(SIGNAL_INDEX.get(key)!);
    if (enrichment.kind === 'request' && enrichment.vector !== null && saysAnything(enrichment.vector)) {
      this.#place(turn, enrichment.vector, enrichment.request, instance, session);
      const request = newRequest(enrichment.request, enrichment.vector);
      if (
        isRepeated(
          request,
          session.requests,
          session.answered,
          instance.thresholds.repeated,
          instance.thresholds.scale,
        )
      ) {
        fact.repeatedRequest = instance.repeated.add(
          dequantise(request.vector),
          enrichment.request,
          0,
          turn.position,
          () => instance.topics.background(),
        );
        signals.add(SIGNAL_INDEX.get('repetition')!);
      }
      session.remember({ vector: request.vector, words: request.words });
      session.lastRequest = beginning(enrichment.request, LAST_REQUEST_LENGTH);
    }
    fact.micro = this.#discussed(instance, session);
    fact.signals = [...signals].sort((x, y) => x - y);
    for (const signal of signals) instance.signal(signal);
    session.text.addUserTurn(turn.content, enrichment);
  }

  /**
   * Puts the session under the topic of a request. An answer founds no topic: it belongs to the one that it would
   * join, else to the one under discussion, which is what it is about.
   */
  #place(
    turn: Turn,
    vector: Float32Array,
    request: string,
    instance: InstanceState,
    session: SessionState,
  ): void {
    if (session.micro !== null && canOnlyAnswer(turn.content, turn.at, session.askedAt)) {
      session.micro = instance.topics.topicalMicro(vector) ?? session.micro;
      return;
    }
    instance.thresholds.add(vector);
    session.micro = instance.topics.add(vector, request, turn.position);
    session.askedAt = null;
  }

  #discussed(instance: InstanceState, session: SessionState): number | null {
    return session.micro === null ? null : instance.topics.resolve(session.micro);
  }
}

/** About how much memory a session takes: the texts and vectors that are written, and as much again around them. */
function sessionBytes(value: Uint8Array | null): number {
  return 1500 + 2 * (value?.length ?? 0);
}

/** False for the all-zero vector of a text of which the model knows no word. */
function saysAnything(vector: Float32Array): boolean {
  return vector.some((component) => component !== 0);
}
