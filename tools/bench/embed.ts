/** How fast are vectors, beside the library's own pipeline? */
import { basename, dirname, join, resolve } from 'node:path';
import { env, pipeline, type FeatureExtractionPipeline } from '../../src/reader/embedding/transformers.ts';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { benchmark } from './load/benchmark.ts';
import { processorMs, timesFaster, type Ratios } from './load/ratios.ts';
import { table } from './load/table.ts';
import { WORDS } from './load/words.ts';

const MODELS = resolve(import.meta.dirname, '../../models');
const DEFAULT_MODEL = join(MODELS, 'undertone-small');
/** Words of each message. Texts of one length run together, so that of equal ones more are done than of mixed ones. */
const LENGTHS: Readonly<Record<string, (index: number) => number>> = {
  // As in support chats: mostly short, some long; 13 on average.
  'mixed lengths': (index) => (index % 10 === 9 ? 40 : 3 + ((index * 7) % 15)),
  '10 words': () => 10,
  '40 words': () => 40,
};
const AT_ONCE = [1, 32, 256] as const;
/** Of processor time. */
const MEASURE_MS = 3000;

const USAGE = `Usage: npm run bench -- embed [OPTIONS]

How fast are vectors? Prints load time and memory, and messages/s of processor time by batch size and length, on one
thread. The alternative, in the same run: the library's own pipeline() with pooling in JavaScript, in batches of 32.

  --in FOLDER   a model of its own, without the alternative (default: models/undertone-small)`;

function texts(words: (index: number) => number): string[] {
  return Array.from({ length: 256 }, (_, i) =>
    Array.from(
      { length: words(i) },
      (__, j) => WORDS[(i * 7 + j * 5 + Math.floor(i / 9)) % WORDS.length],
    ).join(' '),
  );
}

function openPipeline(): Promise<FeatureExtractionPipeline> {
  env.allowRemoteModels = false;
  env.localModelPath = dirname(DEFAULT_MODEL);
  return pipeline('feature-extraction', basename(DEFAULT_MODEL), {
    dtype: 'q8',
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
}

/** How many times more messages a second than the library's own pipeline. */
export const ratios: Ratios = async ({ times }) => {
  const embedder = await loadEmbedder({ model: DEFAULT_MODEL, modelsDirectory: MODELS });
  const extract = await openPipeline();
  const all = texts(LENGTHS['mixed lengths'] as (index: number) => number).slice(0, 32);
  const samples: number[] = [];
  while (samples.length < times)
    samples.push(
      await timesFaster(
        () => embedder.embed(all),
        () => extract(all, { pooling: 'mean', normalize: true }),
      ),
    );
  await embedder.close();
  await extract.dispose();
  return { 'embedder over pipeline()': samples };
};

export const command = benchmark(USAGE, { in: '' }, async (options) => {
  const model = options.in === '' ? DEFAULT_MODEL : options.in;
  const before = process.memoryUsage.rss();
  const startedAt = processorMs();
  const embedder = await loadEmbedder({ model, modelsDirectory: model });
  const loadMs = Math.round(processorMs() - startedAt);
  console.log(`loaded in ${loadMs} ms of processor time, in runs of up to ${embedder.batchSize}`);
  const rows: string[][] = [];
  for (const [name, words] of Object.entries(LENGTHS)) {
    const all = texts(words);
    const rates: string[] = [];
    for (const size of AT_ONCE) {
      await embedder.embed(all.slice(0, 8));
      const begin = processorMs();
      let done = 0;
      while (processorMs() - begin < MEASURE_MS) {
        const at = done % all.length;
        done += (await embedder.embed(all.slice(at, at + size))).length;
      }
      rates.push(Math.round((done / (processorMs() - begin)) * 1000).toString());
    }
    rows.push([name, ...rates]);
  }
  console.log(table(['messages/s', ...AT_ONCE.map((size) => `${size} at once`)], rows));
  const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
  console.log(
    `memory: ${mebibytes(process.memoryUsage.rss() - before)} MiB more than before, at most ` +
      `${mebibytes(process.resourceUsage().maxRSS * 1024)} MiB in all`,
  );
  await embedder.close();
  if (options.in !== '') return;
  for (const [name, [faster = 0]] of Object.entries(await ratios({ times: 1, keep: '' })))
    console.log(`${name}: ${faster.toFixed(1)} × as fast`);
});
