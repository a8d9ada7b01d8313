/**
 * How fast is a transformer of the hub on this machine? `npm run bench -- hub-models [SHAPE…]`. Makes models of the
 * shapes of well-known ones with random weights, as speed does not depend on what the weights are, and prints
 * messages/s by length and by how many are embedded at once. The model has one thread, and seconds are those of its
 * processor, so that what else runs on the machine matters little.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadEmbedder } from '../src/enrich/embedder.ts';
import { writeTransformer, type TransformerShape } from '../test/support/transformer.ts';

/** Word tables are looked up only: the large ones of multilingual models cost memory, not time. */
const SHAPES: Readonly<Record<string, TransformerShape & { readonly like: string }>> = {
  'minilm-6': {
    like: 'all-MiniLM-L6-v2',
    layers: 6,
    hidden: 384,
    heads: 12,
    inner: 1536,
    positions: 512,
    vocabulary: 30_522,
  },
  'small-12': {
    like: 'multilingual-e5-small, bge-small-en-v1.5, paraphrase-multilingual-MiniLM-L12-v2',
    layers: 12,
    hidden: 384,
    heads: 12,
    inner: 1536,
    positions: 512,
    vocabulary: 30_522,
  },
  'base-12': {
    like: 'multilingual-e5-base, bge-base-en-v1.5, all-mpnet-base-v2',
    layers: 12,
    hidden: 768,
    heads: 12,
    inner: 3072,
    positions: 512,
    vocabulary: 30_522,
  },
};
const WORDS =
  'please could you tell me how i can cancel or change the booking for my hotel room because card payment was declined when we tried to pay online yesterday evening and nobody answers phone'.split(
    ' ',
  );
const LENGTHS = [10, 40] as const;
const AT_ONCE = [1, 32, 256] as const;
/** Of processor time. */
const MEASURE_MS = 3000;

function texts(words: number): string[] {
  return Array.from({ length: 256 }, (_, i) =>
    Array.from({ length: words }, (__, j) => WORDS[(i * 7 + j * 5 + Math.floor(i / 9)) % WORDS.length]).join(
      ' ',
    ),
  );
}

/** Milliseconds of processor time that this process has used. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export async function run(args: readonly string[] = []): Promise<void> {
  const names = args.length > 0 ? args : Object.keys(SHAPES);
  for (const name of names) {
    const shape = SHAPES[name];
    if (shape === undefined) throw new Error(`no shape ${name}: ${Object.keys(SHAPES).join(', ')}`);
    for (const quantised of [true, false]) {
      const folder = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
      try {
        writeTransformer(folder, { ...shape, quantised, words: WORDS });
        const file = join(folder, 'onnx', quantised ? 'model_quantized.onnx' : 'model.onnx');
        const startedAt = processorMs();
        const embedder = await loadEmbedder({ model: folder, modelsDirectory: folder });
        console.log(
          `${name} (${shape.like}), ${quantised ? 'q8' : 'fp32'}, ${(statSync(file).size / 1e6).toFixed(0)} MB: loaded in ${Math.round(processorMs() - startedAt)} ms, in runs of up to ${embedder.batchSize}`,
        );
        for (const words of LENGTHS) {
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
            rates.push(`${Math.round((done / (processorMs() - begin)) * 1000)}/s at ${size}`);
          }
          console.log(`  ${words} words: ${rates.join(', ')}`);
        }
        await embedder.close();
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
  }
}
