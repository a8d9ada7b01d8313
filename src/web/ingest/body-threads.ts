/**
 * Processes bodies on worker threads, off the event loop: at most two at a time and one of each caller; callers take
 * turns.
 *
 * Test: test/web/ingest/preparer.test.ts.
 */
import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../domain/turns.ts';
import { AppError, unavailable, type Refusal } from '../../errors.ts';
import type { ReceivedBody } from './prepared-request.ts';

/** A body and the options for its thread. */
export interface ThreadRequest<Options> {
  readonly body: ReceivedBody;
  readonly options: Options;
}

/** A null `prepared` means that the inflated body exceeds the limit. */
export type ThreadReply<Prepared> =
  | { readonly prepared: Prepared | null }
  | { readonly refusal: Refusal }
  | { readonly fault: string };

/** A thread posts `ready` once it has loaded its modules. */
export type ThreadMessage<Prepared> = 'ready' | ThreadReply<Prepared>;

export interface BodyThreadsOptions {
  /** Limit of an inflated body, bytes. */
  readonly bodyBytes: number;
  /** Entry point of the threads; it calls `serveBodies`. */
  readonly threadFile: string;
  /** Passed to threads as `workerData`. */
  readonly data?: unknown;
  /** Time limit of one body. Default 30 s. */
  readonly timeoutMs?: number;
  /** Called when a thread ends unexpectedly. */
  readonly onThreadLost?: (error: unknown) => void;
}

export interface BodyContext {
  /** The project. Its bodies are prepared one at a time, so that others get their turn. */
  readonly caller: string;
  /** Returns true once the client has disconnected. */
  readonly abandoned: () => boolean;
  /** Called when the body's turn has come. If it throws, the body is refused without being read. */
  readonly mayBegin: () => void;
}

const TIMEOUT_MS = 30_000;
const THREADS = 2;
/** Limit of a caller's waiting bodies. */
const MAX_WAITING = 256;
/** Idle time after which a second thread ends. */
const IDLE_MS = 10_000;

const MIB = 2 ** 20;

interface Job<Options, Prepared> {
  readonly request: ThreadRequest<Options>;
  readonly context: BodyContext;
  readonly resolve: (prepared: Prepared | null) => void;
  readonly reject: (error: unknown) => void;
}

/** A running thread and its current job. */
interface Thread<Options, Prepared> {
  readonly worker: Worker;
  /** True once its modules are loaded. */
  ready: boolean;
  job: Job<Options, Prepared> | null;
  timer: NodeJS.Timeout | undefined;
}

/** The threads do not keep the process alive. */
export class BodyThreads<Options, Prepared> {
  readonly #options: BodyThreadsOptions;
  readonly #waiting = new FairQueue<Job<Options, Prepared>>();
  readonly #threads = new Set<Thread<Options, Prepared>>();
  #closed = false;

  constructor(options: BodyThreadsOptions) {
    this.#options = options;
  }

  run(request: ThreadRequest<Options>, context: BodyContext): Promise<Prepared | null> {
    const { promise, resolve, reject } = Promise.withResolvers<Prepared | null>();
    if (this.#closed || this.#waiting.sizeOf(context.caller) >= MAX_WAITING) {
      throw unavailable('Too many large requests are waiting to be read. Try again in a moment.');
    }
    this.#waiting.push(context.caller, { request, context, resolve, reject });
    this.#next();
    return promise;
  }

  start(): void {
    if (this.#threads.size === 0 && !this.#closed) this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (let job = this.#waiting.take(); job !== undefined; job = this.#waiting.take())
      job.reject(shuttingDown());
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, shuttingDown())));
  }

  /** Assigns waiting bodies to free threads; starts a thread if a caller has none. */
  #next(): void {
    for (const thread of this.#threads) {
      if (!thread.ready || thread.job !== null) continue;
      const job = this.#takeJob();
      if (job === null) return;
      this.#work(thread, job);
    }
    const starting = [...this.#threads].some(({ ready }) => !ready);
    if (!starting && this.#threads.size < THREADS && this.#waiting.peek(this.#isIdle) !== undefined)
      this.#open();
  }

  /** Returns true if no body of the caller is being processed. */
  readonly #isIdle = (caller: string): boolean =>
    [...this.#threads].every(({ job }) => job?.context.caller !== caller);

  #takeJob(): Job<Options, Prepared> | null {
    for (
      let job = this.#waiting.take(this.#isIdle);
      job !== undefined;
      job = this.#waiting.take(this.#isIdle)
    ) {
      try {
        if (job.context.abandoned()) throw new AppError('BAD_REQUEST', 'The caller closed the connection.');
        job.context.mayBegin();
        return job;
      } catch (error) {
        job.reject(error);
      }
    }
    return null;
  }

  #open(): void {
    const worker = new Worker(this.#options.threadFile, {
      workerData: this.#options.data,
      // Several times what the worst body of the allowed size needs: a thread that exceeds its heap limit ends.
      resourceLimits: {
        maxOldGenerationSizeMb: 512 + 16 * Math.ceil(this.#options.bodyBytes / MIB),
        maxYoungGenerationSizeMb: 48,
      },
    });
    const thread: Thread<Options, Prepared> = { worker, ready: false, job: null, timer: undefined };
    worker.on('message', (message: ThreadMessage<Prepared>) => {
      if (message !== 'ready') return this.#answer(thread, message);
      thread.ready = true;
      worker.unref();
      this.#restAfterNext(thread);
    });
    let fault: unknown;
    worker.once('error', (error) => (fault = error));
    worker.once('exit', () => this.#lose(thread, fault));
    this.#threads.add(thread);
  }

  #work(thread: Thread<Options, Prepared>, job: Job<Options, Prepared>): void {
    clearTimeout(thread.timer);
    thread.job = job;
    thread.worker.ref();
    thread.timer = setTimeout(
      () => void this.#end(thread, tooMuch('takes too long to read')),
      this.#options.timeoutMs ?? TIMEOUT_MS,
    );
    const { body, options } = job.request;
    const { bytes } = body;
    const isWhole = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
    const own = isWhole && bytes.byteLength > Buffer.poolSize ? bytes : new Uint8Array(bytes);
    thread.worker.postMessage({ body: { ...body, bytes: own }, options } satisfies ThreadRequest<Options>, [
      own.buffer as ArrayBuffer,
    ]);
  }

  #answer(thread: Thread<Options, Prepared>, result: ThreadReply<Prepared>): void {
    const { job } = thread;
    if (job === null) return;
    clearTimeout(thread.timer);
    thread.job = null;
    thread.worker.unref();
    if ('prepared' in result) job.resolve(result.prepared);
    else if ('fault' in result) job.reject(new Error(`a body could not be prepared: ${result.fault}`));
    else job.reject(new AppError(result.refusal.code, result.refusal.message, result.refusal));
    this.#restAfterNext(thread);
  }

  /** Ends the second thread after an idle time. */
  #restAfterNext(thread: Thread<Options, Prepared>): void {
    this.#next();
    if (thread.job !== null) return;
    thread.timer = setTimeout(() => {
      if (this.#threads.size > 1) void this.#end(thread, shuttingDown());
    }, IDLE_MS);
    thread.timer.unref();
  }

  /** Ends a thread and refuses its current body. */
  async #end(thread: Thread<Options, Prepared>, refusal: AppError): Promise<void> {
    clearTimeout(thread.timer);
    this.#threads.delete(thread);
    thread.job?.reject(refusal);
    thread.job = null;
    await thread.worker.terminate();
    this.#next();
  }

  /** Handles a thread that ended unexpectedly. */
  #lose(thread: Thread<Options, Prepared>, fault: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    // A thread that could not start has no job: a waiting body is refused in its place.
    if (!thread.ready) thread.job = this.#takeJob();
    const outOfMemory = (fault as NodeJS.ErrnoException | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
    thread.job?.reject(
      outOfMemory
        ? tooMuch('takes too much memory to read')
        : unavailable('The request could not be read. Try again.'),
    );
    this.#options.onThreadLost?.(fault);
    this.#next();
  }
}

function tooMuch(fact: string): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body ${fact}. Send fewer messages per request.`);
}

function shuttingDown(): AppError {
  return unavailable('The service is shutting down. Try again.');
}
