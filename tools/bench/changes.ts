/** How fast is it said what changed in a long history, and how fast from raw messages? */
import { ChangesReader } from '../../src/query/changes/changes-reader.ts';
import { changesParameterSchemas } from '../../src/query/changes/changes-schema.ts';
import { VIEWS } from '../../test/support/fold.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import type { History } from './history.ts';
import { historyCommand, historyRatios, openReaders } from './load/history-benchmark.ts';
import type { RawMessages } from './load/raw-messages.ts';
import { median, quantile } from './load/ratios.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- changes [OPTIONS]

How fast is it said what changed in a long history, and how fast from raw messages?

Compares weeks, months and quarters that end at different days of a synthetic history with the period before. The
alternative, in the same run: the same counts of sessions as plain SQL over raw messages in DuckDB, without the test
that tells a change from chance.

  --messages N   length of the history (default: 1000000)
  --count N      periods of each length (default: 20)
  --keep DIR     keep the history in DIR, and reuse what is there
  --json         print the figures as JSON`;

const WARM_UP = 2;
const DAY = 86_400e6;
const LENGTHS = [7, 28, 90] as const;
/** Sessions of each entity, and of all, in a range. */
const RAW = [
  ...['topic', 'signal', 'gap'].map(
    (entity) =>
      `select ${entity}, count(distinct session) from message
where ${entity} is not null and sent_at >= $from and sent_at < $to group by all`,
  ),
  'select count(distinct session) as sessions from message where sent_at >= $from and sent_at < $to',
];

interface Figures {
  readonly messages: number;
  /** By length of the period, milliseconds for an answer. */
  readonly lengths: readonly {
    readonly days: number;
    readonly p50: number;
    readonly p99: number;
    /** The alternative, at the median. */
    readonly raw: number;
  }[];
}

export const ratios = historyRatios('changes over DuckDB on raw messages', async (history) => {
  const { lengths } = await measure(history, 10);
  return median(lengths.map(({ raw, p50 }) => raw / p50));
});

export const command = historyCommand({ usage: USAGE, messages: 1_000_000, count: 20, measure, describe });

async function measure(history: History, count: number): Promise<Figures> {
  const { reader, raw, close } = await openReaders(history);
  try {
    const changes = new ChangesReader({ views: VIEWS, readerOf: () => reader });
    const lengths = [];
    for (const days of LENGTHS) {
      const [ours, theirs]: [number[], number[]] = [[], []];
      for (let index = -WARM_UP; index < count; index += 1) {
        const end = history.end - Math.abs(index) * 2 * DAY;
        const range = { start: end - days * DAY, end };
        const startedAt = performance.now();
        const { period, before } = await changes.read(parametersOf(range));
        const between = performance.now();
        const sessions: number[] = [];
        for (const { start, end: to } of [period, before])
          sessions.push(await countRaw(raw, Date.parse(start) * 1000, Date.parse(to) * 1000));
        if (sessions[0] !== period.sessions || sessions[1] !== before.sessions)
          throw new Error(`${sessions.join(', ')}, not ${period.sessions}, ${before.sessions} sessions`);
        if (index < 0) continue;
        theirs.push(performance.now() - between);
        ours.push(between - startedAt);
      }
      lengths.push({ days, p50: median(ours), p99: quantile(ours, 0.99), raw: median(theirs) });
    }
    return { messages: history.messages, lengths };
  } finally {
    await close();
  }
}

function parametersOf({ start, end }: { readonly start: number; readonly end: number }) {
  return changesParameterSchemas.parse({
    instanceId: SYNTHETIC_IDS.instance(1),
    'dateRange.start': new Date(start / 1000).toISOString(),
    'dateRange.end': new Date(end / 1000).toISOString(),
  });
}

/** Runs the alternative over one range; how many sessions it has. */
async function countRaw(raw: RawMessages, from: number, to: number): Promise<number> {
  let sessions = 0;
  for (const statement of RAW) {
    const rows = await raw.connection.all(statement, { from: { at: from }, to: { at: to } });
    sessions = Number(rows[0]?.['sessions'] ?? 0);
  }
  return sessions;
}

function describe({ messages, lengths }: Figures): string {
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return [
    `${messages} messages`,
    table(
      ['what changed', 'p50', 'p99', 'raw messages', 'ratio'],
      lengths.map(({ days, p50, p99, raw }) => [
        `${days} days`,
        ms(p50),
        ms(p99),
        ms(raw),
        (raw / p50).toFixed(2),
      ]),
    ),
  ].join('\n');
}
