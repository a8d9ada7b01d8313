import { deepEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ingestResponseSchema } from '../../../src/contract/ingest.ts';
import { queryResponseSchema } from '../../../src/query/response-schema.ts';
import { CANCEL, CANNOT, COMPLAINT, DONE, PASSWORD, THANKS, UNKNOWN } from '../../support/conversations.ts';
import { toSearch, type Client } from '../../support/client.ts';
import { Random } from './random.ts';
import type { Stack } from './stack.ts';

const INSTANCES = 2;
const SESSIONS_EACH = 8;
const REQUEST_MS = 15_000;
/** Between two looks at the totals, by turns of instance and question. */
const WATCH_EVERY_MS = 60;
const LIGHT_WATCH_EVERY_MS = 400;
/** Between two looks at a total that is waited for. */
const ASK_EVERY_MS = 40;
/** What a light load is at most. Beyond so many messages it waits until they are counted. */
const LIGHT_WRITERS = 2;
const LIGHT_PAUSE_MS = 600;
const LIGHT_UNCOUNTED = 20;
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
  /** False: fewer writers with longer pauses than told, which wait for what lies behind. */
  readonly long: boolean;
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
  /** Of the latest of them. */
  position: number;
}

/** Status 0, without headers: the link broke, or nobody listens. */
interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers | null;
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

/** End users in an instance of their own: each has rows at every granularity, in all more than a newest file keeps. */
const MANY_USERS = 2500;

/** Gives the worker so much to publish that it merges files. */
export async function fillNewest(client: Client): Promise<void> {
  const users = Array.from({ length: MANY_USERS }, (_, number) => `user ${number}`);
  await client.ingest({ messages: users.map((userId) => ({ role: 'user', userId, content: THANKS })) });
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
    this.#pauseMs = this.#pauseOf(options.pauseMs);
    this.#instances = instances;
    const random = new Random(options.seed ^ 0x5e55);
    for (const instance of instances) {
      this.#counts.set(instance, { sent: 0, accepted: 0, position: 0 });
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
    this.#pauseMs = this.#pauseOf(pauseMs);
    const { long, writers } = this.#options;
    this.#writing = Array.from({ length: long ? writers : Math.min(LIGHT_WRITERS, writers) }, (_, writer) =>
      this.#write(writer),
    );
    for (const writing of this.#writing) writing.catch(() => undefined);
  }

  /** Waits until what was accepted is counted, and exactly that. Writers must rest. */
  async settle(): Promise<void> {
    const deadline = performance.now() + SETTLE_MS;
    for (const [instance, { accepted, position }] of this.#counts) {
      for (const question of QUESTIONS) {
        for (;;) {
          const total = await this.#ask(instance, question, position);
          if (total !== null && total >= accepted) {
            if (total > accepted) this.wrong.push(`${total} counted of ${accepted} accepted`);
            break;
          }
          if (this.#stack.stopped) return;
          if (performance.now() > deadline) {
            this.wrong.push(`${total} counted of ${accepted} accepted, in spite of waiting`);
            break;
          }
          await sleep(ASK_EVERY_MS);
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
    while ((await this.#ask(this.#instances[0] as string, QUESTIONS[0])) === null) await sleep(ASK_EVERY_MS);
    return performance.now() - startedAt;
  }

  /** How long until a message that is sent now is counted, milliseconds. */
  async counted(): Promise<number> {
    const startedAt = performance.now();
    const instance = this.#instances[0] as string;
    await this.#accept(instance, this.#messages(new Random(startedAt), 1), randomUUID());
    const { accepted, position } = this.#counts.get(instance) as Counts;
    while (((await this.#ask(instance, QUESTIONS[0], position)) ?? 0) < accepted) await sleep(ASK_EVERY_MS);
    return performance.now() - startedAt;
  }

  #pauseOf(pauseMs: number): number {
    return this.#options.long ? pauseMs : Math.max(LIGHT_PAUSE_MS, pauseMs);
  }

  async #write(writer: number): Promise<void> {
    const { seed } = this.#options;
    const random = new Random(seed * 1000 + writer + this.accepted);
    while (!this.#stopped) {
      const instance = random.pick(this.#instances);
      const messages = this.#messages(random, random.between(1, 5));
      if (this.#options.long || this.#uncounted(instance) < LIGHT_UNCOUNTED)
        await this.#accept(instance, messages, randomUUID(), random);
      await sleep(this.#pauseMs);
    }
  }

  /** Messages that were accepted and, by what the watch has seen, not counted. */
  #uncounted(instance: string): number {
    if (this.#options.watch === false) return 0;
    return (this.#counts.get(instance)?.accepted ?? 0) - (this.#seen.get(`${instance} 0`)?.total ?? 0);
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
      const { status, body, headers } = await this.#post({ instanceId, sessionId, messages }, key);
      this.statuses[status] = (this.statuses[status] ?? 0) + 1;
      if (status === 200) {
        const ids = ingestResponseSchema.parse(body);
        try {
          deepEqual(ids, { instanceId, sessionId });
        } catch (error) {
          this.wrong.push(String(error));
        }
        counts.accepted += messages.length;
        counts.position = Math.max(counts.position, Number(headers?.get('x-stream-position')));
        return;
      }
      if (status !== 0 && status !== 503) this.wrong.push(`ingest: ${status} ${JSON.stringify(body)}`);
      if (status === 503 && headers?.has('retry-after') !== true)
        this.wrong.push('ingest: 503 without Retry-After');
      if (this.#stack.stopped) throw new Error('the service was stopped under the load');
      await sleep(60);
    }
  }

  async #post(body: object, key?: string): Promise<Reply> {
    return this.#fetch('/v1/ingest/', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    });
  }

  /** The counted messages of an instance, once the position is reached; null while the service does not answer. */
  async #ask(instanceId: string, question: (typeof QUESTIONS)[number], position = 0): Promise<number | null> {
    // Read before the question: what is begun meanwhile may be counted or not.
    const name = `${instanceId} ${QUESTIONS.indexOf(question)}`;
    const before = this.#seen.get(name);
    const { status, body, headers } = await this.#fetch(
      `/v1/query/?${toSearch({ instanceId, ...question })}`,
      { headers: { 'x-wait-for-position': String(position) } },
    );
    if (status === 0) return null;
    if (status === 503) {
      if (headers?.has('retry-after') !== true) this.wrong.push('query: 503 without Retry-After');
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
    const everyMs = this.#options.long ? WATCH_EVERY_MS : LIGHT_WATCH_EVERY_MS;
    while (this.#watched && !this.#stack.stopped) {
      for (const instance of this.#instances) {
        for (const question of QUESTIONS) {
          if (!this.#watched) return;
          await this.#ask(instance, question);
          await sleep(everyMs);
        }
      }
    }
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<Reply> {
    try {
      const headers = new Headers(init.headers);
      headers.set('x-api-key', this.#key);
      const response = await fetch(`${this.#stack.url}${path}`, {
        ...init,
        headers,
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const text = await response.text();
      return { status: response.status, body: JSON.parse(text), headers: response.headers };
    } catch {
      return { status: 0, body: null, headers: null };
    }
  }
}
