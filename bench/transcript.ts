/** How fast is a conversation of a long history opened, and how fast from raw messages? */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { action, wholeNumber, type Command } from '../src/cli/command.ts';
import { positionOf } from '../src/domain/records.ts';
import { SessionReader } from '../src/query/session-reader.ts';
import { sessionParameterSchemas } from '../src/query/session-schema.ts';
import { shardDirectory } from '../src/store/epochs/epochs.ts';
import { SnapshotReader } from '../src/store/published/snapshot-reader.ts';
import { loadViews } from '../src/store/view-files.ts';
import { openConnection } from '../src/stream/connection.ts';
import { encodeRequest } from '../src/stream/log/codec.ts';
import { MessageTexts } from '../src/stream/log/message-texts.ts';
import { createPublisher } from '../src/stream/log/publisher.ts';
import { startServer } from '../src/stream/server/server.ts';
import { setUpStreams } from '../src/stream/stream-setup.ts';
import { SYNTHETIC_IDS } from '../test/support/synthetic-stream.ts';
import { oneInstance, openHistory, type History } from './history.ts';
import { RawMessages } from './load/raw-messages.ts';
import { median, type Ratios } from './load/ratios.ts';
import { freePort } from './load/service.ts';
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
/** Entries of the stream that texts are read from. */
const ENTRIES = 2000;
const TEXT =
  'I ordered a blue blender last week and it still has not arrived. Where is it right now? '.repeat(3);

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
  const folder = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
  const nats = await startServer({
    dataDir: folder,
    port: await freePort(),
    cacheDir: resolve(import.meta.dirname, '../.cache'),
  });
  const connection = await openConnection({ url: nats.url, token: () => nats.token, name: 'bench' });
  const directory = shardDirectory(history.dataDir, 1, 0);
  const reader = await SnapshotReader.open({
    directory: () => directory,
    views: loadViews(VIEWS),
    threads: 2,
    connections: 2,
  });
  const raw = await RawMessages.open(history.rawFile, { create: false });
  try {
    await setUpStreams(connection);
    await fillStream(connection);
    const ids = await reader.read(async (snapshot) =>
      snapshot.all(`select id::varchar as id, session from @session order by session`),
    );
    const sampled = Array.from(
      { length: count },
      (_, i) => ids[Math.floor(((i * 7919) % count) * (ids.length / count))],
    );
    const texts = new MessageTexts(() => connection);
    let textsMs: number[] = [];
    const sessions = new SessionReader({
      readerOf: () => reader,
      texts: {
        // The history has no stream: each message reads an entry of its own.
        read: async (positions) => {
          const entries = new Map(
            positions.map((position) => [positionOf((position % ENTRIES) + 1, 0), position] as const),
          );
          const startedAt = performance.now();
          const read = await texts.read([...entries.keys()]);
          textsMs.push(performance.now() - startedAt);
          return new Map(
            positions.map((position) => {
              const found = read.get(positionOf((position % ENTRIES) + 1, 0));
              if (found === undefined || !('message' in found)) throw new Error(`no text at ${position}`);
              return [position, found];
            }),
          );
        },
      },
    });
    const instanceId = SYNTHETIC_IDS.instance(1);
    const parameters = sessionParameterSchemas.parse({ instanceId });
    const [ours, theirs, lengths]: [number[], number[], number[]] = [[], [], []];
    for (const [index, row] of [...sampled.slice(0, 20), ...sampled].entries()) {
      const id = row?.['id'] as string;
      const startedAt = performance.now();
      const { messages } = await sessions.read(id, parameters);
      const between = performance.now();
      const rows = await raw.connection.all(
        `select * from message where instance = 1 and session = (select session from session where id = $id::uuid)
order by sent_at`,
        { id },
      );
      const endedAt = performance.now();
      if (rows.length !== messages.length)
        throw new Error(`${id}: ${messages.length} of ${rows.length} messages`);
      if (index === 19) textsMs = [];
      if (index < 20) continue;
      ours.push(between - startedAt);
      theirs.push(endedAt - between);
      lengths.push(messages.length);
    }
    return {
      messages: history.messages,
      sessions: ids.length,
      length: lengths.reduce((sum, length) => sum + length, 0) / lengths.length,
      p50: median(ours),
      p99: ours.toSorted((a, b) => a - b)[Math.floor(ours.length * 0.99)] ?? 0,
      texts: median(textsMs),
      raw: median(theirs),
    };
  } finally {
    await raw.close();
    await reader.close();
    await connection.close();
    await nats.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Entries of one message each. */
async function fillStream(connection: Awaited<ReturnType<typeof openConnection>>): Promise<void> {
  const publisher = createPublisher(connection, { maxPendingBytes: 64 * 2 ** 20 });
  const id = SYNTHETIC_IDS.instance(1);
  const request = { projectId: id, instanceId: id, sessionId: id, acceptedAt: 0 };
  for (let entry = 0; entry < ENTRIES; entry += 1) {
    const messages = [{ content: TEXT, role: 'user', userId: 'ada', at: 0 }];
    await publisher.publish(encodeRequest({ ...request, requestId: String(entry), messages }));
  }
  await publisher.drain();
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
