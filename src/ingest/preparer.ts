import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import type { ThreadMessage, ThreadReply, ThreadRequest } from './body-thread.ts';
import { inflate } from './inflate.ts';
import { countValues } from './json.ts';
import { createPrepare, tooLarge, type PreparedRequest, type ReceivedBody } from './prepared-request.ts';

export interface PreparerOptions {
  /** The largest body, inflated. */
  readonly bodyBytes: number;
  /** Microseconds since 1970-01-01 UTC. */
  readonly now: () => number;
  /** Bodies above this size, inflated, or of very many values, are prepared on a thread. Default 64 KiB. */
  readonly inlineBytes?: number;
  /** How long one body may take. Default 30 s. */
  readonly timeoutMs?: number;
  /** What a thread runs. Default: `body-thread.ts`. */
  readonly threadFile?: string;
  /** Hears of threads that ended by themselves. */
  readonly onThreadLost?: (error: unknown) => void;
}

export interface PrepareContext {
  /** Bodies of one caller are prepared one after the other, so that others get their turn. */
  readonly caller: string;
  /** The request has an `Idempotency-Key`. */
  readonly keyed: boolean;
  /** True when nobody waits for the answer any more. */
  readonly abandoned: () => boolean;
}

/** Makes requests for the stream out of received bodies: small ones at once, others off the event loop. */
export interface Preparer {
  /**
   * Takes the bytes over: they may be gone afterwards.
   *
   * @throws AppError BAD_REQUEST, VALIDATION_ERROR, PAYLOAD_TOO_LARGE, or SERVICE_UNAVAILABLE when too many wait
   */
  prepare(body: ReceivedBody, context: PrepareContext): Promise<PreparedRequest>;
  /** Starts a thread, so that the first large body need not wait for one. */
  start(): void;
  close(): Promise<void>;
}

const THREAD_FILE = join(import.meta.dirname, 'body-thread.ts');
const INLINE_BYTES = 64 * 1024;
const INLINE_VALUES = 2000;
const TIMEOUT_MS = 30_000;
const THREADS = 2;
/** More bodies of one caller are not kept waiting. */
const MAX_WAITING = 256;
/** A second thread that has nothing to do is ended after this time. */
const IDLE_MS = 10_000;

const MIB = 2 ** 20;

/** Makes a preparer. Its threads do not keep the process alive. */
export function createPreparer(options: PreparerOptions): Preparer {
  const { bodyBytes, now } = options;
  const inlineBytes = Math.min(options.inlineBytes ?? INLINE_BYTES, bodyBytes);
  const prepareHere = createPrepare();
  const threads = new BodyThreads(options);
  return {
    async prepare(body, context) {
      const { keyed } = context;
      const options = { limit: bodyBytes, keyed, now: now() };
      const small = body.bytes.length > inlineBytes ? null : inflate(body.bytes, body.encoding, inlineBytes);
      const isQuick = small !== null && countValues(small, INLINE_VALUES) <= INLINE_VALUES;
      const prepared = isQuick
        ? prepareHere({ bytes: small, encoding: 'identity' }, options)
        : await threads.run({ body, options }, context);
      if (prepared === null) throw tooLarge(bodyBytes);
      return prepared;
    },
    start: () => threads.start(),
    close: () => threads.close(),
  };
}

interface Job {
  readonly request: ThreadRequest;
  readonly context: PrepareContext;
  readonly resolve: (prepared: PreparedRequest | null) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that is there, and what it does. */
interface Thread {
  readonly worker: Worker;
  /** It has loaded everything. */
  ready: boolean;
  job: Job | null;
  timer: NodeJS.Timeout | undefined;
}

class BodyThreads {
  readonly #options: PreparerOptions;
  /** By caller; callers take turns. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #threads = new Set<Thread>();
  #closed = false;

  constructor(options: PreparerOptions) {
    this.#options = options;
  }

  run(request: ThreadRequest, context: PrepareContext): Promise<PreparedRequest | null> {
    const { promise, resolve, reject } = Promise.withResolvers<PreparedRequest | null>();
    const jobs = this.#waiting.get(context.caller) ?? [];
    if (this.#closed || jobs.length >= MAX_WAITING) {
      throw unavailable('Too many large requests are waiting to be read. Try again in a moment.');
    }
    jobs.push({ request, context, resolve, reject });
    this.#waiting.set(context.caller, jobs);
    this.#next();
    return promise;
  }

  start(): void {
    if (this.#threads.size === 0 && !this.#closed) this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#waiting.values()].flat()) job.reject(shuttingDown());
    this.#waiting.clear();
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
    if (!starting && this.#threads.size < THREADS && this.#nextCaller() !== undefined) this.#open();
  }

  /** The caller who has waited longest of those who have none in work. */
  #nextCaller(): string | undefined {
    const busy = new Set([...this.#threads].map(({ job }) => job?.context.caller));
    return [...this.#waiting.keys()].find((caller) => !busy.has(caller));
  }

  #takeJob(): Job | null {
    for (let caller = this.#nextCaller(); caller !== undefined; caller = this.#nextCaller()) {
      const jobs = this.#waiting.get(caller) ?? [];
      const job = jobs.shift();
      // To the end of those who wait.
      this.#waiting.delete(caller);
      if (jobs.length > 0) this.#waiting.set(caller, jobs);
      if (job?.context.abandoned() === false) return job;
      job?.reject(new AppError('BAD_REQUEST', 'The caller closed the connection.'));
    }
    return null;
  }

  #open(): void {
    const worker = new Worker(this.#options.threadFile ?? THREAD_FILE, {
      // Several times what the worst body of the allowed size takes: a parser that meets the limit ends the process.
      resourceLimits: {
        maxOldGenerationSizeMb: 512 + 16 * Math.ceil(this.#options.bodyBytes / MIB),
        maxYoungGenerationSizeMb: 48,
      },
    });
    const thread: Thread = { worker, ready: false, job: null, timer: undefined };
    worker.on('message', (message: ThreadMessage) => {
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

  #work(thread: Thread, job: Job): void {
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
    thread.worker.postMessage({ body: { ...body, bytes: own }, options } satisfies ThreadRequest, [
      own.buffer as ArrayBuffer,
    ]);
  }

  #answer(thread: Thread, result: ThreadReply): void {
    const { job } = thread;
    if (job === null) return;
    clearTimeout(thread.timer);
    thread.job = null;
    thread.worker.unref();
    if ('prepared' in result) job.resolve(result.prepared);
    else if ('fault' in result) job.reject(new Error(`a body could not be prepared: ${result.fault}`));
    else {
      const { code, message, details } = result.refusal;
      job.reject(new AppError(code, message, details === undefined ? {} : { details }));
    }
    this.#restAfterNext(thread);
  }

  /** A second thread that has nothing to do is ended after a while. */
  #restAfterNext(thread: Thread): void {
    this.#next();
    if (thread.job !== null) return;
    thread.timer = setTimeout(() => {
      if (this.#threads.size > 1) void this.#end(thread, shuttingDown());
    }, IDLE_MS);
    thread.timer.unref();
  }

  /** Ends a thread; the body that it works on, if any, is refused. */
  async #end(thread: Thread, refusal: AppError): Promise<void> {
    clearTimeout(thread.timer);
    this.#threads.delete(thread);
    thread.job?.reject(refusal);
    thread.job = null;
    await thread.worker.terminate();
    this.#next();
  }

  /** A thread ended by itself. */
  #lose(thread: Thread, fault: unknown): void {
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
