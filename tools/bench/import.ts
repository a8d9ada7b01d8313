/** How fast does the importer read a large file, and does its memory stay flat? */
import { join } from 'node:path';
import { count } from '../../src/domain/progress.ts';
import type { IngestBody } from '../../src/doors/client/answers.ts';
import type { ImportTarget } from '../../src/doors/import/contract.ts';
import { importFiles } from '../../src/doors/import/importer.ts';
import { benchmark } from './load/benchmark.ts';
import { SHAPES, writeConversations, type Shape } from './load/conversation-files.ts';
import { inFolder } from './load/folder.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- import [SHAPE…] [OPTIONS]

How fast does the importer read a large file, and does its memory stay flat?

Writes files of generated conversations of five messages and imports each into a sink that keeps nothing, so that the
figures are the importer's own: lines of our own, one JSON list of a ChatGPT export, and a CSV table whose rows of a
conversation stand far apart.

  --megabytes N  size of each file (default: 1024)

Shapes: ${SHAPES.join(', ')}`;

const SAMPLE_EVERY_MS = 100;
const MB = 1024 * 1024;

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

export const command = benchmark(
  USAGE,
  { megabytes: 1024 },
  async ({ megabytes }, shapes) => {
    const figures: Figures[] = [];
    for (const shape of SHAPES.filter((known) => shapes.includes(known)))
      figures.push(await measure(shape, megabytes));
    print(figures);
  },
  () => SHAPES,
);

function measure(shape: Shape, megabytes: number): Promise<Figures> {
  return inFolder(async (folder) => {
    const file = join(folder, `conversations.${shape === 'chatgpt' ? 'json' : shape}`);
    const written = await writeConversations(file, shape, megabytes * MB);
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
  });
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
    giveFeedback: () => Promise.resolve({ position: null }),
    ingestBatch: async (items) =>
      items.map(({ body }) => {
        const { messages: sent, sessionId = '' } = JSON.parse(body) as IngestBody;
        messages += sent.length;
        return { instanceId, sessionId, position: null, warnings: null };
      }),
    issueSessionIds: async (_, externalIds) => externalIds,
    query: async () => ({
      elements: [],
      pagination: { total: 0, limit: 0, offset: 0 },
      lastProcessedAt: null,
    }),
    openInstance: async () => ({ id: instanceId, name: null, made: true }),
  };
  return { sink, counted: () => messages };
}

function print(figures: readonly Figures[]): void {
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
