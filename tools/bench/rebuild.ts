/** How fast is a rebuild, do queries go on beside it, and how soon does the service answer after kill -9? */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_DATA_DIRECTORY, readDialogues } from '../eval/data.ts';
import type { QueryResponse } from '../../src/query/response-schema.ts';
import { Stack } from '../../test/faults/support/stack.ts';
import { availableParallelism } from 'node:os';
import { loadConfig } from '../../src/config.ts';
import { shardDirectory } from '../../src/store/epochs/epochs.ts';
import { refold } from '../../src/store/live/refold.ts';
import { loadViews } from '../../src/store/view-files.ts';
import { VIEWS_DIRECTORY } from '../../src/worker/current-definition.ts';
import { temporaryDirectory } from '../../test/support/fold.ts';
import { benchmark } from './load/benchmark.ts';
import { oneInstance, openHistory } from './load/history.ts';
import { ConnectionPool, Measurements } from './load/http-load.ts';
import { randomFrom } from './load/questions.ts';
import { table, verdict } from './load/table.ts';

const CONNECTIONS = 16;
const YEAR_MS = 365 * 86_400_000;
const START_MS = Date.UTC(2025, 0, 1);
const TURN_MS = 20_000;
/** Queries a second while something else is measured. */
const QUERIES_PER_SECOND = 20;
const IDLE_SECONDS = 20;
const TARGETS = { perSecond: 15_000, factsPerSecond: 100_000, slowdown: 2, workerMs: 5000, webMs: 3000 };
/** An end user comes back so often, in the mean. */
const SESSIONS_PER_USER = 5;

interface Turn {
  readonly role: string;
  readonly content: string;
}

const USAGE = `Usage: npm run bench -- rebuild [OPTIONS]

How fast is a rebuild, does it slow queries, and how soon does the service answer after kill -9?

Sends dialogues (each file to its own instances, repeatedly, as sessions within a year) to its own service, and waits
until the worker has counted them. Then: kill -9 of worker and web, each until the first correct answer; queries while
nothing else happens; queries during a rebuild at full speed, during one from facts, and during one with --throttle. Each
compares its rows with the live ones and fails when any differs. The alternatives, in the same run: the live worker
over the same messages, the rebuild from the stream, and queries while nothing else happens. At last, the facts of a
synthetic history are made views again, without service, comparison and publication.

  --messages N    messages in all (default: 1000000)
  --instances N   how many instances get them (default: 10)
  --facts N       messages of the synthetic history (default: 1000000)
  --throttle N    messages a second of the slow rebuild (default: 4000)
  --data FOLDER   the data sets, whose dialogues are sent`;

interface Options {
  readonly messages: number;
  readonly instances: number;
  /** Messages of the synthetic history. */
  readonly facts: number;
  readonly throttle: number;
  /** Folder of the data sets. */
  readonly data: string;
}

export const command = benchmark(
  USAGE,
  { messages: 1_000_000, instances: 10, facts: 1_000_000, throttle: 4000, data: DEFAULT_DATA_DIRECTORY },
  async (options) => console.log(describe(await measure(options), options.throttle)),
);

/** Rates are messages a second, times milliseconds. */
interface RebuildFigures {
  readonly messages: number;
  readonly live: number;
  readonly rebuild: number;
  /** A rebuild from facts, compared and switched, and its step that makes the views. */
  readonly fromFacts: number;
  readonly refold: number;
  /** That step alone, over a synthetic history. */
  readonly synthetic: number;
  readonly throttled: number;
  readonly workerMs: number;
  readonly webMs: number;
  readonly idleP95: number;
  readonly throttledP95: number;
  readonly fullP95: number;
}

async function measure({ messages, instances, facts, throttle, data }: Options): Promise<RebuildFigures> {
  const sources = await dialoguesOf(data);
  const say = (sentence: string): void => console.error(sentence);
  const stack = await Stack.start({ env: { LOG_LEVEL: 'info' } });
  const pool = new ConnectionPool(stack.url, CONNECTIONS);
  try {
    const key = await stack.newKey('bench');
    const service = new Service(pool, key);
    say(`sending ${messages} messages to ${instances} instances`);
    const sentAt = performance.now();
    await service.fill(sources, messages, instances);
    const sendSeconds = (performance.now() - sentAt) / 1000;
    say(`sent: ${Math.round(messages / sendSeconds)} messages/s; waiting for the worker`);
    while (!(await service.isCounted())) await sleep(500);
    const liveSeconds = (performance.now() - sentAt) / 1000;
    say(`counted: ${Math.round(messages / liveSeconds)} messages/s`);

    const workerMs = await service.recovery(() => stack.kill('worker'), true);
    await sleep(3000);
    const webMs = await service.recovery(() => stack.kill('web'), false);
    say(`kill -9 to first correct answer: worker ${Math.round(workerMs)} ms, web ${Math.round(webMs)} ms`);
    await sleep(3000);
    say('queries while nothing else happens');
    const idle = await service.queries(sleep(IDLE_SECONDS * 1000));
    say(`idle: ${idle.describe()}`);
    const rebuild = async (options: readonly string[]): Promise<[Measurements, number, string]> => {
      say(`rebuild ${options.join(' ')}`);
      const startedAt = performance.now();
      const running = stack.command('cli/rebuild.ts', options);
      const measured = await service.queries(running);
      const { code, output } = await running;
      const seconds = (performance.now() - startedAt) / 1000;
      if (code !== 0 || !/: (\d+) of \1 tables equal \(/.test(output)) throw new Error(output);
      say(`${output.trim()}\n${seconds.toFixed(1)} s; queries: ${measured.describe()}`);
      return [measured, seconds, output];
    };
    const [full, fullSeconds] = await rebuild([]);
    const [, factsSeconds, refoldOutput] = await rebuild(['--source', 'facts']);
    const [, refold = ''] = /made from the facts .*\(([\d,]+) messages\/s\)/.exec(refoldOutput) ?? [];
    const [throttled, throttledSeconds] = await rebuild(['--throttle', String(throttle)]);
    return {
      messages,
      live: messages / liveSeconds,
      rebuild: messages / fullSeconds,
      fromFacts: messages / factsSeconds,
      refold: Number(refold.replaceAll(',', '')),
      synthetic: await refoldRate(facts),
      throttled: messages / throttledSeconds,
      workerMs,
      webMs,
      idleP95: idle.quantile(0.95),
      throttledP95: throttled.quantile(0.95),
      fullP95: full.quantile(0.95),
    };
  } finally {
    pool.close();
    await stack.stop();
  }
}

/** Messages a second at which the facts of a synthetic history become views. */
async function refoldRate(messages: number): Promise<number> {
  const history = await openHistory(oneInstance(messages));
  const to = temporaryDirectory();
  try {
    const startedAt = performance.now();
    await refold({
      from: join(shardDirectory(history.dataDir, 1, 0), 'state.duckdb'),
      directory: join(to.path, 'refolded'),
      views: loadViews(VIEWS_DIRECTORY),
      analysis: 'bench',
      threads: availableParallelism(),
      memoryBytes: loadConfig().stateMemoryBytes,
      spillDirectory: join(to.path, 'spill'),
    });
    return (messages * 1000) / (performance.now() - startedAt);
  } finally {
    to.remove();
    history.remove();
  }
}

function describe(result: RebuildFigures, throttle: number): string {
  const rate = (value: number): string => `${Math.round(value)} messages/s`;
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const slower = result.throttledP95 / result.idleP95;
  const times = (value: number, of: string): string => `${value.toFixed(2)}x ${of}`;
  const atLeast = (value: number, least: number): string => `≥ ${least} ${verdict(value >= least)}`;
  const atMost = (value: number, most: number, unit: string): string =>
    `≤ ${most}${unit} ${verdict(value <= most)}`;
  const { rebuild, live, fromFacts, refold, synthetic, idleP95, fullP95, workerMs, webMs } = result;
  const overStream = (value: number): string => times(value / rebuild, 'from the stream');
  return table(
    [`${result.messages} messages`, 'figure', 'ratio', 'target'],
    [
      [
        'rebuild, compared and switched',
        rate(rebuild),
        times(rebuild / live, 'live'),
        atLeast(rebuild, TARGETS.perSecond),
      ],
      ['rebuild from facts, compared and switched', rate(fromFacts), overStream(fromFacts)],
      ['its facts to views', rate(refold), overStream(refold)],
      [
        'facts of a synthetic history to views',
        rate(synthetic),
        overStream(synthetic),
        atLeast(synthetic, TARGETS.factsPerSecond),
      ],
      ['live worker', rate(live)],
      [`rebuild --throttle ${throttle}`, rate(result.throttled)],
      ['queries, p95, idle', ms(idleP95)],
      [
        'queries, p95, beside the throttled rebuild',
        ms(result.throttledP95),
        times(slower, 'idle'),
        atMost(slower, TARGETS.slowdown, 'x'),
      ],
      ['queries, p95, beside the other', ms(fullP95), times(fullP95 / idleP95, 'idle')],
      [
        'kill -9 of worker to first correct answer',
        ms(workerMs),
        '',
        atMost(workerMs, TARGETS.workerMs, ' ms'),
      ],
      ['kill -9 of web to first correct answer', ms(webMs), '', atMost(webMs, TARGETS.webMs, ' ms')],
    ],
  );
}

/** The dialogues of each file: what the users of one assistant say. */
async function dialoguesOf(folder: string): Promise<Turn[][][]> {
  const files = readdirSync(join(folder, 'dialogues'))
    .filter((file) => /\.jsonl(?:\.gz)?$/.test(file))
    .toSorted();
  const sources: Turn[][][] = [];
  for (const file of files) {
    const dialogues: Turn[][] = [];
    for await (const { turns } of readDialogues(join(folder, 'dialogues', file)))
      if (turns.length > 0) dialogues.push(turns);
    if (dialogues.length > 0) sources.push(dialogues);
  }
  if (sources.length === 0) throw new Error(`no dialogues in ${folder}`);
  return sources;
}

class Service {
  readonly #pool: ConnectionPool;
  readonly #key: string;
  /** Sessions sent, by instance. */
  readonly #sessions = new Map<string, number>();

  constructor(pool: ConnectionPool, key: string) {
    this.#pool = pool;
    this.#key = key;
  }

  /** Sends exactly so many messages to so many instances. */
  async fill(sources: readonly Turn[][][], messages: number, instances: number): Promise<void> {
    const random = randomFrom(1);
    const ids: string[] = [];
    for (let index = 0; index < instances; index += 1) {
      ids.push(await this.#send({ messages: [{ role: 'user', content: 'Hello there.' }] }));
    }
    let left = messages - instances;
    let session = 0;
    const sending = async (): Promise<void> => {
      while (left > 0) {
        const number = session;
        session += 1;
        const dialogues = sources[(number % ids.length) % sources.length] as Turn[][];
        const turns = (dialogues[Math.floor(random() * dialogues.length)] as Turn[]).slice(0, left);
        left -= turns.length;
        const startMs = START_MS + Math.floor((YEAR_MS * (messages - left)) / messages);
        const user = Math.floor((random() * messages) / 10 / SESSIONS_PER_USER);
        await this.#send({
          instanceId: ids[number % ids.length] as string,
          messages: turns.map(({ role, content }, index) => ({
            role,
            content,
            createdAt: new Date(startMs + index * TURN_MS).toISOString(),
            ...(role === 'user' ? { userId: `user-${user}` } : {}),
          })),
        });
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, sending));
  }

  /** Whether every session that was sent is counted. */
  async isCounted(): Promise<boolean> {
    for (const [instanceId, sessions] of this.#sessions)
      if ((await this.#counted(instanceId)) !== sessions) return false;
    return true;
  }

  /** Milliseconds from a kill to the first answer that is right; `send`: with a message sent right after it. */
  async recovery(kill: () => Promise<void>, send: boolean): Promise<number> {
    const [instanceId = ''] = this.#sessions.keys();
    const startedAt = performance.now();
    await kill();
    if (send) await this.#send({ instanceId, messages: [{ role: 'user', content: 'Are you there?' }] });
    for (;;) {
      try {
        if ((await this.#counted(instanceId)) === this.#sessions.get(instanceId))
          return performance.now() - startedAt;
      } catch {
        // It is not there yet.
      }
      await sleep(10);
    }
  }

  /** Asks at an even pace until `end`, and measures the answers. Throws when one is an error or empty. */
  async queries(end: Promise<unknown>): Promise<Measurements> {
    const random = randomFrom(2);
    const ids = [...this.#sessions.keys()];
    const measured = new Measurements();
    let going = true;
    const ended = end.finally(() => {
      going = false;
    });
    ended.catch(() => undefined);
    const asked: Promise<void>[] = [];
    while (going) {
      const instanceId = ids[Math.floor(random() * ids.length)] as string;
      const question = QUESTIONS[Math.floor(random() * QUESTIONS.length)] as Record<string, string>;
      const startedAt = performance.now();
      asked.push(
        this.#ask(instanceId, question).then((answer) => {
          if (answer === null || answer.elements.length === 0)
            throw new Error(`no answer to ${JSON.stringify(question)}`);
          measured.add(performance.now() - startedAt);
        }),
      );
      await sleep(1000 / QUERIES_PER_SECOND);
    }
    await Promise.all(asked);
    await ended;
    return measured;
  }

  /** Sessions of an instance that queries know of. */
  async #counted(instanceId: string): Promise<number | null> {
    const answer = await this.#ask(instanceId, { groupBy: 'SESSION', fields: 'messages', limit: '1' });
    return answer?.pagination.total ?? null;
  }

  async #ask(
    instanceId: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<QueryResponse | null> {
    const path = `/v1/query/?${new URLSearchParams({ instanceId, ...parameters }).toString()}`;
    const { status, body } = await this.#pool.get(path, { 'x-api-key': this.#key });
    return status === 200 ? (JSON.parse(body) as QueryResponse) : null;
  }

  /** Sends one request, which is one session, and gives its instance. */
  async #send(body: unknown): Promise<string> {
    const { status, body: answer } = await this.#pool.post(
      '/v1/ingest/',
      { 'x-api-key': this.#key },
      JSON.stringify(body),
    );
    if (status !== 200) throw new Error(`status ${status}: ${answer}`);
    const { instanceId } = JSON.parse(answer) as { instanceId: string };
    this.#sessions.set(instanceId, (this.#sessions.get(instanceId) ?? 0) + 1);
    return instanceId;
  }
}

const QUESTIONS: readonly Readonly<Record<string, string>>[] = [
  { groupBy: 'TOPIC', timeGranularity: 'DAY', fields: 'messages,sessions', limit: '50' },
  { groupBy: 'TOPIC', fields: 'messages,sessions,users', limit: '50' },
  { groupBy: 'CSAT_DSAT', timeGranularity: 'WEEK', fields: 'messages', limit: '50' },
  { groupBy: 'GAP', timeGranularity: 'WEEK', fields: 'messages', limit: '50' },
  { groupBy: 'SESSION', fields: 'messages,lastActiveAt', limit: '50' },
  { groupBy: 'END_USER', fields: 'sessions,messages', limit: '50' },
];
