import { deepEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ingestResponseSchema } from '../../../src/http/openapi.ts';
import { queryResponseSchema } from '../../../src/query/response-schema.ts';
import { CANCEL, CANNOT, COMPLAINT, DONE, PASSWORD, THANKS, UNKNOWN } from '../../support/conversations.ts';
import { toSearch } from '../../support/client.ts';
import { Random } from './random.ts';
import type { Stack } from './stack.ts';

const INSTANCES = 2;
const SESSIONS_EACH = 8;
const REQUEST_MS = 15_000;
const ASK_EVERY_MS = 150;
const SETTLE_MS = 90_000;

const USER_TURNS = [...CANCEL, ...PASSWORD, THANKS, COMPLAINT] as const;
const ASSISTANT_TURNS = [DONE, CANNOT, UNKNOWN] as const;

/** How the messages of an instance can be added up: each gives the same total. */
const QUESTIONS = [
  { groupBy: 'SESSION', fields: 'messages', limit: 10_000 },
  { groupBy: 'SESSION', fields: 'messages', timeGranularity: 'DAY', limit: 10_000 },
  { groupBy: 'END_USER', fields: 'messages', limit: 10_000 },
] as const;

export interface LoadOptions {
  readonly seed: number;
  readonly writers: number;
  /** Pause of a writer between two requests, milliseconds. */
  readonly pauseMs: number;
  /** Look at the totals all the time. */
  readonly watch?: boolean;
}

interface Counts {
  /** Messages of requests that were begun: the most that may be counted. */
  sent: number;
  /** Messages of requests that were answered with 200. */
  accepted: number;
}

/** What a load found. */
export interface LoadFigures {
  readonly accepted: number;
  readonly counted: number;
  /** Answers of each status to ingest requests; `0` for a link that broke. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly queries: number;
  /** Answers that no order of events can explain. */
  readonly wrong: readonly string[];
}

/**
 * Writers that repeat each request, with its Idempotency-Key, until it is answered with 200, and watchers that
 * add up the counted messages all the while: a total may never go down, nor exceed what was sent.
 */
export class Load {
  readonly wrong: string[] = [];
  readonly statuses: Record<string, number> = {};
  queries = 0;
  readonly #stack: Stack;
  readonly #key: string;
  readonly #options: LoadOptions;
  readonly #instances: readonly string[];
  readonly #counts = new Map<string, Counts>();
  readonly #sessions = new Map<string, readonly string[]>();
  readonly #seen = new Map<string, { total: number; processedAt: string }>();
  #writing: Promise<void>[] = [];
  #watching: Promise<void> | null = null;
  #stopped = false;
  #pauseMs: number;
  #watched = true;

  private constructor(stack: Stack, key: string, options: LoadOptions, instances: readonly string[]) {
    this.#stack = stack;
    this.#key = key;
    this.#options = options;
    this.#pauseMs = options.pauseMs;
    this.#instances = instances;
    const random = new Random(options.seed ^ 0x5e55);
    for (const instance of instances) {
      this.#counts.set(instance, { sent: 0, accepted: 0 });
      const uuid = (): string =>
        '10000000-0000-4000-8000-000000000000'.replaceAll('0', () => random.between(0, 15).toString(16));
      this.#sessions.set(instance, Array.from({ length: SESSIONS_EACH }, uuid));
    }
  }

  static async start(stack: Stack, key: string, options: LoadOptions): Promise<Load> {
    const instances: string[] = [];
    const first: Load = new Load(stack, key, options, []);
    for (let i = 0; i < INSTANCES; i += 1) {
      const { body } = await first.#post({
        messages: [{ role: 'user', content: CANCEL[0], userId: 'first' }],
      });
      instances.push(ingestResponseSchema.parse(body).instanceId);
    }
    const load = new Load(stack, key, options, instances);
    for (const counts of load.#counts.values()) {
      counts.sent += 1;
      counts.accepted += 1;
    }
    load.resume();
    if (options.watch !== false) load.#watching = load.#watch();
    return load;
  }

  get accepted(): number {
    return [...this.#counts.values()].reduce((sum, counts) => sum + counts.accepted, 0);
  }

  get instances(): readonly string[] {
    return this.#instances;
  }

  /** Lets every request that was begun be accepted. Writers then rest until `resume`. */
  async pause(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#writing);
  }

  /** With another pause between two requests, when one is given. */
  resume(pauseMs = this.#pauseMs): void {
    this.#stopped = false;
    this.#pauseMs = pauseMs;
    this.#writing = Array.from({ length: this.#options.writers }, (_, writer) => this.#write(writer));
    for (const writing of this.#writing) writing.catch(() => undefined);
  }

  /** Waits until what was accepted is counted, and exactly that. Writers must rest. */
  async settle(): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    for (const [instance, { accepted }] of this.#counts) {
      for (const question of QUESTIONS) {
        for (;;) {
          const total = await this.#ask(instance, question);
          if (total !== null && total >= accepted) {
            if (total > accepted) this.wrong.push(`${total} counted of ${accepted} accepted`);
            break;
          }
          if (this.#stack.stopped) return;
          if (performance.now() > deadline) {
            this.wrong.push(`${total} counted of ${accepted} accepted, in spite of waiting`);
            break;
          }
          await sleep(20);
        }
      }
    }
  }

  /** Pauses, settles, and ends. */
  async stop(): Promise<LoadFigures> {
    await this.pause();
    await this.settle();
    this.#watched = false;
    await this.#watching;
    return {
      accepted: this.accepted,
      counted: [...this.#seen]
        .filter(([name]) => name.endsWith(' 0'))
        .reduce((sum, [, { total }]) => sum + total, 0),
      statuses: this.statuses,
      queries: this.queries,
      wrong: this.wrong,
    };
  }

  /** One request, over and over until it is accepted; how long that took, milliseconds. */
  async probe(): Promise<number> {
    const startedAt = performance.now();
    await this.#accept(this.#instances[0] as string, this.#messages(new Random(startedAt), 1), randomUUID());
    return performance.now() - startedAt;
  }

  /** How long until a query is answered, milliseconds. */
  async answered(): Promise<number> {
    const startedAt = performance.now();
    while ((await this.#ask(this.#instances[0] as string, QUESTIONS[0])) === null) await sleep(10);
    return performance.now() - startedAt;
  }

  /** How long until a message that is sent now is counted, milliseconds. */
  async counted(): Promise<number> {
    const startedAt = performance.now();
    const instance = this.#instances[0] as string;
    await this.#accept(instance, this.#messages(new Random(startedAt), 1), randomUUID());
    const { accepted } = this.#counts.get(instance) as Counts;
    while (((await this.#ask(instance, QUESTIONS[0])) ?? 0) < accepted) await sleep(10);
    return performance.now() - startedAt;
  }

  async #write(writer: number): Promise<void> {
    const { seed } = this.#options;
    const random = new Random(seed * 1000 + writer + this.accepted);
    while (!this.#stopped) {
      const messages = this.#messages(random, random.between(1, 5));
      await this.#accept(random.pick(this.#instances), messages, randomUUID(), random);
      await sleep(this.#pauseMs);
    }
  }

  #messages(random: Random, count: number): readonly object[] {
    const userId = `user ${random.between(1, 4)}`;
    return Array.from({ length: count }, (_, place) =>
      place % 2 === 0
        ? { role: 'user', userId, content: random.pick(USER_TURNS) }
        : { role: 'assistant', content: random.pick(ASSISTANT_TURNS) },
    );
  }

  async #accept(
    instanceId: string,
    messages: readonly object[],
    key: string,
    random = new Random(messages.length),
  ): Promise<void> {
    const counts = this.#counts.get(instanceId) as Counts;
    counts.sent += messages.length;
    const sessionId = random.pick(this.#sessions.get(instanceId) as readonly string[]);
    for (;;) {
      const { status, body, retryAfter } = await this.#post({ instanceId, sessionId, messages }, key);
      this.statuses[status] = (this.statuses[status] ?? 0) + 1;
      if (status === 200) {
        const ids = ingestResponseSchema.parse(body);
        try {
          deepEqual(ids, { instanceId, sessionId });
        } catch (error) {
          this.wrong.push(String(error));
        }
        counts.accepted += messages.length;
        return;
      }
      if (status !== 0 && status !== 503) this.wrong.push(`ingest: ${status} ${JSON.stringify(body)}`);
      if (status === 503 && retryAfter === null) this.wrong.push('ingest: 503 without Retry-After');
      if (this.#stack.stopped) throw new Error('the service was stopped under the load');
      await sleep(60);
    }
  }

  async #post(
    body: object,
    key?: string,
  ): Promise<{ status: number; body: unknown; retryAfter: string | null }> {
    return this.#fetch('/v1/ingest/', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    });
  }

  /** The counted messages of an instance; null while the service does not answer. */
  async #ask(instanceId: string, question: (typeof QUESTIONS)[number]): Promise<number | null> {
    // Read before the question: what is begun meanwhile may be counted or not.
    const name = `${instanceId} ${QUESTIONS.indexOf(question)}`;
    const before = this.#seen.get(name);
    const { status, body, retryAfter } = await this.#fetch(
      `/v1/query/?${toSearch({ instanceId, ...question })}`,
    );
    if (status === 0) return null;
    if (status === 503) {
      if (retryAfter === null) this.wrong.push('query: 503 without Retry-After');
      return null;
    }
    if (status !== 200) {
      this.wrong.push(`query: ${status} ${JSON.stringify(body)}`);
      return null;
    }
    this.queries += 1;
    const { elements, lastProcessedAt } = queryResponseSchema.parse(body);
    const total = elements.reduce((sum, { fields }) => sum + (fields.messages ?? 0), 0);
    const { sent } = this.#counts.get(instanceId) as Counts;
    const processedAt = lastProcessedAt ?? '';
    if (total > sent) this.wrong.push(`${question.groupBy}: ${total} counted of ${sent} sent`);
    if (before !== undefined && total < before.total) {
      this.wrong.push(`${question.groupBy}: ${total} counted after ${before.total} had been`);
    }
    if (before !== undefined && processedAt < before.processedAt) {
      this.wrong.push(`lastProcessedAt ${processedAt} after ${before.processedAt}`);
    }
    const seen = this.#seen.get(name);
    if (seen === undefined || total >= seen.total) this.#seen.set(name, { total, processedAt });
    return total;
  }

  async #watch(): Promise<void> {
    while (this.#watched && !this.#stack.stopped) {
      for (const instance of this.#instances) {
        for (const question of QUESTIONS) await this.#ask(instance, question);
      }
      await sleep(ASK_EVERY_MS);
    }
  }

  /** Status 0: the link broke, or nobody listens. */
  async #fetch(
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; body: unknown; retryAfter: string | null }> {
    try {
      const headers = new Headers(init.headers);
      headers.set('x-api-key', this.#key);
      const response = await fetch(`${this.#stack.url}${path}`, {
        ...init,
        headers,
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: JSON.parse(text),
        retryAfter: response.headers.get('retry-after'),
      };
    } catch {
      return { status: 0, body: null, retryAfter: null };
    }
  }
}
