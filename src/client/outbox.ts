import type { IngestMetadata, Ingested, Message } from './answers.ts';
import { UndertoneError } from './errors.ts';

/** Where messages go. */
export interface Target {
  readonly sessionId: string;
  /** Undefined: the client's. */
  readonly instanceId: string | undefined;
  readonly metadata: IngestMetadata | undefined;
}

/** Messages that will not be stored, and the session that they belong to. */
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
  /** Stores messages, each written as JSON. Rejects with an UndertoneError. */
  readonly send: (target: Target, messages: readonly string[], signal: AbortSignal) => Promise<Ingested>;
  readonly onLost: (error: UndertoneError, lost: Lost) => void;
}

/** A batch is no larger: far from the limit of a request, and quick to send again. */
const BATCH_UNITS = 1_000_000;

interface Item {
  readonly json: string;
  readonly number: number;
}

/** The messages of a session that are not stored yet, in their order. */
interface Queue {
  target: Target;
  items: Item[];
  /** UTF-16 units of `items`. */
  units: number;
  /** The first of its messages that is on its way; null: none is. */
  sending: number | null;
  /** It does not wait for more. */
  due: boolean;
  timer: ReturnType<typeof setTimeout> | null;
}

/** What came of the messages before a `flush`. */
export interface Flushed {
  /** Takes `waitFor`: an answer that contains it contains every message stored so far. Null: none was. */
  readonly position: number | null;
  /** Messages that were given up since the client was made; `onError` heard of each. */
  readonly lost: number;
}

/**
 * Holds messages until they are stored. Those of a session go one request after the other, in their order; sessions go
 * side by side. Nothing here throws or rejects: what cannot be stored is reported.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #queues = new Map<string, Queue>();
  readonly #abort = new AbortController();
  #active = 0;
  #closed = false;
  #messages = 0;
  #units = 0;
  /** Of the message that comes next. */
  #number = 0;
  #position: number | null = null;
  #lost = 0;
  /** Callers that wait for room, in their order. */
  readonly #held: (() => void)[] = [];
  /** Callers that wait until everything before a number is settled. */
  #flushes: { readonly before: number; readonly done: () => void }[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Messages that are not stored yet. */
  get size(): number {
    return this.#messages;
  }

  /** Takes messages, each written as JSON. Resolves when there is room for more. */
  add(target: Target, messages: readonly string[]): Promise<void> {
    if (this.#closed) return this.#refuse('CLOSED', 'The client is closed.', target, messages);
    const { whenFull, maxMessages, maxUnits, batchMessages } = this.#options;
    // A caller who does not wait is not held back, so beyond twice the size messages are dropped there, too.
    const most = whenFull === 'drop' ? 1 : 2;
    const units = messages.reduce((sum, json) => sum + json.length, 0);
    const isOver =
      this.#messages + messages.length > most * maxMessages || this.#units + units > most * maxUnits;
    // What is too large for the buffer by itself passes through it when it is empty.
    if (isOver && this.#messages > 0)
      return this.#refuse('BUFFER_FULL', 'Too many messages wait to be stored.', target, messages);
    const queue = this.#queueOf(target);
    for (const json of messages) queue.items.push({ json, number: this.#number++ });
    queue.units += units;
    this.#messages += messages.length;
    this.#units += units;
    if (queue.items.length >= batchMessages || queue.units >= BATCH_UNITS) this.#makeDue(queue);
    else if (!queue.due) queue.timer ??= setTimeout(() => this.#makeDue(queue), this.#options.batchMs);
    this.#pump();
    if (whenFull === 'drop' || !this.#isFull()) return Promise.resolve();
    return new Promise((resolve) => this.#held.push(resolve));
  }

  /** Sends what waits; resolves when all that was added before is stored or given up. */
  async flush(): Promise<Flushed> {
    for (const queue of this.#queues.values()) this.#makeDue(queue);
    if (this.#queues.size > 0) {
      const before = this.#number;
      await new Promise<void>((done) => this.#flushes.push({ before, done }));
    }
    return { position: this.#position, lost: this.#lost };
  }

  /** Takes nothing more, and flushes. What is not stored after `timeoutMs` is given up. */
  async close(timeoutMs?: number): Promise<Flushed> {
    this.#closed = true;
    const giveUp = (): void =>
      this.#abort.abort(
        new UndertoneError('CLOSED', 'The client was closed before the messages were stored.'),
      );
    const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
    try {
      return await this.flush();
    } finally {
      clearTimeout(timer);
    }
  }

  #refuse(
    code: 'CLOSED' | 'BUFFER_FULL',
    reason: string,
    target: Target,
    messages: readonly string[],
  ): Promise<void> {
    this.#lose(new UndertoneError(code, reason), target, messages);
    return Promise.resolve();
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
    const queue: Queue = { target, items: [], units: 0, sending: null, due: false, timer: null };
    this.#queues.set(keyOf(target), queue);
    return queue;
  }

  #makeDue(queue: Queue): void {
    if (queue.timer !== null) clearTimeout(queue.timer);
    queue.timer = null;
    queue.due = true;
    this.#pump();
  }

  /** Begins as many requests as there may be. */
  #pump(): void {
    if (this.#active >= this.#options.concurrency) return;
    for (const queue of this.#queues.values()) {
      if (!queue.due || queue.sending !== null || queue.items.length === 0) continue;
      void this.#sendFrom(queue);
      if (this.#active >= this.#options.concurrency) return;
    }
  }

  async #sendFrom(queue: Queue): Promise<void> {
    const batch = this.#take(queue);
    this.#active += 1;
    queue.sending = batch[0]?.number ?? null;
    await this.#deliver(
      queue.target,
      batch.map(({ json }) => json),
    );
    this.#active -= 1;
    queue.sending = null;
    this.#messages -= batch.length;
    this.#units -= batch.reduce((sum, { json }) => sum + json.length, 0);
    // What came meanwhile has waited for as long as the request took. A queue that was served goes to the end.
    this.#queues.delete(keyOf(queue.target));
    if (queue.items.length > 0) this.#queues.set(keyOf(queue.target), queue);
    while (this.#held.length > 0 && !this.#isFull()) this.#held.shift()?.();
    this.#settle();
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

  /** Stores messages, or gives up: a message that is refused does not take the others with it. */
  async #deliver(target: Target, messages: readonly string[]): Promise<void> {
    try {
      const { position } = await this.#options.send(target, messages, this.#abort.signal);
      if (position !== null) this.#position = Math.max(this.#position ?? 0, position);
    } catch (thrown) {
      const error = errorOf(thrown);
      if (error.code === 'PAYLOAD_TOO_LARGE' && messages.length > 1) {
        const middle = messages.length >> 1;
        await this.#deliver(target, messages.slice(0, middle));
        await this.#deliver(target, messages.slice(middle));
        return;
      }
      const wrong = placesIn(error);
      const others = messages.filter((_, at) => !wrong.has(at));
      if (others.length === messages.length) return this.#lose(error, target, messages);
      this.#lose(
        error,
        target,
        messages.filter((_, at) => wrong.has(at)),
      );
      if (others.length > 0) await this.#deliver(target, others);
    }
  }

  #lose(error: UndertoneError, { sessionId }: Target, messages: readonly string[]): void {
    this.#lost += messages.length;
    try {
      this.#options.onLost(error, {
        sessionId,
        messages: messages.map((json) => JSON.parse(json) as Message),
      });
    } catch {
      // A hook that throws has nobody to tell.
    }
  }

  #settle(): void {
    if (this.#flushes.length === 0) return;
    let first = Infinity;
    for (const { sending, items } of this.#queues.values())
      first = Math.min(first, sending ?? items[0]?.number ?? Infinity);
    const [done, open] = [true, false].map((isDone) =>
      this.#flushes.filter(({ before }) => before <= first === isDone),
    );
    this.#flushes = open ?? [];
    for (const flush of done ?? []) flush.done();
  }
}

function keyOf({ instanceId, sessionId }: Target): string {
  return `${instanceId} ${sessionId}`;
}

/** As the service does it: the last write of each member wins. */
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

/** The messages that a refusal names. */
function placesIn({ code, details }: UndertoneError): ReadonlySet<number> {
  if (code !== 'VALIDATION_ERROR') return new Set();
  const places = details.map(({ path }) => /^messages\.(\d{1,5})(?:\.|$)/.exec(path)?.[1]);
  // When something else is wrong, too, the others would be refused again.
  return new Set(places.every((place) => place !== undefined) ? places.map(Number) : []);
}
