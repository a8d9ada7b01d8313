/** How fast are queries over a long history, and how fast is the same question without views? */
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import { benchmark } from './load/benchmark.ts';
import { requireEqual } from './load/compared.ts';
import { manyInstances, oneInstance, openHistory, type History } from './load/history.ts';
import { closedLoop, Measurements } from './load/http-load.ts';
import { startQueryService, type QueryService } from './load/query-service.ts';
import { questionsOf, randomFrom, type Asked, type Question } from './load/questions.ts';
import { median, type Ratios } from './load/ratios.ts';
import { RawMessages } from './load/raw-messages.ts';
import { table, verdict } from './load/table.ts';

const USAGE = `Usage: npm run bench -- query [OPTIONS]

How fast are queries over a long history, and how fast is the same question without views?

Builds a synthetic history, serves it with web and asks over HTTP, one request at a time, each time another question.
The alternative, in the same run: the same questions as one plain SQL query over raw messages, in DuckDB inside this
process. A different answer is an error. At last, eight connections ask for rollups.

  --messages N    length of the history, of all instances together (default: 1000000)
  --instances N   how many instances share it; each question goes to a random one (default: 1)
  --keep DIR      keep the history in DIR, and reuse what is there
  --count N       measured requests of each question (default: 300)
  --seconds N     at most for each question and each system (default: 20)`;

const QUICK = { count: 30, seconds: 3 };
const QUICK_MESSAGES = 50_000;
const WARM_UP = 20;
const COMPARED = 3;
const CONNECTIONS = 8;
const THROUGHPUT_SECONDS = 10;
const TARGETS = {
  /** Rollups a second with the load generator on the same two cores. */
  perSecond: 1500,
  /** Memory of web. */
  bytes: 300e6,
  /** How much faster than a plain SQL rollups are at 10 million messages. */
  ratio: 20,
};

/** How many times faster views answer than a plain SQL over the raw messages: the median of all questions. */
export const ratios: Ratios = async ({ times, keep }) => {
  const history = await openHistory(oneInstance(QUICK_MESSAGES), { keep });
  const samples: number[] = [];
  while (samples.length < times)
    samples.push(
      await withSystems(history, async (systems) => {
        const faster: number[] = [];
        for (const [index, question] of questionsOf(history).entries()) {
          const { views, raw } = await measure(systems, history, question, index + 1, QUICK);
          faster.push(raw.quantile(0) / views.quantile(0));
        }
        return median(faster);
      }),
    );
  return { 'views over DuckDB on raw messages': samples };
};

export const command = benchmark(
  USAGE,
  { messages: 1_000_000, instances: 1, keep: '', count: 300, seconds: 20 },
  async ({ messages, instances, keep, ...limits }) => {
    const shape = instances === 1 ? oneInstance(messages) : manyInstances(instances, messages / instances);
    const history = await openHistory(shape, { keep });
    try {
      await withSystems(history, (systems) => report(systems, history, limits));
    } finally {
      history.remove();
    }
  },
);

interface Systems {
  readonly service: QueryService;
  readonly raw: RawMessages;
}

async function withSystems<T>(history: History, work: (systems: Systems) => Promise<T>): Promise<T> {
  const raw = await RawMessages.open(history.rawFile, { create: false });
  let service: QueryService | null = null;
  try {
    service = await startQueryService({
      dataDir: history.dataDir,
      instanceIds: Array.from({ length: history.instances }, (_, index) => SYNTHETIC_IDS.instance(index + 1)),
      connections: CONNECTIONS,
    });
    return await work({ service, raw });
  } finally {
    await service?.stop();
    await raw.close();
  }
}

/** A question to one of the instances, drawn at random. */
function draw(
  question: Question,
  history: History,
  random: () => number,
): { instance: number; asked: Asked } {
  return { instance: 1 + Math.floor(random() * history.instances), asked: question.ask(random) };
}

/** Compares some answers of both systems, then measures each. Throws when they differ. */
async function measure(
  { service, raw }: Systems,
  history: History,
  question: Question,
  seed: number,
  { count, seconds }: typeof QUICK,
): Promise<Record<'views' | 'raw', Measurements>> {
  const random = randomFrom(seed);
  for (let time = 0; time < COMPARED + WARM_UP; time += 1) {
    const { instance, asked } = draw(question, history, random);
    const answer = await service.ask(SYNTHETIC_IDS.instance(instance), asked.parameters);
    if (time >= COMPARED) continue;
    const rows = await raw.connection.all(asked.sql(instance));
    requireEqual(
      asked,
      answer,
      rows.map((row) => Object.values(row)),
      'DuckDB',
    );
  }
  const repeat = async (ask: (instance: number, asked: Asked) => Promise<unknown>): Promise<Measurements> => {
    // Both systems get the same questions, none of them asked before.
    const own = randomFrom(1000 + seed);
    const measurements = new Measurements();
    const deadline = performance.now() + seconds * 1000;
    while (measurements.count < count && (measurements.count < 3 || performance.now() < deadline)) {
      const { instance, asked } = draw(question, history, own);
      const startedAt = performance.now();
      await ask(instance, asked);
      measurements.add(performance.now() - startedAt);
    }
    return measurements;
  };
  return {
    views: await repeat((instance, { parameters }) =>
      service.send(SYNTHETIC_IDS.instance(instance), parameters),
    ),
    raw: await repeat((instance, { sql }) => raw.connection.all(sql(instance))),
  };
}

/** Prints the figures of one history, each beside its target. */
async function report(systems: Systems, history: History, limits: typeof QUICK): Promise<void> {
  const { messages, instances, builtPerSecond, levels } = history;
  const built = builtPerSecond === null ? 'reused' : `built at ${Math.round(builtPerSecond)} messages/s`;
  const files = levels.map(({ rows, bytes }) => `${rows} rows (${(bytes / 1e6).toFixed(1)} MB)`).join(', ');
  console.log(`${messages} messages of ${instances} instances, ${built}; files: ${files}`);
  const questions = questionsOf(history);
  const rows: string[][] = [];
  for (const [index, question] of questions.entries()) {
    console.error(`asking: ${question.name}`);
    const { views, raw } = await measure(systems, history, question, index + 1, limits);
    const [p50, ratio] = [views.quantile(0.5), raw.quantile(0.5) / views.quantile(0.5)];
    const target = instances === 1 ? question.targets[messages] : undefined;
    const isHeld = question.rollup && messages >= 10_000_000 && instances === 1;
    rows.push([
      question.name,
      milliseconds(views),
      target === undefined ? '' : `≤ ${target} ${verdict(p50 <= target)}`,
      milliseconds(raw),
      `${ratio.toFixed(1)}×${isHeld ? ` ≥ ${TARGETS.ratio} ${verdict(ratio >= TARGETS.ratio)}` : ''}`,
    ]);
  }
  console.log(table(['p50 / p95 ms (n)', 'views, HTTP', 'target', 'DuckDB, raw', 'ratio'], rows));

  const rollups = questions.filter((question) => question.rollup);
  const random = randomFrom(77);
  let next = 0;
  const { measurements, perSecond } = await closedLoop(CONNECTIONS, THROUGHPUT_SECONDS, async () => {
    const { instance, asked } = draw(rollups[(next += 1) % rollups.length] as Question, history, random);
    await systems.service.send(SYNTHETIC_IDS.instance(instance), asked.parameters);
  });
  const [fault] = measurements.errors.keys();
  if (fault !== undefined) throw new Error(`a query failed under load: ${fault}`);
  const { peak } = await systems.service.memory();
  console.log(
    `rollups with ${CONNECTIONS} connections: ${Math.round(perSecond)} queries/s ` +
      `(≥ ${TARGETS.perSecond} ${verdict(perSecond >= TARGETS.perSecond)}), ${milliseconds(measurements)}\n` +
      `memory of web, at most: ${Math.round(peak / 1e6)} MB (≤ 300 ${verdict(peak <= TARGETS.bytes)})`,
  );
}

function milliseconds(measurements: Measurements): string {
  const [p50, p95] = [0.5, 0.95].map((share) => measurements.quantile(share).toFixed(1));
  return `${p50} / ${p95} (${measurements.count})`;
}
