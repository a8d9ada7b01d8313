/** How fast does the importer read a large file, and does its memory stay flat? */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { action, UsageError, wholeNumber, type Command } from '../src/cli/command.ts';
import { count } from '../src/domain/progress.ts';
import type { IngestBody } from '../src/import/client.ts';
import { importFiles, type ImportTarget } from '../src/import/importer.ts';
import { table } from './load/table.ts';

const SHAPES = ['jsonl', 'chatgpt', 'csv'] as const;
type Shape = (typeof SHAPES)[number];

const USAGE = `Usage: npm run bench -- import [OPTIONS]

How fast does the importer read a large file, and does its memory stay flat?

Writes files of generated conversations of five messages and imports each into a sink that keeps nothing, so that the
figures are the importer's own: lines of our own, one JSON list of a ChatGPT export, and a CSV table whose rows of a
conversation stand far apart.

  --megabytes N  size of each file (default: 1024)
  --shape NAME   only this one: ${SHAPES.join(', ')}
  --json         print the figures as JSON`;

const TURNS = 5;
/** Conversations of a table whose rows are mixed. */
const INTERLEAVED = 1000;
const SAMPLE_EVERY_MS = 100;
const MB = 1024 * 1024;
const TEXTS = [
  'Where is the parcel that I ordered last week? The page only says that it has left the warehouse.',
  'It is with the carrier and arrives on Thursday between ten and two.',
  'Nobody is at home on Thursday. Can you bring it to the shop in the next street instead?',
  'I cannot change the address while it is on its way, but the carrier can keep it for you.',
  'Thanks, then I will ask the carrier.',
];

interface Figures {
  readonly shape: Shape;
  readonly megabytes: number;
  readonly messages: number;
  readonly seconds: number;
  readonly messagesPerSecond: number;
  /** Of the processor: what the importer needs whatever else runs on the machine. */
  readonly cpuSeconds: number;
  /** Resident megabytes, the most in each quarter of the time. */
  readonly resident: readonly number[];
}

export const command: Command = {
  usage: USAGE,
  action: action({
    options: { megabytes: { type: 'string' }, shape: { type: 'string' }, json: { type: 'boolean' } },
    read(values) {
      const megabytes = wholeNumber('--megabytes', values.megabytes ?? '1024');
      const { shape } = values;
      const chosen = SHAPES.filter((name) => shape === undefined || name === shape);
      if (chosen.length === 0) throw new UsageError(`--shape takes ${SHAPES.join(', ')}.`);
      return async () => {
        const figures: Figures[] = [];
        for (const name of chosen) figures.push(await measure(name, megabytes));
        print(figures, values.json === true);
      };
    },
  }),
};

async function measure(shape: Shape, megabytes: number): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'undertone-bench-import-'));
  try {
    const file = join(folder, `conversations.${shape === 'chatgpt' ? 'json' : shape}`);
    const written = await write(file, shape, megabytes * MB);
    globalThis.gc?.();
    const samples: number[] = [];
    const timer = setInterval(() => samples.push(process.memoryUsage.rss()), SAMPLE_EVERY_MS);
    const { sink, counted } = openSink();
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const summary = await importFiles({
      files: [file],
      into: { kind: 'default' },
      target: sink,
      concurrency: 16,
    });
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    clearInterval(timer);
    if (summary.stopped !== null) throw summary.stopped;
    if (counted() !== written || summary.messages !== written)
      throw new Error(
        `${written} messages were written, ${counted()} arrived, ${summary.messages} were counted`,
      );
    const quarter = Math.ceil(samples.length / 4);
    const resident = [0, 1, 2, 3].map((index) =>
      Math.round(Math.max(0, ...samples.slice(index * quarter, (index + 1) * quarter)) / MB),
    );
    const messagesPerSecond = Math.round(written / seconds);
    const cpuSeconds = (user + system) / 1e6;
    return { shape, megabytes, messages: written, seconds, messagesPerSecond, cpuSeconds, resident };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A service that accepts everything and holds nothing. */
function openSink(): { sink: ImportTarget; counted: () => number } {
  const instanceId = '01900000-0000-7000-8000-000000000001';
  let messages = 0;
  const sink: ImportTarget = {
    ingest: async (body) => {
      messages += body.messages.length;
      JSON.stringify(body);
      return { instanceId, sessionId: body.sessionId ?? '', position: null, warnings: null };
    },
    ingestBatch: async (items) =>
      items.map(({ body }) => {
        const { messages: sent, sessionId = '' } = JSON.parse(body) as IngestBody;
        messages += sent.length;
        return { instanceId, sessionId, position: null, warnings: null };
      }),
    query: async () => ({
      elements: [],
      pagination: { total: 0, limit: 0, offset: 0 },
      lastProcessedAt: null,
    }),
    openInstance: async () => ({ id: instanceId, name: null, made: true }),
  };
  return { sink, counted: () => messages };
}

/** Writes conversations until the file has this many bytes; the number of messages. */
async function write(file: string, shape: Shape, bytes: number): Promise<number> {
  const stream = createWriteStream(file);
  const { begin, end, part } = WRITERS[shape];
  stream.write(begin);
  // The end of a list is a conversation, too: no comma follows it.
  let messages = end === '' ? 0 : TURNS;
  for (let index = 0; stream.writableLength + stream.bytesWritten < bytes; index += 1) {
    messages += part.messages;
    if (!stream.write(part.of(index))) await once(stream, 'drain');
  }
  stream.end(end);
  await once(stream, 'close');
  return messages;
}

interface Writer {
  readonly begin: string;
  readonly end: string;
  /** What is written again and again, by its number. */
  readonly part: { readonly messages: number; readonly of: (index: number) => string };
}

const text = (turn: number, index: number): string => `${TEXTS[turn] ?? ''} (${index})`;
const roleOf = (turn: number): string => (turn % 2 === 0 ? 'user' : 'assistant');
const turns = Array.from({ length: TURNS }, (_, turn) => turn);

const WRITERS: Readonly<Record<Shape, Writer>> = {
  jsonl: {
    begin: '',
    end: '',
    part: {
      messages: TURNS,
      of: (index) =>
        `${JSON.stringify({ id: `c${index}`, turns: turns.map((turn) => ({ role: roleOf(turn), content: text(turn, index) })) })}\n`,
    },
  },
  chatgpt: {
    begin: '[',
    end: `${JSON.stringify(chatgpt(0))}]`,
    part: { messages: TURNS, of: (index) => `${JSON.stringify(chatgpt(index + 1))},\n` },
  },
  csv: {
    begin: 'conversation_id,role,text\n',
    end: '',
    part: {
      messages: TURNS * INTERLEAVED,
      of: (index) =>
        turns
          .flatMap((turn) =>
            Array.from({ length: INTERLEAVED }, (_, of) => {
              const number = index * INTERLEAVED + of;
              return `c${number},${roleOf(turn)},"${text(turn, number)}"\n`;
            }),
          )
          .join(''),
    },
  },
};

function chatgpt(index: number): unknown {
  const nodes = turns.map((turn) => ({
    id: `n${turn}`,
    parent: turn === 0 ? null : `n${turn - 1}`,
    children: turn === TURNS - 1 ? [] : [`n${turn + 1}`],
    message: {
      author: { role: roleOf(turn) },
      create_time: 1_772_357_400 + turn,
      content: { content_type: 'text', parts: [text(turn, index)] },
      weight: 1,
      recipient: 'all',
    },
  }));
  const mapping = Object.fromEntries(nodes.map((node) => [node.id, node]));
  return { conversation_id: `c${index}`, title: 'Parcel', current_node: `n${TURNS - 1}`, mapping };
}

function print(figures: readonly Figures[], json: boolean): void {
  if (json) {
    console.log(JSON.stringify(figures));
    return;
  }
  console.log(
    table(
      ['file', 'MB', 'messages', 's', 'messages/s', 'CPU s', 'most resident MB by quarter'],
      figures.map(({ shape, megabytes, messages, seconds, messagesPerSecond, cpuSeconds, resident }) => [
        shape,
        String(megabytes),
        count(messages),
        seconds.toFixed(1),
        count(messagesPerSecond),
        cpuSeconds.toFixed(1),
        resident.join(' / '),
      ]),
    ),
  );
}
