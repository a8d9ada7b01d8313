/**
 * Trains the default embedding model and writes its files: vocabulary, vectors, ONNX graph. One seed, one
 * file: the result is the same bits on every machine with the same data and the same Node.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SetupError } from '../../src/errors.ts';
import { normOf } from '../../src/reader/numeric/vectors.ts';
import { writeCommonParts } from './common-parts.ts';
import { trainTable, type ContrastiveOptions } from './contrastive.ts';
import { LEAVABLE, readTrainingData, sizeOf } from './embedding-data.ts';
import { ELEMENT, encodeModel, type OnnxTensor } from './onnx.ts';
import { writeFamiliarity } from './familiarity.ts';
import { Pieces, SPECIAL_PIECES, tokenizerFile } from './pieces.ts';
import { Random } from './random.ts';
import { writeThresholds } from './thresholds.ts';
import { trainVocabulary } from './vocabulary.ts';
import { whiten } from './whitening.ts';

export const EMBEDDING_MODEL_DIRECTORY = resolve(import.meta.dirname, '../../models/undertone-small');

export interface EmbeddingOptions {
  /** Folder to write the model to. */
  readonly output: string;
  /** Labelled sets that training must not see. */
  readonly leftOut: readonly string[];
  readonly steps: number;
}

const WEIGHTS = 'onnx/model_quantized.onnx';
const VOCABULARY_SIZE = 32_000;
export const DIMENSIONS = 256;
/** Tokens of a message that the model reads at most. */
const MAX_LENGTH = 256;
export const DEFAULT_STEPS = 20_000;
const TRAINING: Omit<ContrastiveOptions, 'steps' | 'onProgress'> = {
  dimensions: DIMENSIONS,
  batch: 512,
  learningRate: 3e-3,
  temperature: 0.09,
  pieceDropout: 0.15,
  parting: 0.06,
  typing: 0.12,
  maxPieces: 40,
  seed: 20_260_301,
};
/** Smooth inverse frequency (Arora et al. 2017): a piece of probability p begins with weight a / (a + p). */
const SIF = 1e-3;

/** Power of the soft whitening, and messages whose directions it looks at, at most. */
const WHITENING = 0.15;
const WHITENED_MESSAGES = 25_000;

/** Trains and writes the model. Throws SetupError when a set to leave out, or a data set, does not exist. */
export async function trainEmbedding(
  dataDirectory: string,
  options: Partial<EmbeddingOptions> = {},
): Promise<void> {
  const leftOut = options.leftOut ?? [];
  for (const name of leftOut) {
    if (!LEAVABLE.includes(name))
      throw new SetupError(`no set to leave out is called ${name}: choose from ${LEAVABLE.join(', ')}`);
  }
  const output =
    options.output ??
    (leftOut.length === 0
      ? EMBEDDING_MODEL_DIRECTORY
      : resolve(import.meta.dirname, `../../.cache/models/undertone-small-without-${leftOut.join('-')}`));
  const start = performance.now();
  const say = (text: string): void => {
    const seconds = Math.round((performance.now() - start) / 1000);
    process.stdout.write(`${String(seconds).padStart(5)} s  ${text}\n`);
  };

  const data = await readTrainingData(dataDirectory, new Set(leftOut));
  say(
    `${data.texts.length} texts, ${data.wordCounts.size} words` +
      (leftOut.length === 0 ? '' : `, without ${leftOut.join(', ')}`),
  );
  for (const source of data.sources) {
    const unit = source.kind === 'halves' ? 'texts' : source.kind;
    say(`  ${source.name}: ${sizeOf(source)} ${unit}, ${(source.weight * 100).toFixed(1)} % of the batches`);
  }
  const pieces = new Pieces(
    trainVocabulary(data.wordCounts, {
      size: VOCABULARY_SIZE,
      minCharacterCount: 20,
      minPairCount: 3,
      characters: data.characters,
    }),
  );
  say(`${pieces.list.length} pieces in the vocabulary`);

  const steps = options.steps ?? DEFAULT_STEPS;
  const table = initialTable(pieces, data.wordCounts);
  trainTable(table, pieces, data.texts, data.sources, {
    ...TRAINING,
    steps,
    onProgress: (step, loss) => {
      say(`step ${step}, loss ${loss.toFixed(3)}`);
    },
  });
  const sample = Math.ceil(data.messages.length / WHITENED_MESSAGES);
  whiten(
    table,
    DIMENSIONS,
    data.messages
      .filter((_, i) => i % sample === 0)
      .map((place) => pieces.ofText(data.texts[place]!, MAX_LENGTH)),
    WHITENING,
  );
  say(`whitened by power ${WHITENING}`);
  writeModel(output, pieces, table);
  await writeCommonParts(output, dataDirectory);
  say('measured what texts of a script have in common');
  await writeThresholds(output, dataDirectory, say);
  await writeFamiliarity(output, dataDirectory, leftOut);
  say('learned which tokens are familiar');
  const record = {
    sha256: createHash('sha256')
      .update(readFileSync(join(output, WEIGHTS)))
      .digest('hex'),
    sets: data.sets,
    leftOut,
    texts: data.texts.length,
    steps,
    ...TRAINING,
    whitening: WHITENING,
  };
  writeFileSync(join(output, 'training.json'), `${JSON.stringify(record, null, 2)}\n`);
  say(`written to ${output}`);
}

/** Random directions, as long as the pieces are rare. */
function initialTable(pieces: Pieces, wordCounts: ReadonlyMap<string, number>): Float32Array {
  const counts = new Float64Array(pieces.list.length);
  let total = 0;
  for (const [word, count] of wordCounts) {
    for (const place of pieces.ofWord(word)) {
      counts[place] = counts[place]! + count;
      total += count;
    }
  }
  const random = new Random(TRAINING.seed);
  const table = new Float32Array(pieces.list.length * DIMENSIONS);
  for (let piece = 0; piece < pieces.list.length; piece += 1) {
    const weight = SIF / (SIF + counts[piece]! / total) / Math.sqrt(DIMENSIONS);
    for (let i = 0; i < DIMENSIONS; i += 1) table[piece * DIMENSIONS + i] = random.normal() * weight;
  }
  return table;
}

/** Writes config, tokenizer and ONNX graph as transformers.js looks for them. */
export function writeModel(folder: string, pieces: Pieces, table: Float32Array): void {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const write = (name: string, value: object): void => {
    writeFileSync(join(folder, name), `${JSON.stringify(value)}\n`);
  };
  write('config.json', {
    model_type: 'bert',
    architectures: ['BertModel'],
    hidden_size: table.length / pieces.list.length,
    vocab_size: pieces.list.length,
    num_hidden_layers: 0,
    num_attention_heads: 1,
    max_position_embeddings: MAX_LENGTH,
  });
  write('tokenizer.json', tokenizerFile(pieces.list));
  write('tokenizer_config.json', {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: MAX_LENGTH,
    pad_token: '[PAD]',
    unk_token: '[UNK]',
    cls_token: '[CLS]',
    sep_token: '[SEP]',
    mask_token: '[MASK]',
  });
  writeFileSync(join(folder, WEIGHTS), encodeTable(table, pieces.list.length));
}

/** Each row as 8-bit integers with a factor; the mean length of rows is 1. */
function quantisedRows(table: Float32Array, rows: number): { whole: Int8Array; factors: Float32Array } {
  const dimensions = table.length / rows;
  const rowOf = (row: number): Float32Array => table.subarray(row * dimensions, (row + 1) * dimensions);
  let lengths = 0;
  for (let row = 0; row < rows; row += 1) lengths += normOf(rowOf(row));
  const scale = rows / lengths;
  const whole = new Int8Array(table.length);
  const factors = new Float32Array(rows);
  for (let row = 0; row < rows; row += 1) {
    const values = rowOf(row);
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    // Padding adds nothing, and a message of unknown words alone has no vector, so no topic.
    if (largest === 0 || row < SPECIAL_PIECES.length) continue;
    values.forEach((value, i) => (whole[row * dimensions + i] = Math.round((value / largest) * 127)));
    factors[row] = (largest * scale) / 127;
  }
  return { whole, factors };
}

/** The graph over the table's rows as 8-bit integers with a factor each. */
export function encodeTable(table: Float32Array, rows: number): Uint8Array {
  const dimensions = table.length / rows;
  const { whole, factors } = quantisedRows(table, rows);
  const tensor = (
    name: string,
    type: OnnxTensor['type'],
    shape: number[],
    data: ArrayBufferView,
  ): OnnxTensor => ({
    name,
    type,
    shape,
    data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  });
  const tokens = ['batch', 'length'] as const;
  return encodeModel({
    name: 'undertone-small',
    nodes: [
      { operation: 'Gather', inputs: ['rows', 'input_ids'], outputs: ['whole'] },
      { operation: 'Cast', inputs: ['whole'], outputs: ['values'], attributes: { to: ELEMENT.float } },
      { operation: 'Gather', inputs: ['factors', 'input_ids'], outputs: ['factor'] },
      { operation: 'Mul', inputs: ['values', 'factor'], outputs: ['last_hidden_state'] },
      { operation: 'Cast', inputs: ['attention_mask'], outputs: ['mask'], attributes: { to: ELEMENT.float } },
      { operation: 'Unsqueeze', inputs: ['mask', 'axis'], outputs: ['mask_row'] },
      { operation: 'MatMul', inputs: ['mask_row', 'last_hidden_state'], outputs: ['sum_row'] },
      { operation: 'Squeeze', inputs: ['sum_row', 'axis'], outputs: ['sum'] },
      {
        operation: 'LpNormalization',
        inputs: ['sum'],
        outputs: ['sentence_embedding'],
        attributes: { axis: 1, p: 2 },
      },
    ],
    initializers: [
      tensor('rows', ELEMENT.int8, [rows, dimensions], whole),
      tensor('factors', ELEMENT.float, [rows, 1], factors),
      tensor('axis', ELEMENT.int64, [1], new BigInt64Array([1n])),
    ],
    inputs: [
      { name: 'input_ids', type: ELEMENT.int64, shape: tokens },
      { name: 'attention_mask', type: ELEMENT.int64, shape: tokens },
    ],
    outputs: [
      { name: 'last_hidden_state', type: ELEMENT.float, shape: [...tokens, dimensions] },
      { name: 'sentence_embedding', type: ELEMENT.float, shape: ['batch', dimensions] },
    ],
  });
}
