/** How fast is it said what is behind the numbers of a topic, and how fast from raw messages? */
import { resolve } from 'node:path';
import { action, wholeNumber, type Command } from '../src/cli/command.ts';
import { exampleOf } from '../src/language/redact/example.ts';
import { WhyReader } from '../src/query/why/why-reader.ts';
import { whyParameterSchemas } from '../src/query/why/why-schema.ts';
import { shardDirectory } from '../src/store/epochs/epochs.ts';
import { SnapshotReader } from '../src/store/published/snapshot-reader.ts';
import { loadViews } from '../src/store/view-files.ts';
import { SYNTHETIC_IDS } from '../test/support/synthetic-stream.ts';
import { oneInstance, openHistory, type History } from './history.ts';
import { RawMessages } from './load/raw-messages.ts';
import { median, type Ratios } from './load/ratios.ts';
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

const VIEWS = resolve(import.meta.dirname, '../views');
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

export const ratios: Ratios = async ({ times, keep }) => {
  const history = await openHistory(oneInstance(50_000), { keep, onProgress: () => undefined });
  const samples: number[] = [];
  while (samples.length < times) {
    const { ranges } = await measure(history, 10);
    samples.push(median(ranges.map(({ raw, p50 }) => raw / p50)));
  }
  return { 'the why of a topic over DuckDB on raw messages': samples };
};

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      messages: { type: 'string', default: '1000000' },
      count: { type: 'string', default: '40' },
      keep: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
    read({ messages, count, keep, json }) {
      const [size, topics] = [wholeNumber('--messages', messages, 1000), wholeNumber('--count', count)];
      return async () => {
        const onProgress = (line: string): void => console.error(line);
        const history = await openHistory(oneInstance(size), { keep, onProgress });
        try {
          const figures = await measure(history, topics);
          console.log(json ? JSON.stringify(figures, null, 2) : describe(figures));
        } finally {
          history.remove();
        }
      };
    },
  }),
};

async function measure(history: History, count: number): Promise<Figures> {
  const directory = shardDirectory(history.dataDir, 1, 0);
  const views = loadViews(VIEWS);
  const reader = await SnapshotReader.open({ directory: () => directory, views, threads: 2, connections: 2 });
  const raw = await RawMessages.open(history.rawFile, { create: false });
  const texts = await openStreamTexts();
  try {
    const why = new WhyReader({ views, readerOf: () => reader, texts, exampleOf });
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
        p99: ours.toSorted((a, b) => a - b)[Math.floor(ours.length * 0.99)] ?? 0,
        texts: median(texts.taken),
        raw: median(theirs),
      });
    }
    return { messages: history.messages, topics: rows.length, ranges };
  } finally {
    await texts.close();
    await raw.close();
    await reader.close();
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
