/**
 * Runs a text-generation model in a thread, so that the worker never waits for it.
 *
 * Test: test/doors/writer/local-model.test.ts.
 */
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import '../../reader/embedding/telemetry.ts';
import { CallError, type ChatMessage, type Completion, type TextModel } from './chat-endpoint.ts';
import type { ThreadData, ThreadMessage } from './model-thread.ts';

export interface LocalModelOptions {
  /** Absolute path of the model. */
  readonly folder: string;
  /** Limit on one text after loading. */
  readonly timeoutMs: number;
  /** Most tokens of a text. Default: that of a summary. */
  readonly mostTokens?: number;
}

/** Limit on loading the model. */
const LOADING_MS = 10 * 60_000;

/** Loads the model at the first call. A call that takes too long ends the thread; the next one starts another. */
export class LocalModel implements TextModel {
  readonly #options: LocalModelOptions;
  #thread: Promise<Worker> | null = null;

  constructor(options: LocalModelOptions) {
    this.#options = options;
  }

  async complete(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Completion> {
    const { folder, timeoutMs } = this.#options;
    const loading = (this.#thread ??= this.#start(signal));
    try {
      const thread = await loading;
      thread.postMessage(messages);
      const reply = await answerOf(thread, timeoutMs, signal);
      if (!('text' in reply)) throw new CallError('failed', 'the model cannot read this prompt');
      return { text: reply.text, model: basename(folder) };
    } catch (error) {
      this.#thread = null;
      void loading.then((thread) => thread.terminate()).catch(() => undefined);
      throw error;
    }
  }

  name(): Promise<string> {
    return Promise.resolve(basename(this.#options.folder));
  }

  async close(): Promise<void> {
    const thread = await this.#thread?.catch(() => null);
    this.#thread = null;
    await thread?.terminate();
  }

  async #start(signal: AbortSignal): Promise<Worker> {
    const { folder, mostTokens } = this.#options;
    const workerData: ThreadData = { folder, mostTokens };
    const thread = new Worker(join(import.meta.dirname, 'model-thread.ts'), { workerData });
    thread.unref();
    // An error without a listener would end the process.
    thread.on('error', () => undefined);
    try {
      const first = await answerOf(thread, LOADING_MS, signal);
      if (!('loaded' in first)) throw new CallError('failed', 'the model cannot be loaded');
      // A crash between calls: the next one starts another thread.
      const loaded = this.#thread;
      thread.once('exit', () => {
        if (this.#thread === loaded) this.#thread = null;
      });
      return thread;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }
}

/** Resolves with the next message of a thread. */
function answerOf(thread: Worker, timeoutMs: number, signal: AbortSignal): Promise<ThreadMessage> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => (): void => {
      clearTimeout(timer);
      for (const [event, listener] of Object.entries(listeners)) thread.off(event, listener);
      signal.removeEventListener('abort', stop);
      act();
    };
    const fail = (kind: CallError['kind'], reason: string): (() => void) =>
      settle(() => reject(new CallError(kind, reason)));
    const timer = setTimeout(fail('timed_out', 'no answer in time'), timeoutMs);
    const stop = fail('failed', 'stopped');
    const listeners = {
      message: (message: ThreadMessage) => settle(() => resolve(message))(),
      error: fail('failed', 'the thread of the model failed'),
      exit: fail('failed', 'the thread of the model ended'),
    };
    for (const [event, listener] of Object.entries(listeners)) thread.once(event, listener);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}
