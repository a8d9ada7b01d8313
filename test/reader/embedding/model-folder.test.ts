import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { loadEmbedder } from '../../../src/reader/embedding/embedder.ts';
import { readModelFolder } from '../../../src/reader/embedding/model-folder.ts';
import { findModel, modelName, modelNames } from '../../../src/reader/embedding/model-location.ts';
import { SetupError } from '../../../src/errors.ts';
import { writeTransformer, type TransformerOptions } from '../../support/transformer.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-folders-'));
after(() => rmSync(folder, { recursive: true }));

function model(name: string, options: TransformerOptions = {}, files: Record<string, unknown> = {}): string {
  const path = join(folder, name);
  writeTransformer(path, { pooling: null, ...options });
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(path, file), JSON.stringify(content));
  return path;
}

describe("a model's folder", () => {
  const prefixes: readonly [string, string, Record<string, string> | null, string][] = [
    ['says nothing', 'p-plain', null, ''],
    ['is of the E5 family', 'p-multilingual-e5-small', null, 'query: '],
    ['is an E5 that takes instructions', 'p-multilingual-e5-large-instruct', null, ''],
    ['is of the nomic family', 'p-nomic-embed-text-v1.5', null, 'clustering: '],
    ['only sounds alike', 'p-made5-tree5', null, ''],
    ['has prompts for queries and passages', 'p-both', { query: 'query: ', passage: 'passage: ' }, 'query: '],
    ['has a prompt for queries only', 'p-query', { query: 'Represent this: ', document: '' }, ''],
    ['has prompts for what is alike', 'p-alike', { query: 'q: ', Clustering: 'c: ', STS: 's: ' }, 'c: '],
    ['is an E5 with prompts of its own', 'p-e5-other', { query: 'ask: ', document: 'text: ' }, 'ask: '],
  ];
  for (const [what, name, prompts, expected] of prefixes) {
    it(`gives texts the prefix they were trained with when it ${what}`, () => {
      equal(readModelFolder(model(name, { prompts })).prefix, expected);
    });
  }

  it('knows what it was converted from', () => {
    const path = model(
      'renamed',
      {},
      { 'config.json': { model_type: 'bert', _name_or_path: 'intfloat/e5-base' } },
    );
    equal(readModelFolder(path).prefix, 'query: ');
  });

  const poolings: readonly [Record<string, unknown> | null, string, string][] = [
    [null, 'q-anything', 'mean'],
    [null, 'q-bge-small-en-v1.5', 'cls'],
    [null, 'q-qwen3-embedding-0.6b', 'last'],
    [{ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }, 'q-a', 'cls'],
    [{ pooling_mode_cls_token: false, pooling_mode_mean_tokens: true }, 'q-bge-b', 'mean'],
    [{ pooling_mode_max_tokens: true }, 'q-c', 'max'],
    [{ pooling_mode_lasttoken: true }, 'q-d', 'last'],
    [{ pooling_mode: 'mean' }, 'q-e', 'mean'],
    [{ pooling_mode: 'lasttoken' }, 'q-f', 'last'],
  ];
  for (const [pooling, name, expected] of poolings) {
    it(`pools by ${expected} when told ${JSON.stringify(pooling)} (${name})`, async () => {
      const path = model(name, { pooling });
      equal(readModelFolder(path).pooling, expected);
      const embedder = await loadEmbedder({ model: path, modelsDirectory: folder });
      const [vector] = await embedder.embed(['some words']);
      ok(vector?.some((x) => x !== 0));
      await embedder.close();
    });
  }

  it('refuses a pooling that it does not know', () => {
    const both = model('q-two', { pooling: { pooling_mode_cls_token: true, pooling_mode_max_tokens: true } });
    throws(
      () => readModelFolder(both),
      /pooling that is not supported \(pooling_mode_max_tokens \+ .*cls|pooling_mode_cls/,
    );
    throws(() => readModelFolder(model('q-odd', { pooling: { pooling_mode: 'weightedmean' } })), SetupError);
  });

  it('cuts texts at the smallest limit that it names', () => {
    equal(readModelFolder(model('l-a')).maxTokens, 64);
    equal(
      readModelFolder(model('l-b', {}, { 'sentence_bert_config.json': { max_seq_length: 20 } })).maxTokens,
      20,
    );
    const roberta = { 'config.json': { model_type: 'xlm-roberta', max_position_embeddings: 42 } };
    equal(readModelFolder(model('l-c', {}, roberta)).maxTokens, 40);
  });

  it('refuses a model whose vectors need a layer that is not there', async () => {
    const modules = [{ type: 'sentence_transformers.models.Dense' }];
    const path = model('dense', {}, { 'modules.json': modules });
    await rejects(loadEmbedder({ model: path, modelsDirectory: folder }), /need a dense layer/);
  });

  it('finds weights that lie in several files', async () => {
    const path = model('parted');
    writeFileSync(join(path, 'onnx/model.onnx_data'), '');
    writeFileSync(join(path, 'onnx/model.onnx_database'), '');
    deepEqual(readModelFolder(path).parts, ['model.onnx_data']);
  });

  it('gives another id when the same weights are used in another way', async () => {
    const ids: string[] = [];
    for (const [name, options] of [
      ['one', {}],
      ['two', {}],
      ['three', { prompts: { STS: 'like: ' } }],
      ['four', { pooling: { pooling_mode_cls_token: true } }],
    ] as const) {
      mkdirSync(join(folder, name));
      const path = join(folder, name, 'same');
      renameSync(model(`made-${name}`, options), path);
      const embedder = await loadEmbedder({ model: path, modelsDirectory: folder });
      ids.push(embedder.id);
      await embedder.close();
    }
    equal(ids[0], ids[1]);
    equal(new Set(ids).size, 3);
  });
});

describe('the models of a directory', () => {
  it('are found by name, by hub id and by path, and named for EMBEDDING_MODEL', () => {
    const models = join(folder, 'models');
    for (const name of ['own', 'acme/tiny']) writeTransformer(join(models, name));
    mkdirSync(join(models, 'train'));
    mkdirSync(join(models, '.incoming/half/model'), { recursive: true });
    deepEqual(modelNames(models), ['acme/tiny', 'own']);
    const outside = model('outside');
    for (const [given, name] of [
      ['own', 'own'],
      ['acme/tiny', 'acme/tiny'],
      [join(models, 'acme/tiny'), 'acme/tiny'],
      [outside, outside],
    ] as const)
      equal(modelName(findModel({ model: given, modelsDirectory: models }), models), name);
    throws(
      () => findModel({ model: 'acme/other', modelsDirectory: models }),
      (error: Error) => {
        match(error.message, /there: acme\/tiny, own\); "npm run models -- pull acme\/other" fetches one/);
        return true;
      },
    );
  });
});

describe('a transformer', () => {
  it('is made the same from the same seed', async () => {
    const ids = [];
    for (const [parent, seed] of [
      ['s1', 7],
      ['s2', 7],
      ['s3', 8],
    ] as const) {
      const embedder = await loadEmbedder({
        model: model(`${parent}/tiny`, { seed }),
        modelsDirectory: folder,
      });
      ids.push(embedder.id);
      await embedder.close();
    }
    equal(ids[0], ids[1]);
    ok(ids[0] !== ids[2]);
  });

  for (const quantised of [false, true]) {
    const way = quantised ? 'one by one where activations are quantised' : 'together where it may';
    it(`gives bit-equal vectors in any batch, ${way}`, async () => {
      const path = model(`batch-${quantised}`, { quantised });
      const embedder = await loadEmbedder({ model: path, modelsDirectory: folder });
      equal(embedder.batchSize === 1, quantised);
      const texts = Array.from(
        { length: 300 },
        (_, i) => 'where is my parcel now please tell me'.slice(0, 5 + ((i * 7) % 32)) + (i % 3),
      );
      const whole = await embedder.embed(texts);
      for (const size of [1, 32, 256]) {
        const made: Float32Array[] = [];
        for (let i = 0; i < texts.length; i += size)
          made.push(...(await embedder.embed(texts.slice(i, i + size))));
        deepEqual(made, whole, `batches of ${size}`);
      }
      await embedder.close();
    });
  }

  it('knows a text of which nothing is left', async () => {
    const embedder = await loadEmbedder({ model: model('v-e5-x'), modelsDirectory: folder });
    const [empty, blank, word] = await embedder.embed(['', '  \n', 'word']);
    ok(empty?.every((x) => x === 0));
    ok(blank?.every((x) => x === 0));
    ok(word?.some((x) => x !== 0));
    await embedder.close();
  });
});
