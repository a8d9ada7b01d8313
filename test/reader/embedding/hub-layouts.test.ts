/** Transformers as the hub has them, with each kind of tokenizer, beside the library's own pipeline with padding. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AutoTokenizer, env, pipeline } from '../../../src/reader/embedding/transformers.ts';
import { loadEmbedder, type LoadedEmbedder } from '../../../src/reader/embedding/embedder.ts';
import { vectorFaults } from '../../../src/doors/hub/pull.ts';
import { writeTransformer, type TransformerOptions } from '../../support/transformer.ts';

const folder = mkdtempSync(join(tmpdir(), 'undertone-layouts-'));
after(() => rmSync(folder, { recursive: true }));

const WORDS =
  'i want to cancel my order where is parcel please forgot password what will the weather be'.split(' ');
const TEXTS = [
  'I want to cancel my order',
  'Where is my parcel?',
  'please',
  'я забыл пароль',
  'Wie wird das Wetter morgen in Köln,  und übermorgen?',
  'what will the weather be please '.repeat(8),
  '你好',
  'parcel '.repeat(200),
];
/** Sums of the same numbers in another order: with padding, and without. */
const TOLERANCE = 1e-5;

const LAYOUTS: readonly {
  readonly name: string;
  readonly like: string;
  readonly options: TransformerOptions;
  readonly prefix: string;
  /** Ids before and after every text. */
  readonly around: readonly [number, number];
}[] = [
  {
    name: 'tiny-minilm',
    like: 'all-MiniLM-L6-v2: BERT, WordPiece',
    options: { kind: 'bert' },
    prefix: '',
    around: [2, 3],
  },
  {
    name: 'multilingual-e5-base-tiny',
    like: 'multilingual-e5-base: XLM-RoBERTa, Unigram',
    options: { kind: 'xlm-roberta', pooling: null },
    prefix: 'query: ',
    around: [0, 2],
  },
  {
    name: 'paraphrase-multilingual-tiny',
    like: 'paraphrase-multilingual-MiniLM-L12-v2: BERT, Unigram',
    options: { kind: 'bert', tokenizer: 'unigram' },
    prefix: '',
    around: [0, 2],
  },
  {
    name: 'modernbert-tiny',
    like: 'ModernBERT: byte-level BPE, no token types',
    options: { kind: 'modernbert', prompts: { clustering: 'clustering: ', query: 'search_query: ' } },
    prefix: 'clustering: ',
    around: [2, 3],
  },
];

for (const { name, like, options, prefix, around } of LAYOUTS) {
  describe(`a model like ${like}`, () => {
    const path = join(folder, name);
    let embedder: LoadedEmbedder;
    before(async () => {
      // A length beyond the positions there are, as tokenizer_config.json often has it.
      writeTransformer(path, { words: WORDS, positions: 96, modelMaxLength: 1e30, ...options });
      // With thresholds of its own, its vectors are as it gives them.
      writeFileSync(join(path, 'thresholds.json'), '{"micro":0.8,"topic":0.5,"cluster":0.3,"repeated":0.6}');
      embedder = await loadEmbedder({ model: path, modelsDirectory: folder });
    });
    after(() => embedder.close());

    it('gives the vectors of the library with padding, prefix and mean pooling', async () => {
      equal(embedder.folder.prefix, prefix);
      equal(embedder.folder.maxTokens, 96);
      env.allowRemoteModels = false;
      env.localModelPath = dirname(path);
      const extract = await pipeline('feature-extraction', basename(path), { dtype: 'fp32' });
      // The library cuts off what closes a text: the last one is too long for the comparison.
      const texts = TEXTS.slice(0, -1);
      const theirs: unknown = (
        await extract(
          texts.map((text) => prefix + text),
          { pooling: 'mean', normalize: true },
        )
      ).tolist();
      const ours = await embedder.embed(texts);
      let furthest = 0;
      ours.forEach((vector, row) => {
        const other: unknown = Array.isArray(theirs) ? theirs[row] : null;
        ok(Array.isArray(other) && other.length === vector.length);
        vector.forEach((x, i) => (furthest = Math.max(furthest, Math.abs(x - Number(other[i])))));
      });
      await extract.dispose();
      ok(furthest < TOLERANCE, `differs by ${furthest}`);
      ok(ours.every((vector, row) => ours.slice(0, row).every((other) => cosine(vector, other) < 0.9999)));
    });

    it('gives a text the same bits whatever it is embedded with', async () => {
      equal(embedder.batchSize, 64);
      const together = await embedder.embed([...TEXTS, ...TEXTS.toReversed()]);
      for (const [row, text] of TEXTS.entries()) {
        const [alone] = await embedder.embed([text]);
        deepEqual(together[row], alone, text);
        deepEqual(together[2 * TEXTS.length - 1 - row], alone, text);
      }
    });

    it('has zeros for what says nothing, and for nothing else', async () => {
      const blank = await embedder.embed(['', '  \n', '\t']);
      ok(blank.every((vector) => vector.length === 32 && vector.every((x) => x === 0)));
      const short = await embedder.embed(['please', 'x', '?']);
      ok(short.every((vector) => Math.abs(cosine(vector, vector) - 1) < 1e-5));
    });

    it('cuts a long text between what opens and what closes it', async () => {
      env.localModelPath = dirname(path);
      const tokenizer = await AutoTokenizer.from_pretrained(basename(path), { local_files_only: true });
      const idsOf = (text: string): number[] => tokenizer(prefix + text, { return_tensor: false }).input_ids;
      deepEqual([idsOf('x')[0], idsOf('x').at(-1)], around);
      // The longest text that fits, and the same with more behind it.
      const room = embedder.folder.maxTokens - idsOf('parcel').length + 1;
      const fits = Array.from({ length: room }, () => 'parcel').join(' ');
      equal(idsOf(fits).length, embedder.folder.maxTokens);
      const [whole, cut] = await embedder.embed([fits, `${fits} please cancel`]);
      deepEqual(cut, whole);
    });

    it('has vectors that can be used, and thresholds that are calibrated', async () => {
      rmSync(join(path, 'thresholds.json'));
      const calibrated = await loadEmbedder({ model: path, modelsDirectory: folder });
      deepEqual(await vectorFaults(calibrated), []);
      ok(calibrated.thresholds.background !== undefined);
      await calibrated.close();
    });
  });
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
}
