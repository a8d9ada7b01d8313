/**
 * One analysis thread and its watchdog. Promises that no question waits for ever: a thread that hangs or fills its
 * memory is ended, the question fails with `AnalysisFailure`, and the next question starts the thread again.
 *
 * Test: test/reader/threads/pool.test.ts.
 */
import { Worker } from 'node:worker_threads';
import '../embedding/telemetry.ts';
import { SetupError } from '../../errors.ts';
import {
  SharedSteps,
  type AnalysisModel,
  type ThreadData,
  type ThreadReply,
  type ThreadRequest,
  type ThreadResult,
  type ThreadStart,
} from './protocol.ts';
import { AnalysisFailure, AnalysisInterrupted, AnalysisStopped } from './stages.ts';

/** Limits on one step of an analysis. A thread that exceeds one is ended. */
export interface Patience {
  /** Processor time of the thread for one text, milliseconds: about a thousand times what any text takes. */
  readonly textMs: number;
  /** Processor time for a step on many texts, such as a run of a large model, milliseconds. */
  readonly sharedMs: number;
  /**
   * Wall-clock limit as a multiple of the processor-time limit: catches a thread that waits or gets no processor time.
   */
  readonly clockFactor: number;
  /**
   * Heap of the thread, bytes. V8's own limit is a third higher: reaching that one ends the thread at best, the process
   * at worst.
   */
  readonly heapBytes: number;
  readonly lookEveryMs: number;
}

export const PATIENCE: Patience = {
  textMs: 10_000,
  sharedMs: 300_000,
  clockFactor: 12,
  heapBytes: 1536 * 2 ** 20,
  lookEveryMs: 500,
};

const CLOSE_MS = 2000;
/**
 * Time that an ended thread may go on before the process counts as stuck; long enough to log the message at which it
 * hangs.
 */
const END_MS = 60_000;

export interface GuardedThreadOptions extends Omit<ThreadData, 'steps'> {
  /** Path of the module that the thread runs; it calls `serveAnalysis`. */
  readonly script: string;
  readonly patience: Patience;
}

interface Running {
  readonly worker: Worker;
  readonly steps: SharedSteps;
  readonly started: Promise<AnalysisModel>;
}

interface Exchange {
  readonly resolve: (result: ThreadResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A thread that answers one question at a time. It is ended when a step takes longer than `patience` allows, and
 * started again by the next question. `terminate` stops V8 even inside a regular expression.
 */
export class GuardedThread {
  readonly #options: GuardedThreadOptions;
  #running: Running | null = null;
  #exchange: Exchange | null = null;
  #last: Promise<void> = Promise.resolve();
  #generation = 0;
  #closed = false;
  /** Set if an ended thread still runs: its code is where V8 cannot stop it. Every later question rejects with it. */
  #unended: Error | null = null;
  /** Time at which the watchdog last saw a new step, `performance.now()`. */
  #movedAt = 0;

  constructor(options: GuardedThreadOptions) {
    this.#options = options;
  }

  /** Grows by one each time the thread loses its memory. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Time since the watchdog last saw a new step, milliseconds; 0 if no answer is awaited. Its resolution is
   * `lookEveryMs`.
   */
  get stillForMs(): number {
    return this.#exchange === null ? 0 : performance.now() - this.#movedAt;
  }

  /**
   * Starts the thread if it does not run. Throws SetupError if the model cannot be used, AnalysisStopped once it is closed:
   * nobody would end the thread that a waiting question starts.
   */
  async start(): Promise<AnalysisModel> {
    if (this.#closed) throw new AnalysisStopped();
    return (this.#running ??= this.#run()).started;
  }

  /**
   * Sends a question after the earlier ones are answered. With `generation`, rejects unless the thread still has the
   * memory of that generation. Starts a stopped thread, except for `forget` and `collect`, which then have nothing to
   * do.
   *
   * @throws AnalysisFailure, AnalysisInterrupted, AnalysisStopped
   */
  ask<Result extends ThreadResult>(
    request: ThreadRequest,
    { transfer = [], generation }: { transfer?: readonly ArrayBuffer[]; generation?: number } = {},
  ): Promise<Result> {
    const answer = this.#last.then(async () => {
      if (this.#closed) throw new AnalysisStopped();
      if (this.#unended !== null) throw this.#unended;
      if (generation !== undefined && generation !== this.#generation) throw new AnalysisInterrupted();
      if (this.#running === null && (request.kind === 'forget' || request.kind === 'collect'))
        return null as Result;
      await this.start();
      const { worker, steps } = this.#running ?? (await this.#startAgain());
      return (await this.#ask(worker, steps, request, transfer)) as Result;
    });
    const ended = (): void => undefined;
    this.#last = answer.then(ended, ended);
    return answer;
  }

  /** Ends the thread, even in the middle of an answer. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const running = this.#running;
    if (running === null) return;
    const busy = this.#exchange !== null;
    this.#lose(new AnalysisStopped());
    const [started] = await Promise.allSettled([running.started]);
    if (!busy && started.status === 'fulfilled') {
      const exited = new Promise((resolve) => running.worker.once('exit', resolve));
      running.worker.postMessage({ kind: 'close' } satisfies ThreadRequest);
      const timer = setTimeout(() => void running.worker.terminate(), CLOSE_MS);
      await exited;
      clearTimeout(timer);
    } else await running.worker.terminate();
  }

  /** Starts the thread again; rejects if it ends before it can take the question. */
  async #startAgain(): Promise<Running> {
    await this.start();
    if (this.#running === null) throw new AnalysisInterrupted();
    return this.#running;
  }

  #run(): Running {
    const { script, model, modelsDirectory, reports, patience } = this.#options;
    const memory = new SharedArrayBuffer(SharedSteps.BYTES);
    const data: ThreadData = { model, modelsDirectory, reports, steps: memory };
    const worker = new Worker(script, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil((patience.heapBytes * 4) / 3 / 2 ** 20) },
    });
    const steps = new SharedSteps(memory);
    const start = Promise.withResolvers<AnalysisModel>();
    start.promise.catch(() => undefined);
    const running: Running = { worker, steps, started: start.promise };
    const ended = (error: Error): void => {
      start.reject(error);
      if (this.#running === running) this.#lose(error);
    };
    worker.once('message', (first: ThreadStart) => {
      if ('model' in first) start.resolve(first.model);
      else ended(first.setup ? new SetupError(first.error) : new Error(first.error));
      worker.on('message', (reply: ThreadReply) => {
        if (this.#running !== running) return;
        if ('result' in reply) this.#exchange?.resolve(reply.result);
        else this.#exchange?.reject(new AnalysisFailure('error', reply.place, reply.error));
      });
    });
    worker.once('error', (error: Error & { code?: string }) => {
      ended(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? this.#outOfMemory(steps)
          : new AnalysisFailure('ended', steps.place, `the thread of its analysis failed: ${error.message}`),
      );
    });
    worker.once('exit', () =>
      ended(new AnalysisFailure('ended', steps.place, 'the thread of its analysis ended')),
    );
    return running;
  }

  async #ask(
    worker: Worker,
    steps: SharedSteps,
    request: ThreadRequest,
    transfer: readonly ArrayBuffer[],
  ): Promise<ThreadResult> {
    const { promise, resolve, reject } = Promise.withResolvers<ThreadResult>();
    this.#exchange = { resolve, reject };
    this.#movedAt = performance.now();
    steps.onShared();
    worker.postMessage(request, transfer);
    const stop = this.#watch(worker, steps);
    try {
      return await promise;
    } finally {
      stop();
      this.#exchange = null;
    }
  }

  /**
   * Checks the thread every `lookEveryMs` and ends it if it hangs or fills its memory. Returns a function that stops
   * the checks.
   */
  #watch(worker: Worker, steps: SharedSteps): () => void {
    const { textMs, sharedMs, clockFactor, heapBytes, lookEveryMs } = this.#options.patience;
    let seen = steps.begun;
    let stillMs = 0;
    let lookedAt = performance.now();
    let asking = false;
    /** Processor time of the thread at the first measurement of this step, microseconds; null before that. */
    let usedBefore: number | null = null;
    const measure = async (step: number): Promise<void> => {
      const [usage, heap] = await Promise.all([worker.cpuUsage(), worker.getHeapStatistics()]);
      if (this.#exchange === null || steps.begun !== step || this.#running?.worker !== worker) return;
      if (heap.used_heap_size > heapBytes) this.#end(worker, this.#outOfMemory(steps));
      const used = usage.user + usage.system;
      usedBefore ??= used;
      if (used - usedBefore > 1000 * allowed()) this.#end(worker, this.#outOfTime(steps));
    };
    const allowed = (): number => (steps.place === null ? sharedMs : textMs);
    const timer = setInterval(() => {
      const now = performance.now();
      // The cap keeps time in which the process was stopped, or the machine slept, from counting as waiting.
      stillMs += Math.min(now - lookedAt, 2 * lookEveryMs);
      lookedAt = now;
      if (steps.begun !== seen) {
        seen = steps.begun;
        stillMs = 0;
        usedBefore = null;
        this.#movedAt = now;
      } else if (stillMs > clockFactor * allowed()) return this.#end(worker, this.#outOfTime(steps));
      // The thread does not answer while it is in the model's native code: one open measurement is enough.
      if (asking) return;
      asking = true;
      measure(seen)
        .catch(() => undefined)
        .finally(() => {
          asking = false;
        });
    }, lookEveryMs);
    return () => clearInterval(timer);
  }

  #outOfTime({ place }: SharedSteps): AnalysisFailure {
    const { textMs, sharedMs } = this.#options.patience;
    const seconds = (place === null ? sharedMs : textMs) / 1000;
    return new AnalysisFailure('time', place, `its analysis took more than ${seconds} s of processor time`);
  }

  #outOfMemory({ place }: SharedSteps): AnalysisFailure {
    const megabytes = Math.round(this.#options.patience.heapBytes / 2 ** 20);
    return new AnalysisFailure('memory', place, `its analysis needed more than ${megabytes} MB of memory`);
  }

  #end(worker: Worker, failure: AnalysisFailure): void {
    if (this.#running?.worker !== worker) return;
    this.#lose(failure);
    // Nobody awaits the end: native code may finish, and the next thread starts at once.
    const timer = setTimeout(() => {
      this.#unended = new Error(
        `an analysis thread goes on ${END_MS / 1000} s after it was ended: only a new process helps`,
      );
    }, END_MS).unref();
    void worker.terminate().then(() => clearTimeout(timer));
  }

  /** Marks the thread as gone, with everything that it remembered. */
  #lose(error: Error): void {
    this.#running = null;
    this.#generation += 1;
    this.#exchange?.reject(error);
  }
}
