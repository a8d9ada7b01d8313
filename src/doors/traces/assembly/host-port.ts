/**
 * The thread's link to its process. Keeps the invariant that each question gets its own answer. Test:
 * test/doors/traces/assembly/assembly-thread.test.ts.
 */
import type { MessagePort } from 'node:worker_threads';
import type { AssemblyHost, FromThread, HostCall, ToThread } from './thread-protocol.ts';

/** In the thread: the process that it belongs to. */
export class HostPort implements AssemblyHost {
  readonly #port: MessagePort;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #closing = Promise.withResolvers<void>();
  #last = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: ToThread) => this.#hear(message));
  }

  /** Resolves when the thread is to end. */
  get closing(): Promise<void> {
    return this.#closing.promise;
  }

  tell(message: FromThread): void {
    this.#port.postMessage(message);
  }

  /** The thread ends when nothing else keeps it. */
  close(): void {
    this.#port.close();
  }

  async confirm(): Promise<void> {
    await this.#ask({ name: 'confirm', parameters: [] });
  }

  async isKnownSession(...parameters: Parameters<AssemblyHost['isKnownSession']>): Promise<boolean> {
    return (await this.#ask({ name: 'isKnownSession', parameters })) === true;
  }

  async emit(...parameters: Parameters<AssemblyHost['emit']>): Promise<boolean> {
    const [{ bytes }] = parameters;
    return (await this.#ask({ name: 'emit', parameters }, [bytes.buffer])) === true;
  }

  #ask(call: HostCall, transfer: ArrayBuffer[] = []): Promise<unknown> {
    const id = (this.#last += 1);
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    this.#port.postMessage({ kind: 'call', id, call } satisfies FromThread, transfer);
    return pending.promise;
  }

  #hear(message: ToThread): void {
    if (message.kind === 'close') return this.#closing.resolve();
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.kind === 'answer') pending?.resolve(message.value);
    else pending?.reject(message.isForGood ? new TypeError(message.message) : new Error(message.message));
  }
}
