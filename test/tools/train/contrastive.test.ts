import { deepEqual, equal, notDeepEqual, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mistype, trainTable, type ContrastiveOptions } from '../../../tools/train/contrastive.ts';
import type { Source } from '../../../tools/train/embedding-data.ts';
import { DIMENSIONS, encodeTable, writeModel } from '../../../tools/train/embedding.ts';
import { Pieces, preTokensOf } from '../../../tools/train/pieces.ts';
import { Random, WeightedChoice } from '../../../tools/train/random.ts';
import { trainVocabulary } from '../../../tools/train/vocabulary.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';

/** Two requests in wordings that share no word but fillers. */
const PARCEL = [
  'my parcel is late',
  'where is the package',
  'the delivery is missing',
  'when comes my shipment',
];
const LOGIN = ['i forgot my password', 'where do i sign in', 'the account is locked', 'when can i log on'];
const TEXTS = [...PARCEL, ...LOGIN];
const SOURCES: readonly Source[] = [
  {
    kind: 'groups',
    name: 'requests',
    weight: 3,
    groups: [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ],
  },
  {
    kind: 'pairs',
    name: 'pairs',
    weight: 1,
    pairs: [
      [0, 1],
      [4, 5],
    ],
  },
];
const OPTIONS: ContrastiveOptions = {
  dimensions: DIMENSIONS,
  steps: 60,
  batch: 16,
  learningRate: 3e-3,
  temperature: 0.06,
  pieceDropout: 0.1,
  parting: 0.1,
  typing: 0.1,
  maxPieces: 20,
  seed: 5,
};

function vocabulary(): Pieces {
  const counts = new Map<string, number>();
  for (const word of TEXTS.flatMap(preTokensOf)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Pieces(
    trainVocabulary(counts, {
      size: 200,
      minCharacterCount: 1,
      minPairCount: 1,
      characters: 'abcdefghijklmnopqrstuvwxyz',
    }),
  );
}

function randomTable(pieces: Pieces): Float32Array {
  const random = new Random(1);
  return Float32Array.from({ length: pieces.list.length * DIMENSIONS }, () => random.normal() / 16);
}

function trained(options: Partial<ContrastiveOptions> = {}): { pieces: Pieces; table: Float32Array } {
  const pieces = vocabulary();
  const table = randomTable(pieces);
  trainTable(table, pieces, TEXTS, SOURCES, { ...OPTIONS, ...options });
  return { pieces, table };
}

describe('contrastive training', () => {
  it('gives the same bits with the same seed, others with another', () => {
    const { table } = trained();
    deepEqual(Buffer.from(trained().table.buffer), Buffer.from(table.buffer));
    notDeepEqual(trained({ seed: 6 }).table, table);
  });

  it('brings together what stands in the same texts when it learns from their halves', () => {
    const pieces = vocabulary();
    const table = randomTable(pieces);
    const apart = (): number => {
      const cosine = (a: string, b: string): number => {
        const [x, y] = [a, b].map((word) => pieces.ofWord(word)[0]! * DIMENSIONS);
        let [product, xx, yy] = [0, 0, 0];
        for (let i = 0; i < DIMENSIONS; i += 1) {
          product += table[x! + i]! * table[y! + i]!;
          xx += table[x! + i]! ** 2;
          yy += table[y! + i]! ** 2;
        }
        return product / Math.sqrt(xx * yy);
      };
      return cosine('parcel', 'late') + cosine('account', 'locked') - 2 * cosine('parcel', 'locked');
    };
    const before = apart();
    const halves: Source = { kind: 'halves', name: 'halves', weight: 1, list: TEXTS.map((_, i) => i) };
    trainTable(table, pieces, TEXTS, [halves], { ...OPTIONS, steps: 300 });
    ok(apart() > before + 0.4, `${before}, ${apart()}`);
  });

  it('follows the slope of the loss', () => {
    // One step moves every touched number by the rate against its gradient's sign: the loss must fall.
    const losses: number[] = [];
    const pieces = vocabulary();
    trainTable(randomTable(pieces), pieces, TEXTS, SOURCES.slice(1), {
      ...OPTIONS,
      pieceDropout: 0,
      parting: 0,
      typing: 0,
      steps: 1000,
      onProgress: (_, loss) => losses.push(loss),
    });
    equal(losses.length, 2);
    ok(losses[1]! < 0.05 && losses[1]! < losses[0]!, String(losses));
  });
});

describe('the written model', () => {
  let folder: string;
  let embedder: Embedder;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'model-'));
    const { pieces, table } = trained({ steps: 200 });
    writeModel(folder, pieces, table);
    embedder = await loadEmbedder({ model: folder, modelsDirectory: folder });
  });
  after(async () => {
    await embedder.close();
    rmSync(folder, { recursive: true });
  });

  it('loads through transformers.js and puts wordings of one request together', async () => {
    const vectors = await embedder.embed(TEXTS);
    equal(embedder.dimensions, DIMENSIONS);
    const cosine = (a: number, b: number): number =>
      vectors[a]!.reduce((sum, value, i) => sum + value * vectors[b]![i]!, 0);
    for (let a = 0; a < 4; a += 1)
      for (let b = 0; b < 4; b += 1) ok(cosine(a, b) > cosine(a, 4 + b) + 0.2, `${TEXTS[a]} / ${TEXTS[b]}`);
  });

  it('is written the same every time', () => {
    const { pieces, table } = trained();
    deepEqual(encodeTable(table, pieces.list.length), encodeTable(trained().table, pieces.list.length));
  });
});

describe('reproducible chance', () => {
  it('draws by weight', () => {
    const random = new Random(3);
    const choice = new WeightedChoice([1, 0, 3]);
    const counts = [0, 0, 0];
    for (let i = 0; i < 4000; i += 1) counts[choice.draw(random)]! += 1;
    equal(counts[1], 0);
    ok(Math.abs(counts[2]! / counts[0]! - 3) < 0.4, String(counts));
  });

  it('is even and normal enough', () => {
    const random = new Random(9);
    let [sum, squares] = [0, 0];
    for (let i = 0; i < 20_000; i += 1) {
      const value = random.normal();
      sum += value;
      squares += value * value;
    }
    ok(Math.abs(sum / 20_000) < 0.03 && Math.abs(squares / 20_000 - 1) < 0.05);
  });

  it('mistypes words of four letters and more, never the first letter', () => {
    const random = new Random(4);
    let wrong = 0;
    for (let i = 0; i < 100; i += 1) {
      const word = mistype('cancel', random);
      equal(word[0], 'c');
      if (word !== 'cancel') wrong += 1;
    }
    ok(wrong > 80);
    equal(mistype('the', random), 'the');
    equal(mistype('b2b4', random), 'b2b4');
  });
});
