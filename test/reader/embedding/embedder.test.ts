import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SetupError } from '../../../src/errors.ts';
import { loadEmbedder, type Embedder } from '../../../src/reader/embedding/embedder.ts';

const models = resolve(import.meta.dirname, '../../../models');
const folder = mkdtempSync(join(tmpdir(), 'undertone-models-'));
after(() => rmSync(folder, { recursive: true }));

/** 600 texts of 1 to about 60 words, many lengths, several scripts. */
function texts(): string[] {
  const words =
    'please cancel my booking for tomorrow because the train to Köln was late 你好 где мой заказ refund £20 …'.split(
      ' ',
    );
  return Array.from({ length: 600 }, (_, i) =>
    Array.from({ length: 1 + ((i * 7) % 60) }, (_, j) => words[(i * 13 + j * 5) % words.length]).join(' '),
  );
}

function dot(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return (a ?? new Float32Array()).reduce((sum, x, i) => sum + x * (b?.[i] ?? 0), 0);
}

describe('the default model', () => {
  let embedder: Embedder;
  before(async () => {
    embedder = await loadEmbedder({ model: 'undertone-small', modelsDirectory: models });
  });
  after(() => embedder.close());

  it('gives bit-equal vectors in batches of 1, 32, 256 and all at once', async () => {
    const all = texts();
    const whole = await embedder.embed(all);
    for (const size of [1, 32, 256]) {
      const made: Float32Array[] = [];
      for (let i = 0; i < all.length; i += size) made.push(...(await embedder.embed(all.slice(i, i + size))));
      deepEqual(made.map(bits), whole.map(bits), `batches of ${size}`);
    }
  });

  it('gives unit vectors of its dimensions, nearer for the same meaning', async () => {
    const [a, b, c] = await embedder.embed([
      'I want to cancel my booking',
      'cancel my reservation please',
      'play jazz',
    ]);
    equal(a?.length, embedder.dimensions);
    ok(Math.abs(dot(a, a) - 1) < 1e-5);
    ok(dot(a, b) > dot(a, c) + 0.2);
  });

  it('takes any text: empty ones become zeros, endless ones are cut, broken ones are mended', async () => {
    const odd = ['', '   ', '\ud800', '\u0000', '🙂'.repeat(50), 'word '.repeat(100_000), 'x'.repeat(50_000)];
    const vectors = await embedder.embed(odd);
    equal(vectors.length, odd.length);
    for (const vector of vectors) {
      equal(vector.length, embedder.dimensions);
      ok(vector.every((x) => Number.isFinite(x)));
    }
    ok(vectors[0]?.every((x) => x === 0));
    deepEqual(await embedder.embed([]), []);
  });

  it('brings its own thresholds', () => {
    const { micro, topic, cluster, repeated } = embedder.thresholds;
    ok(micro > repeated && repeated > topic && topic > cluster);
  });

  it('has an id that follows the weights', async () => {
    const copy = join(folder, 'undertone-small');
    cpSync(join(models, 'undertone-small'), copy, { recursive: true });
    const same = await loadEmbedder({ model: copy, modelsDirectory: models });
    equal(same.id, embedder.id);
    writeFileSync(join(copy, 'thresholds.json'), '{"micro":0.8,"topic":0.5,"cluster":0.3,"repeated":0.6}');
    const other = await loadEmbedder({ model: copy, modelsDirectory: models });
    ok(other.id !== embedder.id);
    equal(other.thresholds.micro, 0.8);
    rmSync(join(copy, 'thresholds.json'));
    const calibrated = await loadEmbedder({ model: copy, modelsDirectory: models });
    ok(calibrated.thresholds.background !== undefined && embedder.thresholds.background === undefined);
    for (const key of ['micro', 'topic', 'cluster', 'repeated'] as const) {
      ok(Math.abs(calibrated.thresholds[key] - embedder.thresholds[key]) < 0.05, key);
    }
  });
});

describe('a model that cannot be used', () => {
  const broken = (name: string, breakIt: (path: string) => void): string => {
    const path = join(folder, name);
    cpSync(join(models, 'undertone-small'), path, { recursive: true });
    breakIt(path);
    return path;
  };
  const cases: readonly [string, () => string, RegExp][] = [
    ['is absent', () => 'no-such-model', /no embedding model "no-such-model".*there: undertone-small/],
    [
      'has no weights',
      () => broken('w', (path) => rmSync(join(path, 'onnx'), { recursive: true })),
      /has no weights/,
    ],
    [
      'has cut weights',
      () => broken('c', (path) => truncateSync(join(path, 'onnx/model_quantized.onnx'), 5000)),
      /cannot be used/,
    ],
    [
      'has no tokenizer',
      () => broken('t', (path) => rmSync(join(path, 'tokenizer.json'))),
      /has no tokenizer.json/,
    ],
    [
      'has a broken tokenizer',
      () => broken('b', (path) => writeFileSync(join(path, 'tokenizer.json'), '{"model"')),
      /cannot be used/,
    ],
    [
      'has a broken config',
      () => broken('k', (path) => writeFileSync(join(path, 'config.json'), '[')),
      /config.json is not usable/,
    ],
    [
      'has wrong thresholds',
      () => broken('h', (path) => writeFileSync(join(path, 'thresholds.json'), '{"micro":7}')),
      /thresholds.json is not usable \(micro/,
    ],
    [
      'is an empty folder',
      () => {
        mkdirSync(join(folder, 'e'));
        return join(folder, 'e');
      },
      /no embedding model/,
    ],
  ];
  for (const [what, make, message] of cases) {
    it(`says in one line what to do when it ${what}`, async () => {
      await rejects(loadEmbedder({ model: make(), modelsDirectory: models }), (error) => {
        ok(error instanceof SetupError);
        ok(!error.message.includes('\n'));
        ok(message.test(error.message), error.message);
        return true;
      });
    });
  }
});

function bits(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('hex');
}
