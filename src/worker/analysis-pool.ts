import { Worker } from 'node:worker_threads';
import { join } from 'node:path';
import type { Assignment, Enrichment, StateRow, Turn } from '../domain/facts.ts';
import {
  pack,
  unpack,
  type Assigned,
  type PackedEnrichments,
  type ThreadData,
  type ThreadReply,
  type ThreadRequest,
} from './analysis-thread.ts';
import type { AssignStage, EnrichStage } from './loop.ts';

export interface AnalysisPoolOptions extends ThreadData {
  readonly threads: number;
  /** Length of the embedding vectors. */
  readonly dimensions: number;
}

type InstanceRestore = Extract<ThreadRequest, { kind: 'assign' }>['instances'][number];
type SessionRestore = Extract<ThreadRequest, { kind: 'assign' }>['sessions'][number];

/**
 * Enrich and assign on several threads: messages are enriched by whichever, and each instance is assigned by one
 * of them, so that its messages stay in order. What they decide is what one thread would.
 */
export class AnalysisPool implements EnrichStage, AssignStage {
  readonly #threads: readonly Thread[];
  readonly #dimensions: number;
  readonly #instances = new Set<number>();
  #instanceRestores: InstanceRestore[] = [];
  #sessionRestores: SessionRestore[] = [];
  /** Sessions among them. */
  readonly #restored = new Set<number>();
  #state: StateRow[] = [];

  constructor({ threads, dimensions, model, modelsDirectory }: AnalysisPoolOptions) {
    this.#threads = Array.from({ length: threads }, () => new Thread({ model, modelsDirectory }));
    this.#dimensions = dimensions;
  }

  async enrich(turns: readonly Pick<Turn, 'role' | 'content'>[]): Promise<Enrichment[]> {
    const share = Math.ceil(turns.length / this.#threads.length);
    const parts = await Promise.all(
      this.#threads.map((thread, index) => {
        const part = turns.slice(index * share, (index + 1) * share);
        return part.length === 0 ? null : thread.ask<PackedEnrichments>({ kind: 'enrich', turns: part });
      }),
    );
    return parts.flatMap((part) => (part === null ? [] : unpack(part, this.#dimensions)));
  }

  hasInstance(instance: number): boolean {
    return this.#instances.has(instance);
  }

  /** Threads keep no sessions: each batch brings those that it touches. */
  hasSession(_instance: number, session: number): boolean {
    return this.#restored.has(session);
  }

  restoreInstance(instance: number, id: string, rows: readonly StateRow[]): void {
    this.#instances.add(instance);
    this.#instanceRestores.push({ instance, id, rows });
  }

  restoreSession(instance: number, session: number, value: Uint8Array | null): void {
    this.#restored.add(session);
    this.#sessionRestores.push({ instance, session, value });
  }

  async assign(turns: readonly Turn[], enrichments: readonly Enrichment[]): Promise<Assignment> {
    const [instances, sessions] = [this.#instanceRestores, this.#sessionRestores];
    this.#instanceRestores = [];
    this.#sessionRestores = [];
    this.#restored.clear();
    const of = <T extends { readonly instance: number }>(rows: readonly T[], thread: number): T[] =>
      rows.filter(({ instance }) => instance % this.#threads.length === thread);
    const outcomes = await Promise.allSettled(
      this.#threads.map((thread, number) => {
        const places = turns.flatMap(({ instance }, place) =>
          instance % this.#threads.length === number ? [place] : [],
        );
        if (places.length === 0) return null;
        const packed = pack(places.map((place) => enrichments[place] as Enrichment));
        return thread.ask<Assigned>(
          {
            kind: 'assign',
            instances: of(instances, number),
            sessions: of(sessions, number),
            turns: places.map((place) => turns[place] as Turn),
            enrichments: packed,
          },
          [packed.vectors.buffer],
        );
      }),
    );
    const assigned = outcomes.flatMap((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value === null ? [] : [outcome.value];
    });
    this.#state = assigned.flatMap(({ state }) => state);
    const all = <Name extends keyof Assignment>(name: Name): Assignment[Name][number][] =>
      assigned.flatMap(({ assignment }) => assignment[name] as readonly Assignment[Name][number][]);
    return {
      messages: all('messages'),
      micros: all('micros'),
      topics: all('topics'),
      clusters: all('clusters'),
      signals: all('signals'),
      repeatedRequests: all('repeatedRequests'),
      gaps: all('gaps'),
      sessions: all('sessions'),
      openingAuthors: all('openingAuthors'),
    };
  }

  takeState(): StateRow[] {
    const state = this.#state;
    this.#state = [];
    return state;
  }

  evictSessions(): void {
    // None are kept.
  }

  reset(): void {
    this.#instances.clear();
    this.#restored.clear();
    this.#instanceRestores = [];
    this.#sessionRestores = [];
    this.#state = [];
    for (const thread of this.#threads) thread.ask({ kind: 'reset' }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/** One thread, asked by message. */
class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  readonly #ended: Promise<void>;
  #failure: Error | null = null;
  #asked = 0;

  constructor(data: ThreadData) {
    this.#worker = new Worker(join(import.meta.dirname, 'analysis-thread.ts'), { workerData: data });
    this.#worker.on('message', (reply: ThreadReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ('error' in reply) waiting?.reject(new Error(reply.error));
      else waiting?.resolve(reply.result);
    });
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.once('error', (error) => this.#fail(error as Error));
    void this.#ended.then(() => this.#fail(new Error('an analysis thread ended (FATAL)')));
  }

  ask<Result>(request: ThreadRequest, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = (this.#asked += 1);
    this.#waiting.set(id, { resolve, reject });
    this.#worker.postMessage({ id, request }, transfer);
    return promise as Promise<Result>;
  }

  async close(): Promise<void> {
    this.ask({ kind: 'close' }).catch(() => undefined);
    await this.#ended;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}
