import { UsageError, wholeNumber } from '../../../src/cli/command.ts';
import { SYNTHETIC_IDS } from '../../../test/support/synthetic-stream.ts';
import type { History } from '../history.ts';
import { requireEqual } from './compared.ts';
import { inFolder } from './folder.ts';
import { closedLoop, Measurements } from './http-load.ts';
import { findPostgres, PostgresMessages } from './postgres.ts';
import { startQueryService, type QueryService } from './query-service.ts';
import { questionsOf, randomFrom, type Asked, type Question } from './questions.ts';
import { RawMessages } from './raw-messages.ts';

export interface Latencies {
  readonly n: number;
  /** Milliseconds. */
  readonly best: number;
  readonly p50: number;
  readonly p95: number;
}

export interface QuestionResult {
  readonly question: string;
  readonly rollup: boolean;
  /** p50 that must not be exceeded, milliseconds; null: none set for this size. */
  readonly target: number | null;
  readonly views: Latencies;
  readonly duckdb: Latencies;
  readonly postgres: Latencies | null;
}

export interface QueryResult {
  readonly messages: number;
  readonly instances: number;
  /** Messages per second of fold, commit and publish; null when the history was there already. */
  readonly builtPerSecond: number | null;
  readonly levels: History['levels'];
  readonly questions: readonly QuestionResult[];
  /** Why PostgreSQL is not there; null when it is. */
  readonly postgresSkipped: string | null;
  readonly throughput: Latencies & { readonly connections: number; readonly perSecond: number };
  /** Of web, bytes; 0 where the system does not tell. */
  readonly memoryPeak: number;
}

/** `auto`: where it is installed and the history is not too long for it. */
type PostgresMode = 'auto' | 'always' | 'never';

/** What the benchmarks that ask questions have in common on their command lines. */
export const MEASURE_OPTIONS = {
  count: { type: 'string', default: '300' },
  seconds: { type: 'string', default: '20' },
  postgres: { type: 'string', default: 'auto' },
} as const;

/** Reads them. Throws UsageError. */
export function measureOptions(
  values: Readonly<Record<keyof typeof MEASURE_OPTIONS, string>>,
): MeasureOptions {
  const { postgres } = values;
  if (postgres !== 'auto' && postgres !== 'always' && postgres !== 'never')
    throw new UsageError('--postgres is auto, always or never.');
  return {
    count: wholeNumber('--count', values.count),
    seconds: wholeNumber('--seconds', values.seconds),
    postgres,
    onProgress: (sentence) => console.error(sentence),
  };
}

export interface MeasureOptions {
  /** Measured requests of each question. */
  readonly count: number;
  /** The longest for each question and each system. */
  readonly seconds: number;
  readonly postgres: PostgresMode;
  /** Of the load at the end; default 10, and 0 leaves it out. */
  readonly throughputSeconds?: number;
  readonly onProgress: (sentence: string) => void;
}

/** Larger histories take PostgreSQL minutes to load and index. */
const POSTGRES_MESSAGES = 1_000_000;
const WARM_UP = 20;
const COMPARED = 3;
const LEAST_BASELINE = 3;
const CONNECTIONS = 8;
const THROUGHPUT_SECONDS = 10;

/**
 * Asks a history's questions over HTTP and, in the same run, of the raw messages. Throws when the views and
 * a plain SQL answer differently.
 */
export async function measureQueries(history: History, options: MeasureOptions): Promise<QueryResult> {
  const { onProgress, throughputSeconds = THROUGHPUT_SECONDS } = options;
  const raw = await RawMessages.open(history.rawFile, { create: false });
  let postgres: PostgresMessages | null = null;
  let service: QueryService | null = null;
  try {
    const programs = findPostgres();
    let postgresSkipped: string | null = null;
    if (options.postgres === 'never') postgresSkipped = 'not wanted';
    else if (programs === null) postgresSkipped = 'not installed';
    else if (options.postgres === 'auto' && history.messages > POSTGRES_MESSAGES)
      postgresSkipped = `more than ${POSTGRES_MESSAGES} messages (--postgres always)`;
    else {
      onProgress('loading PostgreSQL');
      postgres = await inFolder(async (folder) => {
        await raw.exportTo(folder);
        return PostgresMessages.open(programs, folder);
      });
    }
    onProgress('starting nats-server and web');
    service = await startQueryService({
      dataDir: history.dataDir,
      instanceIds: Array.from({ length: history.instances }, (_, index) => SYNTHETIC_IDS.instance(index + 1)),
      connections: CONNECTIONS,
    });
    const systems: Systems = { service, raw, postgres };
    const questions = questionsOf(history);
    const results: QuestionResult[] = [];
    for (const [index, question] of questions.entries()) {
      onProgress(`asking: ${question.name}`);
      results.push(await measureQuestion(systems, history, question, index + 1, options));
    }
    onProgress(`rollups, ${CONNECTIONS} connections, ${throughputSeconds} s`);
    const rollups = questions.filter((question) => question.rollup);
    const throughput = await measureThroughput(service, history, rollups, throughputSeconds);
    return {
      messages: history.messages,
      instances: history.instances,
      builtPerSecond: history.builtPerSecond,
      levels: history.levels,
      questions: results,
      postgresSkipped,
      throughput,
      memoryPeak: (await service.memory()).peak,
    };
  } finally {
    await service?.stop();
    await postgres?.close();
    await raw.close();
  }
}

interface Systems {
  readonly service: QueryService;
  readonly raw: RawMessages;
  readonly postgres: PostgresMessages | null;
}

/** A question put to one of the instances. */
interface Put {
  readonly instance: number;
  readonly asked: Asked;
}

function put(question: Question, history: History, random: () => number): Put {
  return { instance: 1 + Math.floor(random() * history.instances), asked: question.ask(random) };
}

async function measureQuestion(
  { service, raw, postgres }: Systems,
  history: History,
  question: Question,
  seed: number,
  options: MeasureOptions,
): Promise<QuestionResult> {
  const random = randomFrom(seed);
  for (let times = 0; times < COMPARED; times += 1) {
    const { instance, asked } = put(question, history, random);
    const ours = await service.ask(SYNTHETIC_IDS.instance(instance), asked.parameters);
    const sql = asked.sql(instance);
    const rows = await raw.connection.all(sql);
    requireEqual(
      asked,
      ours,
      rows.map((row) => Object.values(row)),
      'DuckDB',
    );
    if (postgres !== null) requireEqual(asked, ours, (await postgres.select(sql)).rows, 'PostgreSQL');
  }
  for (let times = 0; times < WARM_UP; times += 1) {
    const { instance, asked } = put(question, history, random);
    await service.send(SYNTHETIC_IDS.instance(instance), asked.parameters);
  }
  const repeat = async (least: number, ask: (putTo: Put) => Promise<number>): Promise<Latencies> => {
    // The same questions for each system, none of them asked before.
    const own = randomFrom(1000 + seed);
    const measurements = new Measurements();
    const deadline = performance.now() + options.seconds * 1000;
    while (
      measurements.count < options.count &&
      (measurements.count < least || performance.now() < deadline)
    ) {
      measurements.add(await ask(put(question, history, own)));
    }
    return latenciesOf(measurements);
  };
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  return {
    question: question.name,
    rollup: question.rollup,
    target: history.instances === 1 ? (question.targets[history.messages] ?? null) : null,
    views: await repeat(LEAST_BASELINE, ({ instance, asked }) =>
      timed(() => service.send(SYNTHETIC_IDS.instance(instance), asked.parameters)),
    ),
    duckdb: await repeat(LEAST_BASELINE, ({ instance, asked }) =>
      timed(() => raw.connection.all(asked.sql(instance))),
    ),
    postgres:
      postgres === null
        ? null
        : await repeat(
            LEAST_BASELINE,
            async ({ instance, asked }) => (await postgres.select(asked.sql(instance))).ms,
          ),
  };
}

async function measureThroughput(
  service: QueryService,
  history: History,
  questions: readonly Question[],
  seconds: number,
): Promise<QueryResult['throughput']> {
  const random = randomFrom(77);
  let next = 0;
  const { measurements, perSecond } = await closedLoop(CONNECTIONS, seconds, async () => {
    const question = questions[(next += 1) % questions.length] as Question;
    const { instance, asked } = put(question, history, random);
    await service.send(SYNTHETIC_IDS.instance(instance), asked.parameters);
  });
  const [fault] = measurements.errors.keys();
  if (fault !== undefined) throw new Error(`a query failed under load: ${fault}`);
  return { ...latenciesOf(measurements), connections: CONNECTIONS, perSecond };
}

function latenciesOf(measurements: Measurements): Latencies {
  const [best, p50, p95] = [0, 0.5, 0.95].map((share) => measurements.quantile(share)) as [
    number,
    number,
    number,
  ];
  return { n: measurements.count, best, p50, p95 };
}
