import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../domain/turns.ts';
import { AppError, type Refusal } from '../../errors.ts';
import type { ReceivedBody } from './prepared-request.ts';

/** A body, and what else a thread is told. */
export interface ThreadRequest<Options> {
  readonly body: ReceivedBody;
  readonly options: Options;
}

/** `prepared` null: the inflated body is larger than the limit. */
export type ThreadReply<Prepared> =
  | { readonly prepared: Prepared | null }
  | { readonly refusal: Refusal }
  | { readonly fault: string };

/** `ready` comes first: the thread has loaded everything. */
export type ThreadMessage<Prepared> = 'ready' | ThreadReply<Prepared>;

export interface BodyThreadsOptions {
  /** The largest body, inflated. */
  readonly bodyBytes: number;
  /** What a thread runs: it calls `serveBodies`. */
  readonly threadFile: string;
  /** What a thread finds as its `workerData`. */
  readonly data?: unknown;
  /** How long one body may take. Default 30 s. */
  readonly timeoutMs?: number;
  /** Hears of threads that ended by themselves. */
  readonly onThreadLost?: (error: unknown) => void;
}

export interface BodyContext {
  /** Bodies of one caller (the project) are prepared one after the other, so that others get their turn. */
  readonly caller: string;
  /** True when nobody waits for the answer any more. */
  readonly abandoned: () => boolean;
  /** Asked when its turn has come. What it throws refuses the body, which is not read. */
  readonly mayBegin: () => void;
}

const TIMEOUT_MS = 30_000;
const THREADS = 2;
/** More bodies of one caller are not kept waiting. */
const MAX_WAITING = 256;
/** A second thread that has nothing to do is ended after this time. */
const IDLE_MS = 10_000;

const MIB = 2 ** 20;

interface Job<Options, Prepared> {
  readonly request: ThreadRequest<Options>;
  readonly context: BodyContext;
  readonly resolve: (prepared: Prepared | null) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that is there, and what it does. */
interface Thread<Options, Prepared> {
  readonly worker: Worker;
  /** It has loaded everything. */
  ready: boolean;
  job: Job<Options, Prepared> | null;
  timer: NodeJS.Timeout | undefined;
}

/** Reads bodies off the event loop: at most two at a time, callers by turns. The threads keep no process alive. */
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

  /** Gives waiting bodies to free threads; starts a thread when there is none for them. */
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

  /** Whether no body of the caller is in work. */
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
      // Several times what the worst body of the allowed size takes: a parser that meets the limit ends the process.
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

  /** A second thread that has nothing to do is ended after a while. */
  #restAfterNext(thread: Thread<Options, Prepared>): void {
    this.#next();
    if (thread.job !== null) return;
    thread.timer = setTimeout(() => {
      if (this.#threads.size > 1) void this.#end(thread, shuttingDown());
    }, IDLE_MS);
    thread.timer.unref();
  }

  /** Ends a thread; the body that it works on, if any, is refused. */
  async #end(thread: Thread<Options, Prepared>, refusal: AppError): Promise<void> {
    clearTimeout(thread.timer);
    this.#threads.delete(thread);
    thread.job?.reject(refusal);
    thread.job = null;
    await thread.worker.terminate();
    this.#next();
  }

  /** A thread ended by itself. */
  #lose(thread: Thread<Options, Prepared>, fault: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    // One that could not even start: whoever waits for it learns.
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

function unavailable(message: string): AppError {
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfter: 1 });
}
