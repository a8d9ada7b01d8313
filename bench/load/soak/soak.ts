import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ConnectionPool } from '../http-load.ts';
import { randomFrom } from '../questions.ts';
import { startMeasuredService } from '../service.ts';
import type { AttackMessage, AttackOptions } from './attack-thread.ts';
import { memoryOf } from './memory.ts';
import { anyQuestion, type Span } from './questions.ts';
import { Tally } from './tally.ts';

export interface SoakOptions {
  readonly seconds: number;
  readonly readers: number;
  readonly writers: number;
  /** Requests of five messages that each writer sends in a second. */
  readonly writesPerSecond: number;
  /** Processes that do nothing but use the processor. */
  readonly beside: number;
  /** Turns of conversations to write: user and assistant alternate. */
  readonly conversations: readonly (readonly string[])[];
  readonly onMinute?: (line: string) => void;
}

/** Samples of a process's memory, MB, ten seconds apart. */
export type Memory = ReadonlyMap<string, readonly number[]>;

export interface SoakResult {
  readonly readers: Tally;
  readonly writers: Tally;
  readonly attackers: ReadonlyMap<string, Tally>;
  /** A caller beside all that: its ingest requests, its queries, and from sending to counted. */
  readonly victim: { readonly ingest: Tally; readonly query: Tally; readonly counted: Tally };
  readonly liveness: Tally;
  readonly memory: Memory;
}

/** How long the last answers may take. */
const PATIENCE_MS = 20_000;
const SAMPLE_MS = 10_000;
const MINUTE_MS = 60_000;
const DAY = 86_400e6;
const SPAN_DAYS = 60;

/**
 * Runs a service of its own for a while under everything at once: readers with every question, writers, an
 * attacker with a valid key of another project, and a victim who checks each of its numbers.
 */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const service = await startMeasuredService({ QUERY_THREADS: '4', RATE_LIMIT_PER_SECOND: '1000' });
  const besides = Array.from({ length: options.beside }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const pools: ConnectionPool[] = [];
  const pool = (connections: number): ConnectionPool => {
    const made = new ConnectionPool(service.url, connections);
    pools.push(made);
    return made;
  };
  const closePools = (): void => {
    for (const each of pools) each.close();
  };
  let until = Infinity;
  const ended = (): boolean => performance.now() >= until;
  const memory = new Map<string, number[]>();
  const readers = new Tally();
  const writers = new Tally();
  const liveness = new Tally();
  const victim = { ingest: new Tally(), query: new Tally(), counted: new Tally() };
  let givingUp: NodeJS.Timeout | undefined;
  try {
    const readerKey = service.key;
    const shop = await Shop.open(pool(options.writers + 1), readerKey, options.conversations);
    const victimKey = await service.newKey('victim');
    const attack = await prepareAttack({
      url: service.url,
      key: await service.newKey('attacker'),
      seconds: options.seconds,
      patienceMs: PATIENCE_MS,
    });
    until = performance.now() + options.seconds * 1000;
    // What has no answer by then is broken off, and counts as a fault.
    givingUp = setTimeout(closePools, options.seconds * 1000 + PATIENCE_MS);
    const attacking = attack();
    const work: Promise<void>[] = [
      watchMemory(service.dataDir, memory, ended),
      watchLiveness(pool(1), liveness, ended),
      beVictim(pool(2), victimKey, victim, ended),
      ...Array.from({ length: options.writers }, () => shop.write(options.writesPerSecond, writers, ended)),
      ...Array.from({ length: options.readers }, (_, number) =>
        read(pool(1), readerKey, shop, randomFrom(number), readers, ended),
      ),
    ];
    const reporting = report(options, { readers, writers, victim, memory }, ended);
    await Promise.all([...work, reporting]);
    const attackers = await attacking;
    return { readers, writers, attackers, victim, liveness, memory };
  } finally {
    clearTimeout(givingUp);
    closePools();
    for (const beside of besides) beside.kill('SIGKILL');
    await service.stop();
  }
}

/** Makes what the attacks send, on a thread of their own; the function that it gives begins them. */
async function prepareAttack(options: AttackOptions): Promise<() => Promise<Map<string, Tally>>> {
  const thread = new Worker(join(import.meta.dirname, 'attack-thread.ts'), { workerData: options });
  await once(thread, 'message');
  return async () => {
    thread.postMessage('begin');
    const [tallies] = (await once(thread, 'message')) as [Exclude<AttackMessage, 'prepared'>];
    await thread.terminate();
    return new Map([...tallies].map(([name, tallied]) => [name, new Tally(tallied)]));
  };
}

/** An instance with two months of conversations that goes on growing. */
class Shop {
  readonly span: Span;
  readonly instanceId: string;
  /** Topics seen so far, to filter by. */
  topicIds: readonly string[] = [];
  readonly #pool: ConnectionPool;
  readonly #key: string;
  readonly #conversations: SoakOptions['conversations'];
  readonly #random = randomFrom(7);
  #sent = 0;

  private constructor(
    pool: ConnectionPool,
    key: string,
    conversations: SoakOptions['conversations'],
    id: string,
  ) {
    this.#pool = pool;
    this.#key = key;
    this.#conversations = conversations;
    this.instanceId = id;
    const end = Date.now() * 1000;
    this.span = { start: end - SPAN_DAYS * DAY, end };
  }

  static async open(
    pool: ConnectionPool,
    key: string,
    conversations: SoakOptions['conversations'],
  ): Promise<Shop> {
    const body = JSON.stringify({ messages: [{ content: 'hello' }] });
    const answer = await pool.post('/v1/ingest/', { 'x-api-key': key }, body);
    const { instanceId } = JSON.parse(answer.body) as { instanceId: string };
    return new Shop(pool, key, conversations, instanceId);
  }

  async write(perSecond: number, tally: Tally, ended: () => boolean): Promise<void> {
    while (!ended()) {
      const startedAt = performance.now();
      const body = JSON.stringify({ instanceId: this.instanceId, messages: this.#messages() });
      await checked(tally, startedAt, () => this.#pool.post('/v1/ingest/', { 'x-api-key': this.#key }, body));
      await sleep(Math.max(0, 1000 / perSecond - (performance.now() - startedAt)));
    }
  }

  #messages(): unknown[] {
    this.#sent += 1;
    const turns = this.#conversations[this.#sent % this.#conversations.length] ?? [];
    const at = this.span.start + this.#random() * (this.span.end - this.span.start);
    const userId = `user-${Math.floor(this.#random() * 500)}`;
    return turns.slice(0, 5).map((content, index) => ({
      content,
      createdAt: new Date(at / 1000 + index * 20_000).toISOString(),
      ...(index % 2 === 0 ? { role: 'user', userId } : { role: 'assistant' }),
    }));
  }
}

async function read(
  pool: ConnectionPool,
  key: string,
  shop: Shop,
  random: () => number,
  tally: Tally,
  ended: () => boolean,
): Promise<void> {
  while (!ended()) {
    const question = anyQuestion(random, shop.span, shop.topicIds);
    const path = `/v1/query/?${new URLSearchParams({ instanceId: shop.instanceId, ...question })}`;
    const answer = await checked(tally, performance.now(), () => pool.get(path, { 'x-api-key': key }));
    if (answer?.status === 400) tally.fault(`400 to ${path}: ${answer.body.slice(0, 300)}`);
    if (answer?.status === 200 && question['groupBy'] === 'TOPIC') {
      const { elements } = JSON.parse(answer.body) as {
        elements: { dimensions: { topic: { id: string } } }[];
      };
      if (elements.length > 0) shop.topicIds = elements.map(({ dimensions }) => dimensions.topic.id);
    }
    if (answer?.status === 503 || answer?.status === 429) await sleep(200);
  }
}

/** Sends three messages, asks until they are counted, and compares every total with what it sent. */
async function beVictim(
  pool: ConnectionPool,
  key: string,
  tally: SoakResult['victim'],
  ended: () => boolean,
): Promise<void> {
  let instanceId: string | null = null;
  let sessions = 0;
  while (!ended()) {
    const startedAt = performance.now();
    const messages = [
      { role: 'user', userId: `v-${sessions % 7}`, content: 'Where is my parcel?' },
      { role: 'assistant', content: 'It arrives tomorrow.' },
      { role: 'user', userId: `v-${sessions % 7}`, content: 'Thank you!' },
    ];
    const body = JSON.stringify({ ...(instanceId !== null && { instanceId }), messages });
    const sent = await checked(tally.ingest, startedAt, () =>
      pool.post('/v1/ingest/', { 'x-api-key': key }, body),
    );
    if (sent?.status !== 200) {
      await sleep(300);
      continue;
    }
    sessions += 1;
    instanceId ??= (JSON.parse(sent.body) as { instanceId: string }).instanceId;
    const query = new URLSearchParams({
      instanceId,
      groupBy: 'END_USER',
      fields: 'sessions,messages',
      limit: '10',
    });
    const path = `/v1/query/?${query}`;
    await checked(tally.query, performance.now(), () => pool.get(path, { 'x-api-key': key }));
    const position = sent.headers.get('x-stream-position') ?? '';
    const headers = { 'x-api-key': key, 'x-wait-for-position': position };
    for (;;) {
      const answer = await checked(tally.counted, startedAt, () => pool.get(path, headers));
      if (answer === null || answer.status !== 200) break;
      if (answer.headers.get('x-wait-result') === 'timeout' && !ended()) continue;
      const totals = totalsOf(answer.body);
      if (answer.headers.get('x-wait-result') !== 'timeout' && totals !== `${sessions} ${sessions * 3}`)
        tally.counted.fault(`${sessions} sessions of 3 messages were sent, counted: ${totals}`);
      break;
    }
    await sleep(500);
  }
}

function totalsOf(body: string): string {
  const { elements } = JSON.parse(body) as { elements: { fields: { sessions: number; messages: number } }[] };
  const sum = (name: 'sessions' | 'messages'): number =>
    elements.reduce((total, { fields }) => total + fields[name], 0);
  return `${sum('sessions')} ${sum('messages')}`;
}

async function watchLiveness(pool: ConnectionPool, tally: Tally, ended: () => boolean): Promise<void> {
  while (!ended()) {
    await checked(tally, performance.now(), () => pool.get('/livez', {}));
    await sleep(100);
  }
}

async function watchMemory(
  dataDir: string,
  memory: Map<string, number[]>,
  ended: () => boolean,
): Promise<void> {
  while (!ended()) {
    for (const [name, mb] of memoryOf(dataDir)) memory.set(name, [...(memory.get(name) ?? []), mb]);
    for (let waited = 0; waited < SAMPLE_MS && !ended(); waited += 200) await sleep(200);
  }
}

type Answer = Awaited<ReturnType<ConnectionPool['get']>>;

/** The answer; null when the connection broke, which is a fault as any 5xx is but 503 with Retry-After. */
async function checked(tally: Tally, startedAt: number, ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    const answer = await ask();
    tally.answered(answer.status, performance.now() - startedAt);
    if (answer.status >= 500 && !(answer.status === 503 && answer.headers.has('retry-after')))
      tally.fault(`status ${answer.status}: ${answer.body.slice(0, 300)}`);
    return answer;
  } catch (error) {
    tally.fault(reasonOf(error));
    return null;
  }
}

async function report(
  { onMinute }: SoakOptions,
  { readers, writers, victim, memory }: Pick<SoakResult, 'readers' | 'writers' | 'victim' | 'memory'>,
  ended: () => boolean,
): Promise<void> {
  const startedAt = performance.now();
  for (let minute = 1; !ended(); minute += 1) {
    while (!ended() && performance.now() < startedAt + minute * MINUTE_MS) await sleep(200);
    const mb = [...memory].map(([name, samples]) => `${name} ${(samples.at(-1) ?? 0).toFixed(0)}`).join(', ');
    onMinute?.(
      `minute ${minute}: ${readers.count} answers, ${writers.count} writes, victim counted p99 ` +
        `${victim.counted.quantile(0.99).toFixed(0)} ms, faults ${readers.faultCount + writers.faultCount}; MB: ${mb}`,
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
