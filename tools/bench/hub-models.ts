/** How fast is a transformer of the hub on this machine? */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { action, UsageError, type Command } from '../../src/cli/command.ts';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { processorMs } from './load/ratios.ts';
import {
  writeTransformer,
  type TokenizerKind,
  type TransformerKind,
  type TransformerShape,
} from '../../test/support/transformer.ts';
import { WORDS } from './load/words.ts';

interface Shape extends TransformerShape {
  readonly like: string;
  readonly kind?: TransformerKind;
  readonly tokenizer?: TokenizerKind;
  /** Left out where weights of four bytes are more than anyone would take for it. */
  readonly quantisedOnly?: boolean;
}

/** Measured in the same way beside them. */
const DEFAULT = 'undertone-small';
const SMALL = { hidden: 384, heads: 12, inner: 1536, positions: 512 } as const;
const BASE = { hidden: 768, heads: 12, inner: 3072, positions: 512 } as const;
const SHAPES: Readonly<Record<string, Shape>> = {
  'minilm-6': { like: 'all-MiniLM-L6-v2', layers: 6, ...SMALL, vocabulary: 30_522 },
  'small-12': {
    like: 'bge-small-en-v1.5, all-MiniLM-L12-v2',
    layers: 12,
    ...SMALL,
    vocabulary: 30_522,
  },
  'multilingual-small-12': {
    like: 'multilingual-e5-small, paraphrase-multilingual-MiniLM-L12-v2',
    layers: 12,
    ...SMALL,
    vocabulary: 250_037,
    tokenizer: 'unigram',
    quantisedOnly: true,
  },
  'base-12': {
    like: 'bge-base-en-v1.5, all-mpnet-base-v2',
    layers: 12,
    ...BASE,
    vocabulary: 30_522,
    quantisedOnly: true,
  },
  'multilingual-base-12': {
    like: 'multilingual-e5-base',
    layers: 12,
    ...BASE,
    vocabulary: 250_002,
    kind: 'xlm-roberta',
    quantisedOnly: true,
  },
};
/** Words of each message. Texts of one length run together, so that of equal ones more are done than of mixed ones. */
const LENGTHS: Readonly<Record<string, (i: number) => number>> = {
  // As in support chats: mostly short, some long; 13 on average.
  'mixed lengths': (i) => (i % 10 === 9 ? 40 : 3 + ((i * 7) % 15)),
  '10 words': () => 10,
  '40 words': () => 40,
};
const AT_ONCE = [1, 32, 256] as const;
/** Of processor time. */
const MEASURE_MS = 3000;

function texts(words: (i: number) => number): string[] {
  return Array.from({ length: 256 }, (_, i) =>
    Array.from(
      { length: words(i) },
      (__, j) => WORDS[(i * 7 + j * 5 + Math.floor(i / 9)) % WORDS.length],
    ).join(' '),
  );
}

const USAGE = `Usage: npm run bench -- hub-models [SHAPE…]

How fast is a transformer of the hub on this machine? Makes models of the shapes of well-known ones with random weights
(speed does not depend on the weights), and prints messages/s by length and batch size, load time and memory; also for
the default model. A model has one thread, and seconds are processor time, so other work on the machine matters little.

  --in FOLDER   measure the model in this folder in this process, as is done for each shape

Shapes: ${[DEFAULT, ...Object.keys(SHAPES)].join(', ')}`;

export const command: Command = {
  usage: USAGE,
  action: action({
    options: {
      in: { type: 'string' },
    },
    operands: Infinity,
    read({ in: folder }, names) {
      const unknown = names.filter((name) => name !== DEFAULT && !Object.hasOwn(SHAPES, name));
      if (unknown.length > 0) throw new UsageError(`There is no shape ${unknown.join(', ')}.`);
      return () => (folder === undefined ? measureAll(names) : measure(folder));
    },
  }),
};

async function measureAll(chosen: readonly string[]): Promise<void> {
  const names = chosen.length > 0 ? chosen : [DEFAULT, ...Object.keys(SHAPES)];
  for (const name of names) {
    if (name === DEFAULT) {
      const path = resolve(import.meta.dirname, '../../models', DEFAULT);
      console.log(`${DEFAULT} (the default), ${megabytes(path)}`);
      inItsOwnProcess(path);
      continue;
    }
    const shape = SHAPES[name];
    if (shape === undefined) continue;
    for (const quantised of shape.quantisedOnly === true ? [true] : [true, false]) {
      const path = mkdtempSync(join(tmpdir(), 'undertone-bench-'));
      try {
        writeTransformer(path, { ...shape, quantised, words: WORDS });
        console.log(`${name} (${shape.like}), ${quantised ? 'q8' : 'fp32'}, ${megabytes(path)}`);
        inItsOwnProcess(path);
      } finally {
        rmSync(path, { recursive: true });
      }
    }
  }
}

function megabytes(folder: string): string {
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** So that the memory is the model's. */
function inItsOwnProcess(folder: string): void {
  const { status } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'run.ts'), 'hub-models', '--in', folder],
    { stdio: 'inherit' },
  );
  if (status !== 0) throw new Error(`measuring ${folder} failed`);
}

async function measure(folder: string): Promise<void> {
  const before = process.memoryUsage.rss();
  const startedAt = processorMs();
  const embedder = await loadEmbedder({ model: folder, modelsDirectory: folder });
  console.log(
    `  loaded in ${Math.round(processorMs() - startedAt)} ms of processor time, in runs of up to ${embedder.batchSize}`,
  );
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
      rates.push(`${Math.round((done / (processorMs() - begin)) * 1000)}/s at ${size}`);
    }
    console.log(`  ${name}: ${rates.join(', ')}`);
  }
  const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
  console.log(
    `  memory: ${mebibytes(process.memoryUsage.rss() - before)} MiB more than before, at most ` +
      `${mebibytes(process.resourceUsage().maxRSS * 1024)} MiB in all`,
  );
  await embedder.close();
}
