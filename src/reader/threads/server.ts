/**
 * The thread's side of `AnalysisPool`. Answers one request at a time, in order.
 *
 * Test: test/reader/threads/pool.test.ts.
 */
import { collectGarbage } from './idle-collection.ts';
import { parentPort, workerData } from 'node:worker_threads';
import type { Assigner } from './assigner.ts';
import { quotesOf, type Interlude } from '../../domain/curations.ts';
import type { StepListener } from '../embedding/step-listener.ts';
import type { Enricher } from '../acts/enricher.ts';
import { SetupError } from '../../errors.ts';
import {
  pack,
  packState,
  SharedSteps,
  unpack,
  unpackState,
  type AnalysisModel,
  type Assigned,
  type AssignRequest,
  type ThreadData,
  type ThreadReply,
  type ThreadRequest,
  type ThreadResult,
  type ThreadStart,
} from './protocol.ts';

/** The tools that a thread analyses with. */
export interface Analyst {
  readonly model: AnalysisModel;
  readonly enricher: Enricher;
  /** Returns one vector of unit length per text, in order. */
  readonly embed: (texts: readonly string[]) => Promise<Float32Array[]>;
  /** Returns the vector by which a user turn is grouped; none if it holds no request. */
  readonly embedRequest: (content: string) => Promise<Float32Array[]>;
  /** Creates a shard's assigner; `memoryBytes` bounds its memory between batches. */
  readonly newAssigner: (memoryBytes: number) => Assigner;
  readonly close: () => Promise<void>;
}

/** Serves requests on the current thread until `close`. Throws if called on the main thread. */
export async function serveAnalysis(
  open: (data: ThreadData, steps: StepListener) => Promise<Analyst>,
): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('this is no thread');
  const data = workerData as ThreadData;
  const steps = new SharedSteps(data.steps);
  const tell = (start: ThreadStart): void => port.postMessage(start);
  let analyst: Analyst;
  try {
    analyst = await open(data, steps);
  } catch (error) {
    tell({ error: messageOf(error), setup: error instanceof SetupError });
    port.close();
    return;
  }
  const server = new AnalysisServer(analyst);
  // The pool sends the next request only after the answer to this one.
  port.on('message', (request: ThreadRequest) => {
    void server
      .answer(request)
      .then(
        (result): ThreadReply => ({ result }),
        (error: unknown): ThreadReply => ({ error: messageOf(error), place: steps.place }),
      )
      .then((reply) => {
        if (request.kind === 'close') port.close();
        else port.postMessage(reply, transferOf(reply));
      });
  });
  tell({ model: analyst.model });
}

class AnalysisServer {
  readonly #analyst: Analyst;
  readonly #assigners = new Map<number, Assigner>();

  constructor(analyst: Analyst) {
    this.#analyst = analyst;
  }

  async answer(request: ThreadRequest): Promise<ThreadResult> {
    switch (request.kind) {
      case 'enrich':
        return pack(await this.#analyst.enricher.enrich(request.turns));
      case 'assign':
        return this.#assign(request);
      case 'forget':
        this.#assigners.get(request.shard)?.reset();
        this.#assigners.delete(request.shard);
        return null;
      case 'collect':
        collectGarbage();
        return null;
      case 'close':
        await this.#analyst.close();
        return null;
    }
  }

  async #assign(request: AssignRequest): Promise<Assigned> {
    const interludes = await Promise.all(request.interludes.map((one) => this.#withExamples(one)));
    const assigner = this.#assigners.get(request.shard) ?? this.#analyst.newAssigner(request.memoryBytes);
    this.#assigners.set(request.shard, assigner);
    const rows = Map.groupBy(unpackState(request.instanceRows), ({ instance }) => instance);
    for (const { instance, id } of request.instances)
      assigner.restoreInstance(instance, id, rows.get(instance) ?? []);
    for (const { instance, key, value } of unpackState(request.sessions))
      assigner.restoreSession(instance, key, value);
    const { dimensions } = this.#analyst.model;
    const enrichments = unpack(request.enrichments, dimensions);
    const assignment = assigner.assign(request.turns, enrichments, interludes);
    const state = packState(assigner.takeState());
    // Evicting here is safe: the pool restores an evicted row only after this state is committed.
    return { assignment, state, reports: assigner.takeReports(), evicted: assigner.evict() };
  }

  async #withExamples(interlude: Interlude): Promise<Interlude> {
    if (!('curation' in interlude)) return interlude;
    const { action } = interlude.curation;
    if (action.kind === 'CREATE' || action.kind === 'LABEL')
      return { ...interlude, examples: await this.#analyst.embed(quotesOf(action)) };
    if ('text' in action) return { ...interlude, examples: await this.#analyst.embedRequest(action.text) };
    return interlude;
  }
}

function transferOf(reply: ThreadReply): ArrayBuffer[] {
  if (!('result' in reply) || reply.result === null) return [];
  return ['vectors' in reply.result ? reply.result.vectors.buffer : reply.result.state.values.buffer];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
