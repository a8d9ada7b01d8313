/**
 * The threads that read messages for all shards of a process. Keeps two invariants: all turns of an instance are
 * assigned by one thread, in order; a text whose analysis fails costs no other text its findings.
 *
 * Test: test/reader/threads/pool.test.ts, test/reader/threads/determinism.test.ts.
 */
import { join } from 'node:path';
import type { Assignment, Enrichment, StateRow, Turn } from '../../domain/facts.ts';
import type { Interlude } from '../../domain/curations.ts';
import type { WriterReports } from '../../domain/writings.ts';
import {
  pack,
  packState,
  unpack,
  unpackState,
  type AnalysisModel,
  type Assigned,
  type PackedEnrichments,
} from './protocol.ts';
import { collectGarbage, IdleCollection } from './idle-collection.ts';
import { GuardedThread, PATIENCE, type Patience } from './guarded-thread.ts';
import {
  AnalysisFailure,
  AnalysisInterrupted,
  AnalysisStopped,
  type AssignStage,
  type EnrichStage,
  type Unanalysed,
} from './stages.ts';

export interface AnalysisPoolOptions {
  readonly threads: number;
  /** Name of the embedding model. */
  readonly model: string;
  readonly modelsDirectory: string;
  /** Path of the module that a thread runs, which calls `serveAnalysis`. Default: the shipped model and rules. */
  readonly script?: string;
  readonly patience?: Partial<Patience>;
  /** Memory that instances and sessions may take in all threads together, bytes, approximately. Default 128 MiB. */
  readonly memoryBytes?: number;
  /** True if a writer is configured, so that threads report what can be named and summarised. Default false. */
  readonly reports?: boolean;
}

const MEMORY_BYTES = 128 * 2 ** 20;

type Message = Pick<Turn, 'role' | 'content'>;

/**
 * Threads that enrich and assign for all shards of a process. Any thread enriches a message; one thread assigns all
 * messages of an instance, so results equal those of a single thread. If a text hangs or fills the memory, its thread
 * is ended and started again; other texts keep their findings.
 */
export class AnalysisPool {
  readonly model: AnalysisModel;
  /** Collects garbage in this thread and in the pool's threads while there is no work. */
  readonly idleCollection: IdleCollection;
  readonly #threads: readonly GuardedThread[];
  readonly #memoryBytes: number;

  private constructor(threads: readonly GuardedThread[], model: AnalysisModel, memoryBytes: number) {
    this.#threads = threads;
    this.#memoryBytes = memoryBytes;
    this.model = model;
    this.idleCollection = new IdleCollection({
      residentBytes: () => process.memoryUsage.rss(),
      collect: () => {
        for (const thread of threads) thread.ask({ kind: 'collect' }).catch(() => undefined);
        collectGarbage();
      },
      now: () => performance.now(),
    });
  }

  /** Starts the threads. Throws SetupError if the model cannot be used. */
  static async open(options: AnalysisPoolOptions): Promise<AnalysisPool> {
    const { threads, model, modelsDirectory, reports = false } = options;
    const script = options.script ?? join(import.meta.dirname, 'analysis-thread.ts');
    const patience = { ...PATIENCE, ...options.patience };
    const started = Array.from(
      { length: threads },
      () => new GuardedThread({ model, modelsDirectory, script, patience, reports }),
    );
    try {
      const models = await Promise.all(started.map((thread) => thread.start()));
      const memoryBytes = options.memoryBytes ?? MEMORY_BYTES;
      return new AnalysisPool(started, models[0] as AnalysisModel, memoryBytes);
    } catch (error) {
      await Promise.all(started.map((thread) => thread.close()));
      throw error;
    }
  }

  /** The pool for one shard, with its share of the memory. Close it before the pool. */
  forShard(shard: number, shards = 1): ShardAnalysis {
    const memoryBytes = this.#memoryBytes / this.#threads.length / shards;
    return new ShardAnalysis(shard, this.#threads, this.model.dimensions, memoryBytes);
  }

  /** Ends the threads, even in the middle of an answer. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/**
 * The shard's state in the memory of one thread. Outdated once the thread is ended: the next `assign` rejects.
 */
interface Held {
  /** The thread's generation when this record began. */
  readonly generation: number;
  readonly instances: Set<number>;
  readonly sessions: Set<number>;
  /** State to restore, sent with the next request. */
  restores: { instances: { instance: number; id: string }[]; rows: StateRow[]; sessions: StateRow[] };
}

/** The part of a batch that one thread assigns. */
interface Share {
  /** Index in the batch of each of its turns. */
  readonly places: number[];
  readonly turns: Turn[];
  readonly enrichments: Enrichment[];
  readonly interludes: Interlude[];
}

const STOP_LOOK_MS = 100;
/** A thread that shows no progress for this long during a shutdown is abandoned, milliseconds. */
const STOP_STILL_MS = 1500;

/** The pool for one shard: spreads messages to enrich over the threads, and assigns each instance on its own thread. */
export class ShardAnalysis implements EnrichStage, AssignStage {
  readonly #shard: number;
  readonly #threads: readonly GuardedThread[];
  readonly #dimensions: number;
  readonly #memoryBytes: number;
  readonly #held: Held[];
  readonly #stopped = new AbortController();
  #stopTimer: NodeJS.Timeout | null = null;
  #state: StateRow[] = [];
  #reports: WriterReports[] = [];

  constructor(shard: number, threads: readonly GuardedThread[], dimensions: number, memoryBytes: number) {
    this.#memoryBytes = memoryBytes;
    this.#shard = shard;
    this.#threads = threads;
    this.#dimensions = dimensions;
    this.#held = threads.map(nothingHeld);
  }

  async enrich(messages: readonly Message[]): Promise<(Enrichment | Unanalysed)[]> {
    const share = Math.ceil(messages.length / this.#threads.length);
    const parts = this.#threads.map((thread, index) =>
      this.#enrichOn(thread, messages.slice(index * share, (index + 1) * share)),
    );
    return (await this.#unlessStopped(Promise.all(parts))).flat();
  }

  hasInstance(instance: number): boolean {
    return this.#of(instance).instances.has(instance);
  }

  hasSession(instance: number, session: number): boolean {
    return this.#of(instance).sessions.has(session);
  }

  restoreInstance(instance: number, id: string, rows: readonly StateRow[]): void {
    const held = this.#of(instance);
    held.instances.add(instance);
    held.restores.instances.push({ instance, id });
    for (const row of rows) held.restores.rows.push(row);
  }

  restoreSession(instance: number, session: number, value: Uint8Array | null): void {
    const held = this.#of(instance);
    held.sessions.add(session);
    held.restores.sessions.push({ instance, kind: 'session', key: session, value });
  }

  async assign(
    turns: readonly Turn[],
    enrichments: readonly Enrichment[],
    interludes: readonly Interlude[] = [],
  ): Promise<Assignment> {
    const shares = this.#threads.map((): Share => ({
      places: [],
      turns: [],
      enrichments: [],
      interludes: [],
    }));
    const of = (instance: number): Share => shares[this.#threadOf(instance)] as Share;
    const passed = Map.groupBy(interludes, ({ before }) => before);
    const passAt = (place: number): void => {
      for (const interlude of passed.get(place) ?? []) {
        const share = of(interlude.instance);
        share.interludes.push({ ...interlude, before: share.turns.length });
      }
    };
    for (const [place, turn] of turns.entries()) {
      passAt(place);
      const share = of(turn.instance);
      share.places.push(place);
      share.turns.push(turn);
      share.enrichments.push(enrichments[place] as Enrichment);
    }
    passAt(turns.length);
    const parts = shares.map((share, number) =>
      share.turns.length + share.interludes.length === 0 ? null : this.#assignOn(number, share),
    );
    // Waits for all parts, also after a failure: otherwise the next request would interleave with them.
    const outcomes = await this.#unlessStopped(Promise.allSettled(parts));
    const assigned = outcomes.flatMap((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value === null ? [] : [outcome.value];
    });
    this.#state = assigned.flatMap(({ state }) => unpackState(state));
    this.#reports = assigned.map(({ reports }) => reports);
    return together(assigned.map(({ assignment }) => assignment));
  }

  takeState(): StateRow[] {
    const state = this.#state;
    this.#state = [];
    return state;
  }

  takeReports(): WriterReports {
    const reports = this.#reports;
    this.#reports = [];
    return { names: reports.flatMap(({ names }) => names), turns: reports.flatMap(({ turns }) => turns) };
  }

  reset(): void {
    this.#state = [];
    this.#reports = [];
    for (const [number, thread] of this.#threads.entries()) {
      this.#held[number] = nothingHeld(thread);
      thread.ask({ kind: 'forget', shard: this.#shard }).catch(() => undefined);
    }
  }

  /** Makes pending work reject with AnalysisStopped as soon as a thread hangs. Work that progresses goes on. */
  stop(): void {
    this.#stopTimer ??= setInterval(() => {
      if (this.#threads.some(({ stillForMs }) => stillForMs > STOP_STILL_MS)) this.#stopped.abort();
    }, STOP_LOOK_MS);
  }

  /** Call it when no answer is awaited. */
  close(): void {
    if (this.#stopTimer !== null) clearInterval(this.#stopTimer);
    this.#stopped.abort();
    this.reset();
  }

  /**
   * Rejects with AnalysisStopped on a stop. `Promise.race` with a promise as old as the shard would keep every result
   * alive.
   */
  #unlessStopped<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#stopped;
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(new AnalysisStopped());
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop);
      void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }

  #threadOf(instance: number): number {
    return (instance + this.#shard) % this.#threads.length;
  }

  #of(instance: number): Held {
    return this.#held[this.#threadOf(instance)] as Held;
  }

  /** Enriches all messages in one request. After a failure, splits them until the failing message is alone. */
  async #enrichOn(thread: GuardedThread, messages: readonly Message[]): Promise<(Enrichment | Unanalysed)[]> {
    if (messages.length === 0) return [];
    try {
      return unpack(
        await thread.ask<PackedEnrichments>({ kind: 'enrich', turns: messages }),
        this.#dimensions,
      );
    } catch (error) {
      if (error instanceof AnalysisInterrupted) return this.#enrichOn(thread, messages);
      if (!(error instanceof AnalysisFailure)) throw error;
      if (messages.length === 1) return [{ unanalysed: error.message }];
      const found: (Enrichment | Unanalysed)[] = [];
      for (const part of partsAround(messages, error.place))
        found.push(...(await this.#enrichOn(thread, part)));
      return found;
    }
  }

  async #assignOn(number: number, { places, turns, enrichments, interludes }: Share): Promise<Assigned> {
    const thread = this.#threads[number] as GuardedThread;
    const held = this.#held[number] as Held;
    const { generation, restores } = held;
    held.restores = nothingRestored();
    const [instanceRows, sessions] = [packState(restores.rows), packState(restores.sessions)];
    const packed = pack(enrichments);
    try {
      const assigned = await thread.ask<Assigned>(
        {
          kind: 'assign',
          shard: this.#shard,
          memoryBytes: this.#memoryBytes,
          instances: restores.instances,
          instanceRows,
          sessions,
          turns,
          enrichments: packed,
          interludes,
        },
        {
          transfer: [packed.vectors.buffer, instanceRows.values.buffer, sessions.values.buffer],
          generation,
        },
      );
      for (const instance of assigned.evicted.instances) held.instances.delete(instance);
      for (const session of assigned.evicted.sessions) held.sessions.delete(session);
      return assigned;
    } catch (error) {
      if (!(error instanceof AnalysisFailure) || error.place === null) throw error;
      const place = places[error.place] ?? null;
      throw new AnalysisFailure(error.fault, place, error.message, { cause: error });
    }
  }
}

function nothingHeld({ generation }: GuardedThread): Held {
  return {
    generation,
    instances: new Set(),
    sessions: new Set(),
    restores: nothingRestored(),
  };
}

function nothingRestored(): Held['restores'] {
  return { instances: [], rows: [], sessions: [] };
}

/** Splits into two or three parts, with the suspect alone in one; into halves if there is no suspect. */
function partsAround<T>(items: readonly T[], suspect: number | null): readonly T[][] {
  const middle = Math.floor(items.length / 2);
  const cuts = suspect === null || suspect >= items.length ? [0, middle] : [0, suspect, suspect + 1];
  return cuts.map((from, index) => items.slice(from, cuts[index + 1])).filter((part) => part.length > 0);
}

/** Joins the assignments of the threads; each covers instances of its own. */
function together(assignments: readonly Assignment[]): Assignment {
  if (assignments.length === 1) return assignments[0] as Assignment;
  const all = <Name extends keyof Assignment>(name: Name): Assignment[Name][number][] =>
    assignments.flatMap((assignment) => assignment[name] as readonly Assignment[Name][number][]);
  return {
    messages: all('messages'),
    micros: all('micros'),
    topics: all('topics'),
    clusters: all('clusters'),
    signals: all('signals'),
    repeatedRequests: all('repeatedRequests'),
    gaps: all('gaps'),
    labels: all('labels'),
    labelMicros: all('labelMicros'),
    sessions: all('sessions'),
    openingAuthors: all('openingAuthors'),
    curations: all('curations'),
    corrections: all('corrections'),
    outcomes: all('outcomes'),
  };
}
