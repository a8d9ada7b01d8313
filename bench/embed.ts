/**
 * How fast are vectors and whole findings made? `npm run bench -- embed [--model NAME] [file of dialogues]`.
 * Prints load time and memory, messages/s by batch size and length on one thread, tokenisation apart,
 * everything that enrich does, and beside it the library's own `pipeline()` with pooling in JavaScript.
 */
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { AutoTokenizer, env, pipeline } from '@huggingface/transformers';
import { roleOf } from '../src/domain/records.ts';
import type { Turn } from '../src/domain/facts.ts';
import { createEnricher } from '../src/enrich/enricher.ts';
import { loadEmbedder } from '../src/enrich/embed/embedder.ts';
import { collect, readDialogues } from '../models/eval/data.ts';

const MODELS = resolve(import.meta.dirname, '../models');
const DEFAULT_MODEL = 'undertone-small';
const MESSAGES = 20_000;
const BATCHES = [1, 32, 256, 2000] as const;
const LENGTHS = [4, 8, 16, 64, 200] as const;
/** Words in all for each cell of the table, so that every cell takes about as long. */
const WORDS_A_CELL = 80_000;

const WORDS =
  'please could you tell me how i can cancel or change the booking for my hotel room because card payment was declined when we tried to pay online yesterday evening and nobody answers phone'.split(
    ' ',
  );
let seed = 7;
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}
function message(words: number): string {
  return Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ');
}
/** Lengths as in support chats: mostly short, some long. */
function mixed(): string[] {
  return Array.from({ length: MESSAGES }, () => message(random() < 0.9 ? 3 + Math.floor(random() * 15) : 40));
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

export async function run(args: readonly string[] = []): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { model: { type: 'string', default: DEFAULT_MODEL } },
  });
  const folder = isAbsolute(values.model) ? values.model : join(MODELS, values.model);
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const embedder = await loadEmbedder({ model: folder, modelsDirectory: MODELS });
  console.log(
    `loaded ${embedder.id} in ${Math.round(performance.now() - start)} ms, ${Math.round((process.memoryUsage().rss - before) / 2 ** 20)} MiB`,
  );
  const texts = mixed();
  await embedder.embed(texts.slice(0, 500));

  env.allowRemoteModels = false;
  env.localModelPath = dirname(folder);
  const tokenizer = await AutoTokenizer.from_pretrained(basename(folder), { local_files_only: true });
  const tokenise = (batch: readonly string[]): void => {
    for (const text of batch) tokenizer(text, { truncation: true, return_tensor: false });
  };
  const table = new Table({
    head: ['messages/s', ...BATCHES.map((size) => `batch ${size}`), 'tokenisation alone'],
    style: { head: [], border: [] },
  });
  const lengths = [
    { name: 'mixed, mostly short', messages: texts },
    ...LENGTHS.map((words) => ({
      name: `${words} words`,
      messages: Array.from({ length: Math.min(8000, WORDS_A_CELL / words) }, () => message(words)),
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

  const extract = await pipeline('feature-extraction', basename(folder), {
    dtype: 'q8',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  const few = texts.slice(0, 4000);
  const theirs = await rate(few.length, () =>
    inBatches(few, 32, (batch) => extract(batch, { pooling: 'mean', normalize: true })),
  );
  const ours = await rate(few.length, () => inBatches(few, 32, (batch) => embedder.embed(batch)));
  console.log(
    `batches of 32: pipeline() ${theirs} messages/s, embedder ${ours}: ${(ours / theirs).toFixed(1)} times as fast`,
  );

  const path = positionals[0];
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
      `enrich, everything, ${turns.length} messages in batches of 500, ${cached} vectors cached: ${perSecond} messages/s`,
    );
  }
  await embedder.close();
  await extract.dispose();
  console.log(`memory at the end: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`);
}
