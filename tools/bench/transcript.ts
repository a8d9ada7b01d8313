/** How fast is a conversation of a long history opened, and how fast from raw messages? */
import { SessionReader } from '../../src/query/session-reader.ts';
import { sessionParameterSchemas } from '../../src/query/session-schema.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import type { History } from './history.ts';
import { historyCommand, historyRatios, openReaders } from './load/history-benchmark.ts';
import { median, quantile } from './load/ratios.ts';
import { openStreamTexts } from './load/stream-texts.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- transcript [OPTIONS]

How fast is a conversation of a long history opened, and how fast from raw messages?

Opens sessions spread over a synthetic history: what was found in each message from the views, each text from an entry
of its own of a real stream. The alternative, in the same run: the messages of the session as one plain SQL query over
raw messages in DuckDB, without any text.

  --messages N   length of the history (default: 1000000)
  --count N      sessions to open (default: 300)
  --keep DIR     keep the history in DIR, and reuse what is there
  --json         print the figures as JSON`;

const WARM_UP = 20;
const RAW = `select * from message
where instance = 1 and session = (select session from session where id = $id::uuid) order by sent_at`;

interface Figures {
  readonly messages: number;
  readonly sessions: number;
  /** Mean number of messages in an opened session. */
  readonly length: number;
  /** Milliseconds for a session. */
  readonly p50: number;
  readonly p99: number;
  /** Of which the texts take, at the median. */
  readonly texts: number;
  /** The alternative, at the median. */
  readonly raw: number;
}

export const ratios = historyRatios('a transcript over DuckDB on raw messages', async (history) => {
  const { p50, raw } = await measure(history, 50);
  return raw / p50;
});

export const command = historyCommand({ usage: USAGE, messages: 1_000_000, count: 300, measure, describe });

async function measure(history: History, count: number): Promise<Figures> {
  const { reader, raw, close } = await openReaders(history);
  const texts = await openStreamTexts();
  try {
    const sessions = new SessionReader({ readerOf: () => reader, texts });
    const parameters = sessionParameterSchemas.parse({ instanceId: SYNTHETIC_IDS.instance(1) });
    const ids = (
      await reader.read((snapshot) => snapshot.all('select id::varchar as id from @session order by session'))
    ).map((row) => row['id'] as string);
    const sampled = Array.from({ length: count }, (_, i) => ids[Math.floor((i * ids.length) / count)] ?? '');
    for (const id of sampled.slice(0, WARM_UP)) await sessions.read(id, parameters);
    texts.taken.length = 0;
    const [ours, theirs, lengths]: [number[], number[], number[]] = [[], [], []];
    for (const id of sampled) {
      const startedAt = performance.now();
      const { messages } = await sessions.read(id, parameters);
      const between = performance.now();
      const rows = await raw.connection.all(RAW, { id });
      theirs.push(performance.now() - between);
      ours.push(between - startedAt);
      lengths.push(messages.length);
      if (rows.length !== messages.length)
        throw new Error(`${id}: ${messages.length} of ${rows.length} messages`);
    }
    return {
      messages: history.messages,
      sessions: ids.length,
      length: lengths.reduce((sum, length) => sum + length, 0) / lengths.length,
      p50: median(ours),
      p99: quantile(ours, 0.99),
      texts: median(texts.taken),
      raw: median(theirs),
    };
  } finally {
    await texts.close();
    await close();
  }
}

function describe({ messages, sessions, length, p50, p99, texts, raw }: Figures): string {
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return [
    `${messages} messages in ${sessions} sessions; ${length.toFixed(1)} messages in an opened one`,
    table(
      ['', 'p50', 'p99'],
      [
        ['a transcript', ms(p50), ms(p99)],
        ['  of which texts', ms(texts), ''],
        ['raw messages in DuckDB, without texts', ms(raw), ''],
      ],
    ),
    `ratio ${(raw / p50).toFixed(2)}`,
  ].join('\n');
}
