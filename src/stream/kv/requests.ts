/**
 * Sends many concurrent requests to the server over one subscription.
 *
 * Test: test/stream/kv/requests.test.ts, test/web/registry/registry.test.ts.
 */
import { createInbox, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import type { StreamConnection } from '../connection.ts';

interface Pending {
  readonly deadline: number;
  readonly resolve: (message: Msg) => void;
  readonly reject: (error: unknown) => void;
}

const TIMEOUT_MS = 5000;
const SWEEP_MS = 250;

/**
 * Cheaper than the vendor's requests, which create a timer, several promises and two errors with stacks for each; in an
 * import, they took a third of web's time.
 */
export class Requests {
  readonly #connection: StreamConnection;
  readonly #inbox = createInbox();
  readonly #pending = new Map<string, Pending>();
  #subscribed = false;
  #last = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(connection: StreamConnection) {
    this.#connection = connection;
    connection.onStateChange((state) => this.#rejectAll(new Error(`the link to NATS was ${state}`)));
  }

  /**
   * Rejects after five seconds, when no server responds, or when the connection breaks; then it is unknown whether the
   * request was done.
   */
  ask(subject: string, payload: string, headers?: MsgHdrs): Promise<Msg> {
    const { nats } = this.#connection;
    if (!this.#subscribed) {
      nats.subscribe(`${this.#inbox}.*`, { callback: (fault, message) => this.#answered(fault, message) });
      this.#subscribed = true;
    }
    this.#last += 1;
    const token = this.#last.toString(36);
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    this.#pending.set(token, { deadline: performance.now() + TIMEOUT_MS, resolve, reject });
    try {
      const reply = `${this.#inbox}.${token}`;
      nats.publish(subject, payload, headers === undefined ? { reply } : { reply, headers });
    } catch (error) {
      this.#pending.delete(token);
      reject(error);
    }
    this.#sweep ??= setInterval(() => this.#rejectOverdue(), SWEEP_MS).unref();
    return promise;
  }

  #answered(fault: Error | null, message: Msg): void {
    if (fault !== null) {
      // The server refused the subscription, which is gone: no request gets an answer. The next one subscribes anew.
      this.#subscribed = false;
      return this.#rejectAll(fault);
    }
    const token = message.subject.slice(this.#inbox.length + 1);
    const pending = this.#pending.get(token);
    if (pending === undefined) return;
    this.#pending.delete(token);
    if (message.headers?.code === 503) pending.reject(new Error('nobody answers for JetStream'));
    else pending.resolve(message);
  }

  #rejectOverdue(): void {
    const now = performance.now();
    for (const [token, { deadline, reject }] of this.#pending) {
      // Requests are in the order of their deadlines.
      if (deadline > now) break;
      this.#pending.delete(token);
      reject(new Error('NATS does not answer'));
    }
    if (this.#pending.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #rejectAll(error: Error): void {
    const all = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of all) reject(error);
  }
}
