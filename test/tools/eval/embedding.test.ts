import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sifVectors, tfIdf } from '../../../tools/eval/baseline-vectors.ts';
import { evaluation } from '../../../tools/eval/embedding.ts';

const MODEL = 'undertone-small';

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

describe('the vectors to compare with', () => {
  const texts = [
    'the refund of my order',
    'the refund for the order',
    'the weather in the city',
    'the the the',
  ];

  it('are of unit length, near for shared rare words, far without', async () => {
    for (const method of [sifVectors(texts), tfIdf(texts)]) {
      const [a, b, c] = await method.embed(texts);
      ok(Math.abs(cosine(a!, a!) - 1) < 1e-5, method.name);
      ok(cosine(a!, b!) > cosine(a!, c!) + 0.2, method.name);
    }
  });

  it('are zeros for a text without words', async () => {
    const [vector] = await tfIdf(texts).embed(['?!']);
    deepEqual(vector, new Float32Array(1024));
  });
});

describe('the embedding evaluation', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'eval-embedding-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('takes any file of the intents format', async () => {
    const file = join(folder, 'mine.jsonl');
    const wordings = {
      refund: ['refund my order', 'i want my money back', 'when is the refund paid', 'give me a refund'],
      password: [
        'reset my password',
        'i forgot the password',
        'new password please',
        'password does not work',
      ],
    };
    const lines = Object.entries(wordings).flatMap(([intent, list]) =>
      list.flatMap((text) =>
        ['', ' today', ' please help'].map((ending) => JSON.stringify({ text: text + ending, intent })),
      ),
    );
    writeFileSync(file, lines.join('\n'));
    const [table, ...others] = await evaluation.run({
      dataDirectory: folder,
      file,
      modelsDirectory: resolve(import.meta.dirname, '../../../models'),
      model: MODEL,
    });
    equal(others.length, 0);
    deepEqual(
      table!.rows.map((row) => [row[0], row[1], row[8], row[9]]),
      [
        ['mine.jsonl', MODEL, 2, 24],
        ['mine.jsonl', 'random SIF', 2, 24],
        ['mine.jsonl', 'TF-IDF', 2, 24],
      ],
    );
    ok(
      table!.rows.every((row) =>
        row.slice(2, 8).every((cell) => typeof cell === 'number' && cell >= 0 && cell <= 1),
      ),
    );
    ok(Number(table!.rows[0]![5]) > 0.9, 'nearest neighbours');
  });
});
