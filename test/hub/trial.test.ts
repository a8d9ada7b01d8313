import { deepEqual, equal, ok } from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { listModels } from '../../src/hub/catalog.ts';
import { tryModel, vectorFaults } from '../../src/hub/trial.ts';
import { writeTransformer } from '../support/transformer.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-trial-'));
after(() => rmSync(folder, { recursive: true }));
const shipped = resolve(import.meta.dirname, '../../models');

describe('trying a model', () => {
  it('finds the one that ships fit for use, and that it knows English better than Chinese', async () => {
    const trial = await tryModel({ model: 'undertone-small', modelsDirectory: shipped, measureMs: 5 });
    deepEqual(trial.faults, []);
    equal(trial.embedder.batchSize, 64);
    equal(trial.speeds.length, 6);
    ok(trial.speeds.every(({ messagesPerSecond }) => messagesPerSecond > 0));
    const of = (language: string): number => trial.languages.find((l) => l.language === language)?.same ?? 0;
    ok(of('de') > of('zh'));
    ok(trial.languages.every(({ different }) => different < 0.5));
    await trial.embedder.close();
  });

  it('sees vectors that are of no use', async () => {
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
    deepEqual(await vectorFaults(giving(() => Float32Array.of(NaN, 1))), [
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
    const list = (inUse: string) =>
      listModels({ modelsDirectory: models, inUse, byDefault: 'undertone-small' });
    const entries = list('acme/tiny-e5');
    deepEqual(
      entries.map(({ name, inUse, isDefault, dimensions, thresholds, prefix }) => [
        name,
        inUse,
        isDefault,
        dimensions,
        thresholds,
        prefix,
      ]),
      [
        ['acme/tiny-e5', true, false, 32, 'calibrated', 'query: '],
        ['half', false, false, null, 'calibrated', ''],
        ['undertone-small', false, true, 256, 'card', ''],
      ],
    );
    ok(/has no weights/.test(entries[1]?.fault ?? ''));
    ok((entries[2]?.bytes ?? 0) > 8_000_000);
    const outside = list(join(folder, 'elsewhere')).find(({ inUse }) => inUse);
    deepEqual(
      [outside?.name, outside?.thresholds, outside?.fault],
      [join(folder, 'elsewhere'), 'card', null],
    );
    const gone = list('acme/gone').find(({ inUse }) => inUse);
    ok(/no embedding model "acme\/gone"/.test(gone?.fault ?? ''));
  });
});
