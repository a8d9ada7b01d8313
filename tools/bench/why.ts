/** How fast is it said what is behind the numbers of a topic, and how fast from raw messages? */
import { exampleOf } from '../../src/reader/personal/example.ts';
import { WhyReader } from '../../src/query/why/why-reader.ts';
import { whyParameterSchemas } from '../../src/query/why/why-schema.ts';
import { VIEWS } from '../../test/support/fold.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import type { History } from './history.ts';
import { historyCommand, historyRatios, openReaders } from './load/history-benchmark.ts';
import { median, quantile } from './load/ratios.ts';
import { openStreamTexts } from './load/stream-texts.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- why [OPTIONS]

How fast is it said what is behind the numbers of a topic, and how fast from raw messages?

Asks for topics of a synthetic history, of all time and of a quarter, with the texts of the examples from a real stream.
The alternative, in the same run: the numbers, the trend and the signals as plain SQL over raw messages in DuckDB,
without any text.

  --messages N   length of the history (default: 1000000)
  --count N      topics to ask for (default: 40)
  --keep DIR     keep the history in DIR, and reuse what is there
  --json         print the figures as JSON`;

const WARM_UP = 3;
const OF_TOPIC = `from message where topic = (select topic from topic where id = $id::uuid) and sent_at >= $from`;
/** The same numbers: the metrics, the trend, the signals, and what the average of the instance needs. */
const RAW = [
  `select count(distinct session), count(distinct end_user), count(*), sum(sat), sum(dsat) ${OF_TOPIC}`,
  `select date_trunc('day', sent_at), count(distinct session), count(distinct end_user), count(*), sum(sat), sum(dsat)
${OF_TOPIC} group by all order by all`,
  `select signal, count(distinct session), count(*) ${OF_TOPIC} and signal is not null group by all`,
  `select signal, count(distinct session) from message
where signal is not null and sent_at >= $from and $id <> '' group by all`,
  `select count(distinct session) from message where sent_at >= $from and $id <> ''`,
];

interface Figures {
  readonly messages: number;
  readonly topics: number;
  /** By range, milliseconds for a topic. */
  readonly ranges: readonly {
    readonly range: string;
    readonly p50: number;
    readonly p99: number;
    /** Of which the texts take, at the median. */
    readonly texts: number;
    /** The alternative, at the median. */
    readonly raw: number;
  }[];
}

export const ratios = historyRatios('the why of a topic over DuckDB on raw messages', async (history) => {
  const { ranges } = await measure(history, 10);
  return median(ranges.map(({ raw, p50 }) => raw / p50));
});

export const command = historyCommand({ usage: USAGE, messages: 1_000_000, count: 40, measure, describe });

async function measure(history: History, count: number): Promise<Figures> {
  const { reader, raw, close } = await openReaders(history);
  const texts = await openStreamTexts();
  try {
    const why = new WhyReader({
      views: VIEWS,
      readerOf: () => reader,
      texts,
      examples: async () => exampleOf,
    });
    const rows = await reader.read((snapshot) =>
      snapshot.all('select id::varchar as id from @topic order by topic'),
    );
    const sampled = Array.from(
      { length: count },
      (_, i) => rows[Math.floor((i * rows.length) / count)]?.['id'] as string,
    );
    const quarter = new Date((history.end - 90 * 86_400e6) / 1000).toISOString();
    const ranges = [];
    for (const [range, start] of [
      ['all time', undefined],
      ['90 days', quarter],
    ] as const) {
      const parameters = whyParameterSchemas.parse({
        instanceId: SYNTHETIC_IDS.instance(1),
        ...(start === undefined ? {} : { 'dateRange.start': start }),
      });
      for (const id of sampled.slice(0, WARM_UP)) await why.read('TOPIC', id, parameters);
      texts.taken.length = 0;
      const [ours, theirs]: [number[], number[]] = [[], []];
      for (const id of sampled) {
        const startedAt = performance.now();
        const { fields } = await why.read('TOPIC', id, parameters);
        const between = performance.now();
        const bindings = { id, from: { at: start === undefined ? 0 : Date.parse(start) * 1000 } };
        const answers = [];
        for (const statement of RAW) answers.push(await raw.connection.all(statement, bindings));
        theirs.push(performance.now() - between);
        ours.push(between - startedAt);
        const sessions = Object.values(answers[0]?.[0] ?? {})[0];
        if (Number(sessions) !== fields.sessions)
          throw new Error(`${id}: ${fields.sessions} of ${String(sessions)}`);
      }
      ranges.push({
        range,
        p50: median(ours),
        p99: quantile(ours, 0.99),
        texts: median(texts.taken),
        raw: median(theirs),
      });
    }
    return { messages: history.messages, topics: rows.length, ranges };
  } finally {
    await texts.close();
    await close();
  }
}

function describe({ messages, topics, ranges }: Figures): string {
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return [
    `${messages} messages, ${topics} topics`,
    table(
      ['the why of a topic', 'p50', 'p99', 'of which texts', 'raw messages', 'ratio'],
      ranges.map(({ range, p50, p99, texts, raw }) => [
        range,
        ms(p50),
        ms(p99),
        ms(texts),
        ms(raw),
        (raw / p50).toFixed(2),
      ]),
    ),
  ].join('\n');
}
