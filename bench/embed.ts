/**
 * How fast are vectors and whole findings made? `npm run bench -- embed [file of dialogues]`. Prints
 * messages/s by batch size and by length, tokenisation apart, load time and memory, everything that
 * enrich does, and beside it the library's own `pipeline()` with pooling in JavaScript.
 */
import { resolve } from 'node:path';
import { AutoTokenizer, env, pipeline } from '@huggingface/transformers';
import { roleOf } from '../src/domain/records.ts';
import type { Turn } from '../src/domain/facts.ts';
import { createEnricher } from '../src/enrich/enricher.ts';
import { loadEmbedder } from '../src/enrich/embedder.ts';
import { collect, readDialogues } from '../src/eval/data.ts';

const MODELS = resolve(import.meta.dirname, '../models');
const MODEL = 'baseline';
const MESSAGES = 20_000;

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
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const embedder = await loadEmbedder({ model: MODEL, modelsDirectory: MODELS });
  console.log(
    `loaded ${embedder.id} in ${Math.round(performance.now() - start)} ms, ${Math.round((process.memoryUsage().rss - before) / 2 ** 20)} MiB`,
  );
  const texts = mixed();
  await embedder.embed(texts.slice(0, 500));
  for (const size of [1, 32, 256, 2000, MESSAGES]) {
    const perSecond = await rate(MESSAGES, () => inBatches(texts, size, (batch) => embedder.embed(batch)));
    console.log(`embed, batches of ${size}: ${perSecond} messages/s`);
  }
  for (const words of [4, 16, 64, 200]) {
    const same = Array.from({ length: 4000 }, () => message(words));
    const perSecond = await rate(same.length, () => inBatches(same, 256, (batch) => embedder.embed(batch)));
    console.log(`embed, ${words} words each: ${perSecond} messages/s`);
  }

  env.allowRemoteModels = false;
  env.localModelPath = MODELS;
  const tokenizer = await AutoTokenizer.from_pretrained(MODEL, { local_files_only: true });
  const tokenised = await rate(MESSAGES, async () => {
    for (const text of texts) tokenizer(text, { truncation: true, return_tensor: false });
  });
  console.log(`tokenisation alone: ${tokenised} messages/s`);
  const extract = await pipeline('feature-extraction', MODEL, {
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

  const path = args[0];
  const turns =
    path === undefined
      ? turnsOf(texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content })))
      : turnsOf((await collect(readDialogues(path))).flatMap((dialogue) => dialogue.turns));
  for (const remembered of [0, 4096]) {
    const enricher = createEnricher({ embedder, rememberedVectors: remembered });
    const perSecond = await rate(turns.length, async () => {
      for (let i = 0; i < turns.length; i += 500) await enricher.enrich(turns.slice(i, i + 500));
    });
    console.log(
      `enrich, everything, ${turns.length} messages in batches of 500, ${remembered} vectors remembered: ${perSecond} messages/s`,
    );
  }
  await embedder.close();
  await extract.dispose();
  console.log(`memory at the end: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`);
}
