/** How fast is a conversation of a long history opened, and how fast from raw messages? */
import { resolve } from 'node:path';
import { action, wholeNumber, type Command } from '../src/cli/command.ts';
import { SessionReader } from '../src/query/session-reader.ts';
import { sessionParameterSchemas } from '../src/query/session-schema.ts';
import { shardDirectory } from '../src/store/epochs/epochs.ts';
import { SnapshotReader } from '../src/store/published/snapshot-reader.ts';
import { loadViews } from '../src/store/view-files.ts';
import { SYNTHETIC_IDS } from '../test/support/synthetic-stream.ts';
import { oneInstance, openHistory, type History } from './history.ts';
import { RawMessages } from './load/raw-messages.ts';
import { median, type Ratios } from './load/ratios.ts';
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

const VIEWS = resolve(import.meta.dirname, '../views');
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

export const ratios: Ratios = async ({ times, keep }) => {
  const history = await openHistory(oneInstance(50_000), { keep, onProgress: () => undefined });
  const samples: number[] = [];
  while (samples.length < times) {
    const { p50, raw } = await measure(history, 50);
    samples.push(raw / p50);
  }
  return { 'a transcript over DuckDB on raw messages': samples };
};

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      messages: { type: 'string', default: '1000000' },
      count: { type: 'string', default: '300' },
      keep: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
    read({ messages, count, keep, json }) {
      const [size, sessions] = [wholeNumber('--messages', messages, 1000), wholeNumber('--count', count)];
      return async () => {
        const history = await openHistory(oneInstance(size), {
          keep,
          onProgress: (line) => console.error(line),
        });
        try {
          const figures = await measure(history, sessions);
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
  const reader = await SnapshotReader.open({
    directory: () => directory,
    views: loadViews(VIEWS),
    threads: 2,
    connections: 2,
  });
  const raw = await RawMessages.open(history.rawFile, { create: false });
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
      p99: ours.toSorted((a, b) => a - b)[Math.floor(ours.length * 0.99)] ?? 0,
      texts: median(texts.taken),
      raw: median(theirs),
    };
  } finally {
    await texts.close();
    await raw.close();
    await reader.close();
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
