/** How fast is a transformer of the hub on this machine? */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { benchmark } from './load/benchmark.ts';
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
const USAGE = `Usage: npm run bench -- hub-models [SHAPE…]

How fast is a transformer of the hub on this machine? Makes models of the shapes of well-known ones with random weights
(speed does not depend on the weights), and prints messages/s by length and batch size, load time and memory; also for
the default model, which is the alternative. A model has one thread, and seconds are processor time, so other work on the
machine matters little. npm run bench -- embed --in FOLDER does the same for a model of yours.

Shapes: ${[DEFAULT, ...Object.keys(SHAPES)].join(', ')}`;

export const command = benchmark(
  USAGE,
  {},
  async (_, names) => {
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
  },
  () => [DEFAULT, ...Object.keys(SHAPES)],
);

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
    [join(import.meta.dirname, 'run.ts'), 'embed', '--in', folder],
    { stdio: 'inherit' },
  );
  if (status !== 0) throw new Error(`measuring ${folder} failed`);
}
