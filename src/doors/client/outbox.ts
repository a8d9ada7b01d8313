/**
 * Buffers messages until they are stored. Keeps the invariant that messages of a session are sent in order, one request
 * after the other; sessions are sent concurrently.
 *
 * Test: test/doors/client/outbox.test.ts.
 */
import type { IngestMetadata, Ingested, Message } from './answers.ts';
import { UndertoneError } from './errors.ts';
import { LONGEST_MS } from './transport.ts';

/** The session that receives messages. */
export interface Target {
  readonly sessionId: string;
  /** Undefined: the client's instance. */
  readonly instanceId: string | undefined;
  readonly metadata: IngestMetadata | undefined;
}

/** Messages that will not be stored, and their session. */
export interface Lost {
  readonly sessionId: string;
  readonly messages: readonly Message[];
}

export interface OutboxOptions {
  readonly batchMs: number;
  readonly batchMessages: number;
  readonly maxMessages: number;
  readonly maxUnits: number;
  readonly concurrency: number;
  readonly whenFull: 'wait' | 'drop';
  /**
   * Stores serialised messages, the oldest of which waits since `since` (a time of `now`). Rejects with an
   * UndertoneError.
   */
  readonly send: (
    target: Target,
    messages: readonly string[],
    since: number,
    signal: AbortSignal,
  ) => Promise<Ingested>;
  /** Clock in milliseconds; only differences count. */
  readonly now: () => number;
  readonly onLost: (error: UndertoneError, lost: Lost) => void;
}

/** Maximum UTF-16 units of a batch: far below the request limit, and quick to send again. */
const BATCH_UNITS = 1_000_000;

interface Item {
  readonly json: string;
  readonly number: number;
  readonly since: number;
}

/** The unstored messages of a session, in order. */
interface Queue {
  target: Target;
  items: Item[];
  /** UTF-16 units of `items`. */
  units: number;
  /** True while a request of the session is in flight. */
  sending: boolean;
  timer: ReturnType<typeof setTimeout> | null;
}

/** Result of a flush. */
export interface Flushed {
  /**
   * Position for `waitFor`: an answer that includes it includes every message stored so far. Null if none was stored.
   */
  readonly position: number | null;
  /** Messages lost since the client was created; `onError` was called for each. */
  readonly lost: number;
}

/** The buffer. Its methods never throw or reject: lost messages are reported. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #queues = new Map<string, Queue>();
  /** Queues that may be sent now. */
  readonly #ready = new Set<Queue>();
  /** One controller for each request in flight: runtimes warn of a signal with many listeners. */
  readonly #aborts = new Set<AbortController>();
  /** Set once nothing more is sent. */
  #givenUp: UndertoneError | null = null;
  #active = 0;
  #closed = false;
  #messages = 0;
  #units = 0;
  /** Number of the next message. */
  #number = 0;
  #position: number | null = null;
  #lost = 0;
  /** Callers waiting for room, in order. */
  readonly #held: (() => void)[] = [];
  /** Callers waiting for the messages before a number; `left` of them are not settled. */
  readonly #flushes = new Set<{ readonly before: number; left: number; readonly done: () => void }>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Number of unstored messages. */
  get size(): number {
    return this.#messages;
  }

  /** Adds serialised messages. Resolves when there is room for more. */
  async add(target: Target, messages: readonly string[]): Promise<void> {
    if (messages.length === 0) return;
    if (this.#closed)
      return this.#lose(new UndertoneError('CLOSED', 'The client is closed.'), target, messages);
    const { whenFull, maxMessages, maxUnits, batchMessages } = this.#options;
    // A caller that does not await is not slowed down, so beyond twice the size its messages are dropped too.
    const most = whenFull === 'drop' ? 1 : 2;
    const units = messages.reduce((sum, json) => sum + json.length, 0);
    const isOver =
      this.#messages + messages.length > most * maxMessages || this.#units + units > most * maxUnits;
    // Messages larger than the whole buffer are accepted when it is empty.
    if (isOver && this.#messages > 0) {
      const error = new UndertoneError('BUFFER_FULL', 'The messages that wait leave no room for more.');
      return this.#lose(error, target, messages);
    }
    const queue = this.#queueOf(target);
    const since = this.#options.now();
    for (const json of messages) queue.items.push({ json, number: this.#number++, since });
    queue.units += units;
    this.#messages += messages.length;
    this.#units += units;
    if (queue.items.length >= batchMessages || queue.units >= BATCH_UNITS) this.#makeDue(queue);
    else if (!queue.sending && !this.#ready.has(queue))
      queue.timer ??= setTimeout(() => this.#makeDue(queue), Math.min(this.#options.batchMs, LONGEST_MS));
    if (whenFull === 'wait' && this.#isFull()) await new Promise<void>((resolve) => this.#held.push(resolve));
  }

  /** Sends waiting messages; resolves when all added before are stored or lost. */
  async flush(): Promise<Flushed> {
    for (const queue of this.#queues.values()) this.#makeDue(queue);
    const [before, left] = [this.#number, this.#messages];
    if (left > 0) await new Promise<void>((done) => this.#flushes.add({ before, left, done }));
    return { position: this.#position, lost: this.#lost };
  }

  /**
   * Flushes, then accepts nothing more. Messages added during the flush are stored too. Messages not stored after
   * `timeoutMs` are lost.
   */
  async close(timeoutMs?: number): Promise<Flushed> {
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => this.#giveUp(), Math.min(timeoutMs, LONGEST_MS));
    try {
      await this.flush();
      this.#closed = true;
      return await this.flush();
    } finally {
      clearTimeout(timer);
    }
  }

  #giveUp(): void {
    const reason = new UndertoneError('CLOSED', 'The client was closed before the messages were stored.');
    this.#givenUp = reason;
    for (const abort of this.#aborts) abort.abort(reason);
  }

  /** Reports a message that cannot be serialised. */
  refuse(target: Target, error: UndertoneError): void {
    this.#lost += 1;
    this.#report(error, { sessionId: target.sessionId, messages: [] });
  }

  #isFull(): boolean {
    return this.#messages >= this.#options.maxMessages || this.#units >= this.#options.maxUnits;
  }

  #queueOf(target: Target): Queue {
    const known = this.#queues.get(keyOf(target));
    if (known !== undefined) {
      known.target = { ...target, metadata: merged(known.target.metadata, target.metadata) };
      return known;
    }
    const queue: Queue = { target, items: [], units: 0, sending: false, timer: null };
    this.#queues.set(keyOf(target), queue);
    return queue;
  }

  /** Makes the queue ready without waiting for more messages. */
  #makeDue(queue: Queue): void {
    if (queue.timer !== null) clearTimeout(queue.timer);
    queue.timer = null;
    if (!queue.sending && queue.items.length > 0) this.#ready.add(queue);
    this.#pump();
  }

  /** Starts requests up to the concurrency. */
  #pump(): void {
    for (const queue of this.#ready) {
      if (this.#active >= Math.max(1, this.#options.concurrency)) return;
      this.#ready.delete(queue);
      void this.#sendFrom(queue);
    }
  }

  async #sendFrom(queue: Queue): Promise<void> {
    const batch = this.#take(queue);
    this.#active += 1;
    queue.sending = true;
    const abort = new AbortController();
    this.#aborts.add(abort);
    if (this.#givenUp !== null) abort.abort(this.#givenUp);
    await this.#deliver(queue.target, batch, abort.signal);
    this.#aborts.delete(abort);
    this.#active -= 1;
    queue.sending = false;
    this.#messages -= batch.length;
    this.#units -= unitsOf(batch);
    while (this.#held.length > 0 && !this.#isFull()) this.#held.shift()?.();
    this.#settle(batch);
    // Messages added meanwhile have waited long enough.
    if (queue.items.length > 0) this.#makeDue(queue);
    else this.#queues.delete(keyOf(queue.target));
    this.#pump();
  }

  #take(queue: Queue): Item[] {
    let [count, units] = [0, 0];
    for (const { json } of queue.items) {
      if (count > 0 && (count >= this.#options.batchMessages || units + json.length > BATCH_UNITS)) break;
      count += 1;
      units += json.length;
    }
    queue.units -= units;
    return queue.items.splice(0, count);
  }

  /** Stores messages or reports them as lost; a refused message does not affect the others. */
  async #deliver(target: Target, items: readonly Item[], signal: AbortSignal): Promise<void> {
    try {
      const messages = items.map(({ json }) => json);
      const { position } = await this.#options.send(target, messages, items[0]?.since ?? 0, signal);
      if (position !== null) this.#position = Math.max(this.#position ?? 0, position);
    } catch (thrown) {
      const error = errorOf(thrown);
      if (error.code === 'PAYLOAD_TOO_LARGE' && items.length > 1) {
        const middle = items.length >> 1;
        await this.#deliver(target, items.slice(0, middle), signal);
        await this.#deliver(target, items.slice(middle), signal);
        return;
      }
      const wrong = placesIn(error);
      const others = items.filter((_, at) => !wrong.has(at));
      const lost = others.length === items.length ? items : items.filter((_, at) => wrong.has(at));
      this.#lose(
        error,
        target,
        lost.map(({ json }) => json),
      );
      if (lost !== items && others.length > 0) await this.#deliver(target, others, signal);
    }
  }

  #lose(error: UndertoneError, { sessionId }: Target, messages: readonly string[]): void {
    this.#lost += messages.length;
    this.#report(error, { sessionId, messages: messages.map((json) => JSON.parse(json) as Message) });
  }

  #report(error: UndertoneError, lost: Lost): void {
    tell(() => this.#options.onLost(error, lost));
  }

  #settle(batch: readonly Item[]): void {
    for (const flush of this.#flushes) {
      flush.left -= batch.filter(({ number }) => number < flush.before).length;
      if (flush.left > 0) continue;
      this.#flushes.delete(flush);
      flush.done();
    }
  }
}

/** Calls a hook. An error of the hook is ignored: it must not end the program. */
export function tell(hook: () => unknown): void {
  try {
    const returned = hook();
    if (returned instanceof Promise) returned.catch(() => undefined);
  } catch {
    // Ignored, as above.
  }
}

function unitsOf(items: readonly Item[]): number {
  return items.reduce((sum, { json }) => sum + json.length, 0);
}

function keyOf({ instanceId, sessionId }: Target): string {
  return `${instanceId} ${sessionId}`;
}

/** Merges like the service: the last write of each member wins. */
function merged(
  first: IngestMetadata | undefined,
  second: IngestMetadata | undefined,
): IngestMetadata | undefined {
  if (first === undefined || second === undefined || first === second) return second ?? first;
  return {
    instance: { ...first.instance, ...second.instance },
    session: { ...first.session, ...second.session },
    users: { ...first.users, ...second.users },
  };
}

function errorOf(thrown: unknown): UndertoneError {
  if (thrown instanceof UndertoneError) return thrown;
  return new UndertoneError('UNREACHABLE', thrown instanceof Error ? thrown.message : String(thrown), {
    cause: thrown,
  });
}

/** Indices of the messages that a refusal names. */
function placesIn({ code, details }: UndertoneError): ReadonlySet<number> {
  if (code !== 'VALIDATION_ERROR') return new Set();
  const places = details.map(({ path }) => /^messages\.(\d{1,5})(?:\.|$)/.exec(path)?.[1]);
  // If something else is wrong too, the other messages would be refused again.
  return new Set(places.every((place) => place !== undefined) ? places.map(Number) : []);
}
