import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { listModels, nameOf } from '../../../src/doors/hub/catalog.ts';
import { vectorFaults } from '../../../src/doors/hub/pull.ts';
import { loadEmbedder } from '../../../src/reader/embedding/embedder.ts';
import { writeTransformer } from '../../support/transformer.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-models-'));
after(() => rmSync(folder, { recursive: true }));
const shipped = resolve(import.meta.dirname, '../../../models');

describe('the vectors of a model', () => {
  it('are fit for use where it ships', async () => {
    const embedder = await loadEmbedder({ model: 'undertone-small', modelsDirectory: shipped });
    deepEqual(await vectorFaults(embedder), []);
    await embedder.close();
  });

  it('are of no use where they are not of one length, of unit length, or the same for all', async () => {
    const giving = (vectors: (i: number) => Float32Array) => ({
      dimensions: 2,
      embed: (texts: readonly string[]) => Promise.resolve(texts.map((_, i) => vectors(i))),
    });
    deepEqual(await vectorFaults(giving(() => Float32Array.of(1, 0))), [
      'different texts have the same vector',
    ]);
    deepEqual(await vectorFaults(giving((i) => Float32Array.of(i, 1))), [
      'its vectors are not of unit length',
    ]);
    deepEqual(await vectorFaults(giving((i) => Float32Array.of(NaN, i))), [
      'its vectors are not of unit length',
    ]);
    deepEqual(await vectorFaults(giving((i) => new Float32Array(i + 1).fill(1 / Math.sqrt(i + 1)))), [
      'its vectors have different lengths',
    ]);
    deepEqual(await vectorFaults(giving((i) => Float32Array.of(Math.cos(i), Math.sin(i)))), []);
  });
});

describe('the catalogue', () => {
  it('shows what is there, what is in use, and why one cannot be used', () => {
    const models = join(folder, 'models');
    cpSync(join(shipped, 'undertone-small'), join(models, 'undertone-small'), { recursive: true });
    writeTransformer(join(models, 'acme/tiny-e5'));
    writeTransformer(join(models, 'half'));
    rmSync(join(models, 'half/onnx/model.onnx'));
    writeTransformer(join(folder, 'elsewhere'));
    writeFileSync(
      join(folder, 'elsewhere/thresholds.json'),
      '{"micro":0.8,"topic":0.5,"cluster":0.3,"repeated":0.6}',
    );
    const entries = listModels(models, 'acme/tiny-e5');
    deepEqual(
      entries.map(({ name, dimensions, hasThresholds, prefix }) => [name, dimensions, hasThresholds, prefix]),
      [
        ['acme/tiny-e5', 32, false, 'query: '],
        ['half', null, undefined, ''],
        ['undertone-small', 256, true, ''],
      ],
    );
    match(entries[1]?.fault ?? '', /has no weights/);
    ok((entries[2]?.bytes ?? 0) > 8_000_000);
    const elsewhere = join(folder, 'elsewhere');
    const outside = listModels(models, elsewhere).find(({ name }) => name === elsewhere);
    deepEqual([outside?.hasThresholds, outside?.fault], [true, null]);
    equal(nameOf(join(models, 'half'), models), 'half');
    const gone = listModels(models, 'acme/gone').find(({ name }) => name === 'acme/gone');
    match(gone?.fault ?? '', /no embedding model "acme\/gone"/);
  });
});
