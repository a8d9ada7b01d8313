/**
 * The thread that assembles traces, as its process sees it. Keeps the invariant that once it has ended, it writes
 * nothing more. Test: test/doors/traces/assembly/assembly-thread.test.ts.
 */
import { Worker } from 'node:worker_threads';
import { isForGood, type AssembledCounts } from './assembly.ts';
import type { Assembling } from './keep-assembling.ts';
import type { AssemblyHost, FromThread, HostCall, ToThread, WaitingFigures } from './thread-protocol.ts';

export interface AssemblyThreadOptions {
  /** What the thread runs. */
  readonly file: string;
  readonly data: unknown;
  /** V8's limit for what the thread holds, MiB: beyond it the thread ends, and not the process. */
  readonly heapMiB: number;
  readonly host: AssemblyHost;
  readonly onRound: (counts: AssembledCounts) => void;
  /** Aborted: its start is not waited for. */
  readonly signal?: AbortSignal;
}

/** How long the round that is under way may take to end. */
const CLOSE_MS = 5000;

/**
 * A thread that assembles traces, so that the process answers requests meanwhile, whatever there is to assemble. Once
 * it has ended, it writes nothing more.
 */
export class AssemblyThread implements Assembling {
  waiting: WaitingFigures = { traces: 0, spans: 0 };
  readonly #options: AssemblyThreadOptions;
  readonly #worker: Worker;
  readonly #ready = Promise.withResolvers<void>();
  readonly #exited = Promise.withResolvers<void>();

  private constructor(options: AssemblyThreadOptions) {
    this.#options = options;
    const { file, data, heapMiB } = options;
    this.#worker = new Worker(file, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 32 },
    });
    this.#ready.promise.catch(() => undefined);
    this.#exited.promise.catch(() => undefined);
    this.#worker.on('message', (message: FromThread) => this.#hear(message));
    this.#worker.once('error', (error) => this.#end(error));
    this.#worker.once('exit', () => this.#end(null));
  }

  /** Resolves when it reads the stream. Rejects with what ended it before. */
  static async start(options: AssemblyThreadOptions): Promise<AssemblyThread> {
    const thread = new AssemblyThread(options);
    const abort = (): void => void thread.#worker.terminate();
    options.signal?.addEventListener('abort', abort, { once: true });
    try {
      await thread.#ready.promise;
    } finally {
      options.signal?.removeEventListener('abort', abort);
    }
    return thread;
  }

  /** Resolves when it has come to its end by itself, or was closed. Rejects with what ended it. */
  get finished(): Promise<void> {
    return this.#exited.promise;
  }

  async close(): Promise<void> {
    this.#post({ kind: 'close' });
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    await this.#exited.promise.catch(() => undefined);
    clearTimeout(timer);
  }

  #hear(message: FromThread): void {
    switch (message.kind) {
      case 'ready':
        return this.#ready.resolve();
      case 'round':
        return this.#options.onRound(message.counts);
      case 'waiting':
        this.waiting = { traces: message.traces, spans: message.spans };
        return;
      case 'call':
        void this.#answer(message.id, message.call);
    }
  }

  async #answer(id: number, call: HostCall): Promise<void> {
    try {
      this.#post({ kind: 'answer', id, value: await called(this.#options.host, call) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#post({ kind: 'fault', id, message, isForGood: isForGood(error) });
    }
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #end(error: Error | null): void {
    this.#ready.reject(error ?? new Error('the thread that assembles traces ended at its start'));
    if (error === null) this.#exited.resolve();
    else this.#exited.reject(error);
  }
}

function called(host: AssemblyHost, { name, parameters }: HostCall): Promise<unknown> {
  const method = host[name] as (...all: readonly unknown[]) => Promise<unknown>;
  return method.apply(host, [...parameters]);
}
