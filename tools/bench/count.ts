/** How many messages a second does the whole service count, when every text is another one? */
import { readdir, stat } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { count } from '../../src/domain/progress.ts';
import { filesOf, readManifest } from '../../src/store/published/manifest.ts';
import { DEFAULT_DATA_DIRECTORY } from '../eval/data.ts';
import { benchmark } from './load/benchmark.ts';
import { countConversations, sendConversations } from './load/counting.ts';
import { corpora, take } from './load/distinct-texts.ts';
import { fixedLoopMs } from './load/fixed-loop.ts';
import type { Ratios } from './load/ratios.ts';
import { request, startMeasuredService, untilCounted } from './load/service.ts';
import { workerStagesOf } from './load/service-use.ts';
import { table } from './load/table.ts';

/** What the worker took at an earlier commit, fixed loops for a thousand messages, by texts: 12,000 messages of each. */
const EARLIER = {
  commit: 'fb531bb',
  loops: { demo: 7, SGD: 3.6, mix: 6.2 } as Readonly<Record<string, number>>,
};

const USAGE = `Usage: npm run bench -- count [TEXTS…] [OPTIONS]

How many messages a second does the whole service count, when every text is another one? Starts a service of its own
for each of TEXTS, sends conversations as fast as they are taken, and waits until queries count them. The fixed loop is
the same work on every machine: 50 million steps and SHA-256 over 20 MB. The worker's processor time for a thousand
messages is printed in such loops, beside what it was at ${EARLIER.commit}.

TEXTS are demo (the demo's conversations, each time with other words) and, where the folder of data sets lies beside the
checkout or is given, mix, SGD, Taskmaster-4, topical chat and CrossWOZ. Default: all there are.

  --data FOLDER   the folder of data sets, with the folder dialogues in it
  --messages N    messages of each (default: 12000)
  --attributes N  attributes of each conversation (default: 0)`;

const QUICK_MESSAGES = 3000;

/** What counting texts took. */
export interface Counted {
  readonly texts: string;
  readonly messages: number;
  /** From the first request until queries counted everything. */
  readonly messagesPerSecond: number;
  /** Microseconds of processor time for each message, by process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Of the worker's, by stage. */
  readonly stages: Readonly<Record<string, number>>;
  /** Bytes of the views and of the stream for each message. */
  readonly viewBytes: number;
  readonly streamBytes: number;
  readonly loopMs: number;
  /** Of the last minute. */
  readonly load: number;
}

export const command = benchmark(
  USAGE,
  { data: DEFAULT_DATA_DIRECTORY, messages: 12_000, attributes: 0 },
  async ({ data, messages, attributes }, names) => {
    const counted: Counted[] = [];
    for (const texts of names) counted.push(await countTexts(texts, messages, data, attributes));
    print(counted);
  },
  ({ data }) => Object.keys(corpora(data)),
);

/** The worker's messages for each fixed loop of its processor time. */
export const ratios: Ratios = async ({ times }) => {
  const samples: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const { cpu, loopMs } = await countTexts('demo', QUICK_MESSAGES);
    samples.push((loopMs * 1000) / (cpu['worker'] ?? Infinity));
  }
  return { 'messages counted in the processor time of a fixed loop': samples };
};

/** Counts so many messages of a corpus with a service of its own. */
export async function countTexts(
  texts: string,
  messages: number,
  data?: string,
  attributes = 0,
): Promise<Counted> {
  const open = corpora(data)[texts];
  if (open === undefined) throw new Error(`there are no texts ${texts}`);
  const conversations = await take(open(), messages);
  const loopMs = fixedLoopMs();
  const service = await startMeasuredService();
  try {
    const { id: instanceId } = await request<{ id: string }>(service, 'instances', {});
    // The first message loads what the first message needs.
    const first = await sendConversations(service, instanceId, conversations.slice(0, 1));
    await untilCounted(service, instanceId, first);
    const stagesBefore = await workerStagesOf(service.dataDir);
    const counted = await countConversations(service, instanceId, conversations.slice(1), attributes);
    const stagesAfter = await workerStagesOf(service.dataDir);
    const { messages: sent, seconds, use } = counted;
    const stages = [...stagesAfter].map(([name, used]) => {
      return [name, ((used - (stagesBefore.get(name) ?? 0)) * 1000) / sent] as const;
    });
    const cpu = [...use].map(([name, { processorMs }]) => [name, (processorMs * 1000) / sent] as const);
    return {
      texts,
      messages: sent,
      messagesPerSecond: sent / seconds,
      cpu: Object.fromEntries(cpu),
      stages: Object.fromEntries(stages),
      viewBytes: (await bytesIn(join(service.dataDir, 'views'), isReplaced)) / sent,
      streamBytes: (await bytesIn(join(service.dataDir, 'nats'))) / sent,
      loopMs,
      load: loadavg()[0] ?? 0,
    };
  } finally {
    await service.stop();
  }
}

/** Whether it is a file of the views that no manifest names any more: it goes within a minute or two. */
function isReplaced(folder: string, name: string): boolean {
  if (!/^(?:newest|merged)[-.]/.test(name)) return false;
  const manifest = readManifest(folder);
  return manifest !== null && !filesOf(manifest).has(name);
}

/** What the files below a folder take, without those that are left out. */
async function bytesIn(
  folder: string,
  isLeftOut: (folder: string, name: string) => boolean = () => false,
): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile() && !isLeftOut(entry.parentPath, entry.name))
    .map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function print(counted: readonly Counted[]): void {
  console.log(
    table(
      [
        'texts',
        'messages',
        'counted/s',
        'worker µs',
        'web µs',
        'nats µs',
        'loops',
        `at ${EARLIER.commit}`,
        'views MB',
        'stream MB',
        'load',
      ],
      counted.map(({ texts, messages, messagesPerSecond, cpu, viewBytes, streamBytes, loopMs, load }) => [
        texts,
        count(messages),
        count(Math.round(messagesPerSecond)),
        ...['worker', 'web', 'nats'].map((name) => (cpu[name] ?? 0).toFixed(0)),
        ((1000 * (cpu['worker'] ?? 0)) / (loopMs * 1000)).toFixed(2),
        EARLIER.loops[texts]?.toFixed(2) ?? '',
        viewBytes.toFixed(0),
        streamBytes.toFixed(0),
        load.toFixed(1),
      ]),
    ),
  );
  const stages = Object.keys(counted[0]?.stages ?? {});
  console.log(
    table(
      ['worker µs', ...stages],
      counted.map(({ texts, stages: used }) => [
        texts,
        ...stages.map((stage) => (used[stage] ?? 0).toFixed(0)),
      ]),
    ),
  );
  console.log(
    '\nµs: processor time for each message. loops: fixed loops of the worker for 1,000 messages. MB: for a million.',
  );
  console.log(`fixed loop: ${counted[0]?.loopMs.toFixed(0)} ms`);
}
