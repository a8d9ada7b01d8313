/**
 * Gives every message its topic, signals, repeated request and gap, in stream order, and keeps the state of instances
 * and sessions that this needs. Keeps the invariant that its results depend on the stream alone: neither on how the
 * stream is cut into batches nor on restarts, as long as the rows of `takeState` are stored with the batch and handed
 * back through `restore…`.
 *
 * Test: test/reader/threads/assigner.test.ts, test/reader/threads/determinism.test.ts.
 */
import { OpeningTurns } from '../conversations/authors.ts';
import { SessionState } from '../conversations/session-state.ts';
import type { Assignment, Enrichment, SessionRow, StateRow, Turn } from '../../domain/facts.ts';
import type { DetectLanguage } from '../document/detect.ts';
import { READ_TOGETHER } from '../acts/finding.ts';
import { UNWATCHED, type StepListener } from '../embedding/step-listener.ts';
import type { Thresholds } from '../../domain/model-thresholds.ts';
import type { Interlude, ShownSession } from '../../domain/curations.ts';
import {
  NO_REPORTS,
  type PlacedWriting,
  type TurnReport,
  type WriterReports,
} from '../../domain/writings.ts';
import { DotArena } from '../numeric/dot-kernel.ts';
import { curate } from './curate.ts';
import { InstanceState } from './instance-state.ts';
import { StateCache } from './state-cache.ts';
import { assignTurn, type MutableMessage } from './turn-assignment.ts';
import { TurnReader } from './turn-reader.ts';
import type { TurnReading } from './turn-reading.ts';
import { turnReport } from './turn-reports.ts';

export interface AssignerOptions {
  /** Cosine similarities of the embedding model in use. */
  readonly thresholds: Thresholds;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
  /** Returns the ISO 639-1 code of a text, or null if the text is too unclear. Must depend on its argument alone. */
  readonly detectLanguage: DetectLanguage;
  /** Called at each turn with its index in the batch. */
  readonly steps?: StepListener;
  /** Memory that instances and sessions may take between batches, bytes, approximately. Default: no bound. */
  readonly memoryBytes?: number;
  /** True if a writer is configured, so that the assigner reports what can be named and summarised. Default false. */
  readonly reports?: boolean;
}

/**
 * Numbers of the instances and sessions that were dropped from memory; the caller restores them before their next turn.
 */
export interface Evicted {
  readonly instances: readonly number[];
  readonly sessions: readonly number[];
}

/** A session that has turns or a writing in this batch. */
interface TouchedSession {
  readonly id: string;
  /** Index of the last turn that its title and summary are made from; −1 if there is none. */
  last: number;
  /** The summary that a writer wrote after the session's last turn; null if there is none. */
  written: string | null;
}

/** Share of the memory that sessions may take; instances take the rest. */
const SESSIONS_SHARE = 0.25;

/** The assigner of one shard on one thread. Restore instances and sessions before their turns. */
export class Assigner {
  readonly #options: AssignerOptions;
  readonly #arena: DotArena;
  readonly #instances = new StateCache<InstanceState>((instance) => instance.release());
  readonly #sessions = new StateCache<SessionState>();
  readonly #unsavedInstances = new Set<InstanceState>();
  readonly #unsavedSessions = new Set<SessionState>();
  readonly #reader: TurnReader;
  #reports: WriterReports = NO_REPORTS;

  constructor(options: AssignerOptions) {
    this.#options = options;
    this.#arena = new DotArena(options.dimensions);
    this.#reader = new TurnReader(options.steps ?? UNWATCHED);
  }

  hasInstance(instance: number): boolean {
    return this.#instances.peek(instance) !== undefined;
  }

  hasSession(instance: number, session: number): boolean {
    return this.#sessions.peek(session)?.instance === instance;
  }

  /** Restores an instance from all its rows of kinds other than `session`. A new instance has no rows. */
  restoreInstance(instance: number, instanceId: string, rows: readonly StateRow[]): void {
    const { thresholds, dimensions } = this.#options;
    const state = new InstanceState({ instance, instanceId, thresholds, dimensions, arena: this.#arena });
    state.restore(rows);
    this.#instances.set(instance, state, state.bytes);
  }

  /** Restores a session from its row; null for a new session. */
  restoreSession(instance: number, session: number, value: Uint8Array | null): void {
    const state =
      value === null
        ? new SessionState(instance, session)
        : SessionState.read(instance, session, value, this.#options.dimensions);
    this.#sessions.set(session, state, sessionBytes(value));
  }

  /**
   * Assigns a batch of turns in stream order. `enrichments` are parallel to `turns`; `interludes` are sorted by their
   * places. Throws if an instance or session was not restored: then call `reset` and restore.
   */
  assign(
    turns: readonly Turn[],
    enrichments: readonly Enrichment[],
    interludes: readonly Interlude[] = [],
  ): Assignment {
    const { steps = UNWATCHED, reports = false } = this.#options;
    const messages: MutableMessage[] = [];
    const instances = new Set<InstanceState>();
    const sessions = new Map<SessionState, TouchedSession>();
    const openings = new OpeningTurns();
    const reported: TurnReport[] = [];
    const passed = Map.groupBy(interludes, ({ before }) => before);
    const passAt = (place: number): void => {
      for (const interlude of passed.get(place) ?? []) {
        if ('writing' in interlude) this.#write(interlude, instances, sessions);
        else {
          const instance = this.#instanceOf(interlude);
          instances.add(instance);
          curate(instance, interlude, messages, (id) => sessionIn(interlude.instance, id));
        }
      }
    };
    const sessionIn = (instance: number, id: string): ShownSession | null => {
      const [found] = [...sessions].find(
        ([state, touched]) => state.instance === instance && touched.id === id && touched.last >= 0,
      ) ?? [null];
      return found === null ? null : { instance, session: found.session, outcome: found.text.outcome };
    };
    const hasTurns = (session: number): boolean => (this.#sessions.peek(session)?.turns ?? 0) > 0;
    let readings: readonly TurnReading[] = [];
    for (const [place, turn] of turns.entries()) {
      passAt(place);
      if (place % READ_TOGETHER === 0) readings = this.#reader.read(turns, enrichments, place, hasTurns);
      steps.onText(place);
      const enrichment = enrichments[place];
      if (enrichment === undefined) throw new Error(`turn at position ${turn.position} has no enrichment`);
      const instance = this.#instanceOf(turn);
      const session = this.#sessionOf(turn);
      instances.add(instance);
      const touched = sessions.get(session);
      if (touched === undefined) sessions.set(session, { id: turn.sessionId, last: place, written: null });
      else {
        touched.written = null;
        if (turn.role === 'user' || touched.last < 0) touched.last = place;
      }
      session.turns += 1;
      const reading = readings[place % READ_TOGETHER] as TurnReading;
      const message = assignTurn({ turn, reading, enrichment, instance, session });
      if (reports) reported.push(turnReport(turn, session));
      openings.add(turn, session, message);
      messages.push(message);
    }
    passAt(turns.length);
    const openingAuthors = openings.finish();
    for (const [session, { last }] of sessions) {
      const { curations } = this.#instanceOf(session);
      if (last >= 0 && curations.foundOutcome(session.session) !== undefined)
        curations.findOutcome(session.session, session.text.outcome);
    }
    const changed = [...instances].map((instance) => {
      steps.onShared();
      this.#unsavedInstances.add(instance);
      return instance.drain();
    });
    const sessionRows = this.#sessionRows(sessions, steps);
    steps.onShared();
    if (reports)
      this.#reports = { names: [...instances].flatMap((instance) => instance.reports()), turns: reported };
    return {
      messages,
      micros: changed.flatMap(({ micros }) => micros),
      topics: changed.flatMap(({ topics }) => topics),
      clusters: changed.flatMap(({ clusters }) => clusters),
      signals: changed.flatMap(({ signals }) => signals),
      repeatedRequests: changed.flatMap(({ repeatedRequests }) => repeatedRequests),
      gaps: changed.flatMap(({ gaps }) => gaps),
      labels: changed.flatMap(({ labels }) => labels),
      labelMicros: changed.flatMap(({ labelMicros }) => labelMicros),
      sessions: sessionRows,
      openingAuthors,
      curations: changed.flatMap(({ curations }) => curations),
      corrections: changed.flatMap(({ corrections }) => corrections),
      outcomes: changed.flatMap(({ outcomes }) => outcomes),
    };
  }

  /** Takes the reports on the last batch for the writer: names to write, and turns. */
  takeReports(): WriterReports {
    const reports = this.#reports;
    this.#reports = NO_REPORTS;
    return reports;
  }

  /** The rows that changed since the last call, for the transaction that folds the batch. */
  takeState(): StateRow[] {
    const rows: StateRow[] = [];
    for (const state of this.#unsavedInstances) {
      rows.push(...state.takeState());
      this.#instances.resize(state.instance, state.bytes);
    }
    for (const state of this.#unsavedSessions) {
      const { instance, session } = state;
      const value = state.write();
      rows.push({ instance, kind: 'session', key: session, value });
      this.#sessions.resize(session, sessionBytes(value));
    }
    this.#unsavedInstances.clear();
    this.#unsavedSessions.clear();
    return rows;
  }

  /**
   * Drops the least recently used state above `memoryBytes` and returns its numbers. Call it after `takeState`: unsaved
   * state is never dropped.
   */
  evict(): Evicted {
    const { memoryBytes = Infinity } = this.#options;
    const sessions = this.#sessions.evict(
      memoryBytes * SESSIONS_SHARE,
      (session) => !this.#unsavedSessions.has(session),
    );
    const instances = this.#instances.evict(
      memoryBytes - this.#sessions.bytes,
      (instance) => !this.#unsavedInstances.has(instance),
    );
    return { instances, sessions };
  }

  /** Drops everything in memory, unsaved state too. */
  reset(): void {
    this.#instances.clear();
    this.#sessions.clear();
    this.#unsavedInstances.clear();
    this.#unsavedSessions.clear();
    this.#reports = NO_REPORTS;
  }

  /**
   * Applies a writing. A summary is shown until the session gets another turn; a summary of an older state is ignored.
   */
  #write(
    placed: PlacedWriting,
    instances: Set<InstanceState>,
    sessions: Map<SessionState, TouchedSession>,
  ): void {
    const { writing, session: number } = placed;
    const instance = this.#instanceOf(placed);
    instances.add(instance);
    instance.write(writing);
    if (number === null) return;
    const session = this.#sessionOf({ instance: placed.instance, session: number });
    if (session.turns !== writing.at) return;
    const touched = sessions.get(session) ?? { id: writing.id, last: -1, written: null };
    touched.written = writing.text;
    sessions.set(session, touched);
  }

  #instanceOf(turn: Pick<Turn, 'instance'>): InstanceState {
    const instance = this.#instances.get(turn.instance);
    if (instance === undefined) throw new Error(`instance ${turn.instance} was not restored`);
    return instance;
  }

  #sessionOf(turn: Pick<Turn, 'instance' | 'session'>): SessionState {
    const session = this.#sessions.get(turn.session);
    if (session === undefined || session.instance !== turn.instance) {
      throw new Error(`session ${turn.session} of instance ${turn.instance} was not restored`);
    }
    return session;
  }

  #sessionRows(sessions: ReadonlyMap<SessionState, TouchedSession>, steps: StepListener): SessionRow[] {
    return [...sessions].map(([state, { id, last, written }]) => {
      steps.onText(last);
      this.#unsavedSessions.add(state);
      const { instance, session, user, text } = state;
      const language = text.language(this.#options.detectLanguage);
      const summary = written ?? text.summary(language);
      const title = text.title(language);
      const outcome = this.#instanceOf(state).curations.outcomeOf(session, text.outcome);
      const { isUnanswered } = state.conduct;
      return { instance, session, id, user, title, summary, language, outcome, isUnanswered };
    });
  }
}

/** Estimated memory of a session, bytes: the stored value twice (texts and vectors, and the objects around them). */
function sessionBytes(value: Uint8Array | null): number {
  return 1500 + 2 * (value?.length ?? 0);
}
