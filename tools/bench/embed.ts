/** How fast are vectors and whole findings made? */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import Table from 'cli-table3';
import {
  AutoTokenizer,
  env,
  pipeline,
  type FeatureExtractionPipeline,
} from '../../src/reader/embedding/transformers.ts';
import { action, type Command } from '../../src/cli/command.ts';
import { roleOf } from '../../src/domain/records.ts';
import type { Turn } from '../../src/domain/facts.ts';
import { createEnricher } from '../../src/reader/acts/enricher.ts';
import { loadEmbedder, type Embedder } from '../../src/reader/embedding/embedder.ts';
import { collect, readDialogues } from '../eval/data.ts';
import { randomFrom } from './load/questions.ts';
import { timesFaster, type Ratios } from './load/ratios.ts';
import { WORDS } from './load/words.ts';

const MODELS = resolve(import.meta.dirname, '../../models');
const DEFAULT_MODEL = 'undertone-small';
const MESSAGES = 20_000;
const BATCHES = [1, 32, 256, 2000] as const;
const LENGTHS = [4, 8, 16, 64, 200] as const;
/** Words in all for each cell of the table, so that every cell takes about as long. */
const WORDS_A_CELL = 80_000;

function message(words: number, random: () => number): string {
  return Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
}
/** Lengths as in support chats: mostly short, some long. */
function mixed(): string[] {
  const random = randomFrom(7);
  return Array.from({ length: MESSAGES }, () =>
    message(random() < 0.9 ? 3 + Math.floor(random() * 15) : 40, random),
  );
}

/** Messages a second, best of three. */
async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    await work();
    best = Math.min(best, performance.now() - start);
  }
  return Math.round((count / best) * 1000);
}

async function inBatches(
  texts: readonly string[],
  size: number,
  work: (batch: string[]) => unknown,
): Promise<void> {
  for (let i = 0; i < texts.length; i += size) await work(texts.slice(i, i + size));
}

function turnsOf(texts: readonly { role: string; content: string }[]): Turn[] {
  return texts.map(({ role, content }, i) => ({
    position: i,
    instance: 0,
    instanceId: '0190a000-0000-7000-8000-000000000001',
    session: 0,
    sessionId: '0190a000-0000-7000-8000-000000000002',
    role: roleOf(role),
    user: null,
    content,
    at: 0,
  }));
}

const USAGE = `Usage: npm run bench -- embed [FILE] [--model NAME]

How fast are vectors and complete findings? Prints load time and memory, messages/s by batch size and length on one
thread, tokenisation alone, and everything that enrich does, on made-up messages or the dialogues in FILE. The
alternative, in the same run: the library's own pipeline() with pooling in JavaScript.

  --model NAME   a folder of models/ or a path (default: undertone-small)`;

type Pipeline = FeatureExtractionPipeline;

function onlyLocalModels(folder: string): void {
  env.allowRemoteModels = false;
  env.localModelPath = dirname(folder);
}

async function openPipeline(folder: string): Promise<Pipeline> {
  onlyLocalModels(folder);
  return pipeline('feature-extraction', basename(folder), {
    dtype: 'q8',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
}

/** Messages a second of both in batches of 32. */
async function compare(
  texts: readonly string[],
  embedder: Embedder,
  extract: Pipeline,
): Promise<{ ours: number; theirs: number }> {
  const theirs = await rate(texts.length, () =>
    inBatches(texts, 32, (batch) => extract(batch, { pooling: 'mean', normalize: true })),
  );
  const ours = await rate(texts.length, () => inBatches(texts, 32, (batch) => embedder.embed(batch)));
  return { ours, theirs };
}

/** How many times more messages a second than the library's own pipeline. */
export const ratios: Ratios = async ({ times }) => {
  const folder = join(MODELS, DEFAULT_MODEL);
  const embedder = await loadEmbedder({ model: folder, modelsDirectory: MODELS });
  const extract = await openPipeline(folder);
  const texts = mixed().slice(0, 32);
  const samples: number[] = [];
  while (samples.length < times) {
    const faster = await timesFaster(
      () => embedder.embed(texts),
      () => extract(texts, { pooling: 'mean', normalize: true }),
    );
    samples.push(faster);
  }
  await embedder.close();
  await extract.dispose();
  return { 'embedder over pipeline()': samples };
};

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      model: { type: 'string', default: DEFAULT_MODEL },
    },
    operands: 1,
    read({ model }, [file]) {
      return () => measure(model, file);
    },
  }),
};

async function measure(model: string, path: string | undefined): Promise<void> {
  const folder = isAbsolute(model) ? model : join(MODELS, model);
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const embedder = await loadEmbedder({ model: folder, modelsDirectory: MODELS });
  const [taken, used] = [performance.now() - start, process.memoryUsage().rss - before];
  console.log(`loaded ${embedder.id} in ${Math.round(taken)} ms, ${Math.round(used / 2 ** 20)} MiB`);
  const texts = mixed();
  await embedder.embed(texts.slice(0, 500));

  onlyLocalModels(folder);
  const tokenizer = await AutoTokenizer.from_pretrained(basename(folder), { local_files_only: true });
  const tokenise = (batch: readonly string[]): void => {
    for (const text of batch) tokenizer(text, { truncation: true, return_tensor: false });
  };
  const table = new Table({
    head: ['messages/s', ...BATCHES.map((size) => `batch ${size}`), 'tokenisation alone'],
    style: { head: [], border: [] },
  });
  const random = randomFrom(8);
  const lengths = [
    { name: 'mixed, mostly short', messages: texts },
    ...LENGTHS.map((words) => ({
      name: `${words} words`,
      messages: Array.from({ length: Math.min(8000, WORDS_A_CELL / words) }, () => message(words, random)),
    })),
  ];
  for (const { name, messages } of lengths) {
    const rates: number[] = [];
    for (const size of BATCHES)
      rates.push(
        await rate(messages.length, () => inBatches(messages, size, (batch) => embedder.embed(batch))),
      );
    rates.push(await rate(messages.length, () => inBatches(messages, 256, tokenise)));
    table.push([name, ...rates]);
  }
  console.log(table.toString());

  const extract = await openPipeline(folder);
  const { ours, theirs } = await compare(texts.slice(0, 4000), embedder, extract);
  console.log(
    `batches of 32: pipeline() ${theirs} messages/s, embedder ${ours}: ${(ours / theirs).toFixed(1)} times as fast`,
  );

  const turns =
    path === undefined
      ? turnsOf(texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content })))
      : turnsOf((await collect(readDialogues(path))).flatMap((dialogue) => dialogue.turns));
  for (const cached of [0, 4096]) {
    const enricher = createEnricher({ embedder, cached });
    const perSecond = await rate(turns.length, async () => {
      for (let i = 0; i < turns.length; i += 500) await enricher.enrich(turns.slice(i, i + 500));
    });
    console.log(
      `enrich, everything, ${turns.length} messages in batches of 500, ${cached} vectors cached: ${perSecond} ` +
        'messages/s',
    );
  }
  await embedder.close();
  await extract.dispose();
  console.log(`memory at the end: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`);
}
