/**
 * The optional writer: asks a language model for names and summaries, one call at a time, and publishes each as a
 * record of the stream. Nothing waits for it: without a record, our own texts stay.
 *
 * Test: test/doors/writer/writer.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { derivedId } from '../../domain/ids.ts';
import type { RecordedRequest } from '../../domain/records.ts';
import type { NameReport, ShardWriter, WriterReports, Writing } from '../../domain/writings.ts';
import { redact } from '../../reader/personal/redact.ts';
import type { Logger } from '../../logger.ts';
import { judge } from './answers.ts';
import { Asks, type Ask } from './asks.ts';
import { CallLimits } from './call-limits.ts';
import { CallError, type ChatMessage, type Completion, type TextModel } from './chat-endpoint.ts';
import { EndedSessions } from './ended-sessions.ts';
import { againOf, promptOf } from './prompts.ts';

export interface WriterOptions {
  readonly model: TextModel;
  /** Publishes a record; resolves once it is durable. */
  readonly publish: (request: RecordedRequest) => Promise<unknown>;
  readonly callsPerHour: number;
  /** Idle time after which a session has ended. */
  readonly sessionIdleMs: number;
  readonly logger: Logger;
  /** Pause after the first failure. Default 2 s. */
  readonly firstPauseMs?: number;
  /** Interval of the search for ended sessions. Default 5 s. */
  readonly lookEveryMs?: number;
}

/** Results of calls, and the queue. */
export interface WriterCounters {
  /** Answers published. */
  readonly written: number;
  /** Answers rejected. */
  readonly rejected: number;
  /** Calls without an answer. */
  readonly failed: number;
  readonly timedOut: number;
  /** Texts still to be written. */
  readonly queue: number;
}

/** Attempts of an ask in all. */
const MOST_ATTEMPTS = 3;
const LOOK_EVERY_MS = 5000;

interface Attempt {
  readonly attempts: number;
  /** Written but not published yet; null before. */
  readonly completion: Completion | null;
}

/** Queues asks and calls the model for one at a time. Each open shard has its own `ShardWriter`. */
export class Writer {
  readonly #options: WriterOptions;
  readonly #asks = new Asks();
  readonly #limits: CallLimits;
  readonly #closing = new AbortController();
  readonly #shards = new Set<OpenShard>();
  readonly #looking: NodeJS.Timeout;
  /** Earlier attempts of queued asks. */
  readonly #attempts = new WeakMap<Ask, Attempt>();
  readonly #counts = { written: 0, rejected: 0, failed: 0, timedOut: 0 };
  #working: Promise<void> | null = null;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#limits = new CallLimits(options.callsPerHour, options.firstPauseMs);
    const everyMs = options.lookEveryMs ?? LOOK_EVERY_MS;
    this.#looking = setInterval(() => this.#look(), everyMs).unref();
  }

  get counters(): WriterCounters {
    return { ...this.#counts, queue: this.#asks.size };
  }

  /** Opens the writer of a shard. `guard` rejects once another process may own it. */
  openShard(guard: () => Promise<void>): ShardWriter {
    const shard: OpenShard = new OpenShard(guard, this.#options.sessionIdleMs, {
      ask: (ask) => this.#ask(ask),
      goesOn: (instanceId, id) => this.#asks.dropSession(instanceId, id),
      closed: async () => {
        this.#shards.delete(shard);
        this.#asks.dropOf(shard);
        await shard.inWork;
      },
    });
    this.#shards.add(shard);
    return shard;
  }

  /** Ends the current call; unpublished texts are dropped. */
  async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#closing.abort();
    await this.#working;
  }

  #look(): void {
    for (const shard of this.#shards) shard.look(performance.now());
  }

  #ask(ask: Ask): void {
    this.#asks.add(ask);
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && this.#asks.size > 0) {
      const waitMs = this.#limits.waitMs(performance.now());
      if (waitMs > 0) {
        await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
        continue;
      }
      const ask = this.#asks.take();
      if (ask === undefined) return;
      const shard = ask.owner as OpenShard;
      const work = this.#write(ask, AbortSignal.any([signal, shard.closing]));
      shard.inWork = work;
      await work;
    }
  }

  async #write(ask: Ask, signal: AbortSignal): Promise<void> {
    const { attempts, completion } = this.#attempts.get(ask) ?? { attempts: 0, completion: null };
    let written = completion;
    try {
      written ??= await this.#texted(ask, signal);
      if (written === null || signal.aborted) return;
      await this.#publish(ask, written);
      this.#counts.written += 1;
      this.#options.logger.debug(
        { event: 'text_written', target: ask.target, id: ask.id, at: ask.at, model: written.model },
        'the writer has written a text',
      );
    } catch (error) {
      if (signal.aborted) return;
      this.#failed(error);
      if (attempts + 1 >= MOST_ATTEMPTS) return;
      this.#asks.putBack(ask);
      this.#attempts.set(ask, { attempts: attempts + 1, completion: written });
    }
  }

  /** Returns the model's text; null if two answers are rejected. */
  async #texted(ask: Ask, signal: AbortSignal): Promise<Completion | null> {
    const first = await this.#call(promptOf(ask), signal);
    const verdict = judge(ask, first.text);
    if ('text' in verdict) return { ...first, text: verdict.text };
    this.#counts.rejected += 1;
    if (signal.aborted || this.#limits.waitMs(performance.now()) > 0) return null;
    const second = await this.#call(againOf(ask, first.text, verdict.fault), signal);
    const again = judge(ask, second.text);
    if ('text' in again) return { ...second, text: again.text };
    this.#counts.rejected += 1;
    return null;
  }

  async #call(messages: readonly ChatMessage[], signal: AbortSignal): Promise<Completion> {
    this.#limits.called(performance.now());
    const completion = await this.#options.model.complete(messages, signal);
    this.#limits.succeeded();
    return completion;
  }

  /** The id derives from the text's target and count, so that publishing twice counts once. */
  async #publish(ask: Ask, { text, model }: Completion): Promise<void> {
    const { target, id, instanceId, projectId, at, owner } = ask;
    await (owner as OpenShard).guard();
    const writing: Writing = { target, id, text, model, at };
    await this.#options.publish({
      requestId: derivedId(instanceId, 'writing', `${target}:${id}:${at}`),
      projectId,
      instanceId,
      sessionId: target === 'session' ? id : '',
      acceptedAt: Date.now() * 1000,
      messages: [],
      writing,
    });
  }

  #failed(error: unknown): void {
    const { logger } = this.#options;
    if (!(error instanceof CallError)) {
      this.#limits.failed(performance.now());
      logger.warn(
        { event: 'writing_not_published', err: error },
        'what the writer wrote was not published yet',
      );
      return;
    }
    this.#counts[error.kind === 'timed_out' ? 'timedOut' : 'failed'] += 1;
    this.#limits.failed(performance.now(), error.retryAfterMs);
    logger.warn(
      { event: 'writer_call_failed', reason: error.message },
      'the writer got no answer: names and summaries stay as they are, and it asks again later',
    );
  }
}

interface ShardEvents {
  readonly ask: (ask: Ask) => void;
  readonly goesOn: (instanceId: string, sessionId: string) => void;
  readonly closed: () => Promise<void>;
}

class OpenShard implements ShardWriter {
  readonly guard: () => Promise<void>;
  /** The current call for this shard. */
  inWork: Promise<void> = Promise.resolve();
  readonly #events: ShardEvents;
  readonly #sessions: EndedSessions;
  readonly #closing = new AbortController();

  constructor(guard: () => Promise<void>, sessionIdleMs: number, events: ShardEvents) {
    this.guard = guard;
    this.#events = events;
    this.#sessions = new EndedSessions(sessionIdleMs);
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  committed({ names, turns }: WriterReports, projectOf: ReadonlyMap<number, string>): void {
    if (this.closing.aborted) return;
    const now = performance.now();
    for (const turn of turns) {
      const projectId = projectOf.get(turn.instance);
      if (projectId !== undefined) this.#sessions.hear(turn, projectId, now);
      this.#events.goesOn(turn.instanceId, turn.sessionId);
    }
    for (const name of names) {
      const projectId = projectOf.get(name.instance);
      if (projectId !== undefined) this.#events.ask(this.#nameAsk(name, projectId));
    }
  }

  /** Queues summaries of ended sessions. */
  look(now: number): void {
    for (const session of this.#sessions.takeEnded(now))
      this.#events.ask({ ...session, target: 'session', owner: this });
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#events.closed();
  }

  #nameAsk({ target, id, instanceId, at, texts }: NameReport, projectId: string): Ask {
    const lines = texts.map((text) => ({ speaker: 'user' as const, text: redact(text) }));
    return { target, id, instanceId, projectId, at, lines, owner: this };
  }
}
