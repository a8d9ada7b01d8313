/**
 * Makes transformers of the usual hub layout (BERT, `onnx/`, `tokenizer.json`, sentence-transformers' folders) with
 * random weights from a seed: small ones to prove how models are loaded, larger ones to measure speed, which does not
 * depend on what the weights are.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OnnxGraph } from './onnx-writer.ts';

export interface TransformerShape {
  readonly layers: number;
  readonly hidden: number;
  readonly heads: number;
  /** Width of the feed-forward layers. */
  readonly inner: number;
  readonly positions: number;
  /** Rows of the word table; more than the words given are filled up. */
  readonly vocabulary: number;
}

export interface TransformerOptions extends Partial<TransformerShape> {
  readonly seed?: number;
  /** Words that are one token each, beside single letters. */
  readonly words?: readonly string[];
  /** int8 weights with activations quantised as they come, as the hub's `model_quantized.onnx`. */
  readonly quantised?: boolean;
  /**
   * How large what all tokens have in common is beside what tells them apart: the larger, the nearer all cosines
   * are to 1. Default 1.
   */
  readonly common?: number;
  /** Content of `1_Pooling/config.json`; null: no such file. */
  readonly pooling?: Readonly<Record<string, unknown>> | null;
  /** Content of `config_sentence_transformers.json`'s `prompts`; null: no such file. */
  readonly prompts?: Readonly<Record<string, string>> | null;
}

const TINY: TransformerShape = { layers: 2, hidden: 32, heads: 4, inner: 64, positions: 64, vocabulary: 0 };
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'] as const;
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789äöüßéèáóñçаеиоунтслврдкмпяыьгзбчйхжшюцщэфё'];
/** Standard deviation of random weights. */
const SPREAD = 0.12;

/** Writes a model into `folder` (made if it is not there). The same options, the same bytes. */
export function writeTransformer(folder: string, options: TransformerOptions = {}): void {
  const words = wordPieces(options);
  const shape = { ...TINY, ...options, vocabulary: words.length };
  const files: Record<string, unknown> = {
    'config.json': {
      model_type: 'bert',
      architectures: ['BertModel'],
      hidden_size: shape.hidden,
      intermediate_size: shape.inner,
      num_hidden_layers: shape.layers,
      num_attention_heads: shape.heads,
      max_position_embeddings: shape.positions,
      vocab_size: shape.vocabulary,
      type_vocab_size: 2,
      hidden_act: 'gelu',
    },
    'tokenizer.json': tokenizer(words),
    'tokenizer_config.json': {
      tokenizer_class: 'BertTokenizer',
      do_lower_case: true,
      model_max_length: shape.positions,
      unk_token: '[UNK]',
      sep_token: '[SEP]',
      pad_token: '[PAD]',
      cls_token: '[CLS]',
      mask_token: '[MASK]',
    },
  };
  const pooling =
    options.pooling === undefined
      ? { word_embedding_dimension: shape.hidden, pooling_mode_mean_tokens: true }
      : options.pooling;
  if (pooling !== null) {
    files['1_Pooling/config.json'] = pooling;
    files['modules.json'] = [
      { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
      { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
    ];
  }
  const prompts = options.prompts ?? null;
  if (prompts !== null) files['config_sentence_transformers.json'] = { prompts, default_prompt_name: null };
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  mkdirSync(join(folder, '1_Pooling'), { recursive: true });
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(folder, file), `${JSON.stringify(content)}\n`);
  const weights = options.quantised === true ? 'model_quantized.onnx' : 'model.onnx';
  writeFileSync(join(folder, 'onnx', weights), transformerGraph(shape, options));
}

function wordPieces({ words = [], vocabulary = 0 }: TransformerOptions): string[] {
  const pieces = new Set<string>([
    ...SPECIAL,
    ...LETTERS,
    ...LETTERS.map((letter) => `##${letter}`),
    ...words,
  ]);
  for (let number = 0; pieces.size < vocabulary; number += 1) pieces.add(`[unused${number}]`);
  return [...pieces];
}

function tokenizer(words: readonly string[]): unknown {
  const special = (token: string): unknown => ({ SpecialToken: { id: token, type_id: 0 } });
  const idOf = (token: string): number => words.indexOf(token);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content) => ({
      id: idOf(content),
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: false,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, special('[SEP]')],
      pair: [
        special('[CLS]'),
        { Sequence: { id: 'A', type_id: 0 } },
        special('[SEP]'),
        { Sequence: { id: 'B', type_id: 1 } },
        special('[SEP]'),
      ],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((token) => [token, { id: token, ids: [idOf(token)], tokens: [token] }]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
    },
  };
}

/** Normally distributed numbers from a seed (mulberry32, Box–Muller). */
export function normals(seed: number): (count: number, spread: number) => Float32Array {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return (count, spread) =>
    Float32Array.from(
      { length: count },
      () => spread * Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
    );
}

function transformerGraph(shape: TransformerShape, options: TransformerOptions): Buffer {
  const { hidden, heads, inner, layers, positions, vocabulary } = shape;
  const random = normals(options.seed ?? 1);
  const graph = new OnnxGraph();
  const filled = (count: number, value: number): Float32Array => new Float32Array(count).fill(value);
  const scale = Math.sqrt(32 / hidden) * SPREAD;

  const product = (input: string, from: number, to: number): string => {
    const weights = random(from * to, scale);
    const bias = graph.floats([to], random(to, scale));
    if (options.quantised !== true)
      return graph.node('Add', [graph.node('MatMul', [input, graph.floats([from, to], weights)]), bias]);
    const { bytes, step } = asBytes(weights);
    const quantised = graph.quantised(input);
    const whole = graph.node('MatMulInteger', [
      quantised.bytes,
      graph.constant({ type: 'int8', dims: [from, to], data: bytes }),
      quantised.zero,
      graph.constant({ type: 'int8', dims: [], data: new Int8Array(1) }),
    ]);
    const real = graph.node('Cast', [whole], { to: 1 });
    const factor = graph.node('Mul', [quantised.step, graph.floats([], [step])]);
    return graph.node('Add', [graph.node('Mul', [real, factor]), bias]);
  };
  const normal = (input: string, output?: string): string =>
    graph.node(
      'LayerNormalization',
      [input, graph.floats([hidden], filled(hidden, 1)), graph.floats([hidden], filled(hidden, 0))],
      { axis: -1, epsilon: { float: 1e-12 } },
      output,
    );

  const words = graph.floats([vocabulary, hidden], random(vocabulary * hidden, 1));
  const places = graph.floats([positions, hidden], random(positions * hidden, 0.3));
  const types = graph.floats([2, hidden], random(2 * hidden, options.common ?? 1));
  const length = graph.node('Gather', [graph.node('Shape', ['input_ids']), graph.integers([], [1])], {
    axis: 0,
  });
  const range = graph.node('Range', [graph.integers([], [0]), length, graph.integers([], [1])]);
  let states = normal(
    graph.node('Add', [
      graph.node('Add', [
        graph.node('Gather', [words, 'input_ids']),
        graph.node('Gather', [types, 'token_type_ids']),
      ]),
      graph.node('Gather', [places, range]),
    ]),
  );
  const absent = graph.node('Sub', [
    graph.floats([], [1]),
    graph.node('Cast', ['attention_mask'], { to: 1 }),
  ]);
  const mask = graph.node('Unsqueeze', [
    graph.node('Mul', [absent, graph.floats([], [-10_000])]),
    graph.integers([2], [1, 2]),
  ]);
  const toHeads = graph.integers([4], [0, 0, heads, hidden / heads]);
  const fromHeads = graph.integers([3], [0, 0, hidden]);
  const half = graph.floats([], [0.5]);
  const one = graph.floats([], [1]);
  const root = graph.floats([], [Math.SQRT1_2]);
  const headScale = graph.floats([], [1 / Math.sqrt(hidden / heads)]);
  for (let layer = 0; layer < layers; layer += 1) {
    const split = (perm: readonly number[]): string =>
      graph.node('Transpose', [graph.node('Reshape', [product(states, hidden, hidden), toHeads])], { perm });
    const query = split([0, 2, 1, 3]);
    const key = split([0, 2, 3, 1]);
    const value = split([0, 2, 1, 3]);
    const scores = graph.node('Add', [
      graph.node('Mul', [graph.node('MatMul', [query, key]), headScale]),
      mask,
    ]);
    const mixed = graph.node('MatMul', [graph.node('Softmax', [scores], { axis: -1 }), value]);
    const joined = graph.node('Reshape', [
      graph.node('Transpose', [mixed], { perm: [0, 2, 1, 3] }),
      fromHeads,
    ]);
    const attended = normal(graph.node('Add', [states, product(joined, hidden, hidden)]));
    const wide = product(attended, hidden, inner);
    const gate = graph.node('Add', [graph.node('Erf', [graph.node('Mul', [wide, root])]), one]);
    const active = graph.node('Mul', [graph.node('Mul', [wide, gate]), half]);
    states = normal(
      graph.node('Add', [attended, product(active, inner, hidden)]),
      layer === layers - 1 ? 'last_hidden_state' : undefined,
    );
  }
  const tokens = (name: string) => ({ name, type: 'int64' as const, dims: ['batch', 'length'] });
  return graph.finish(
    [tokens('input_ids'), tokens('attention_mask'), tokens('token_type_ids')],
    [{ name: 'last_hidden_state', type: 'float', dims: ['batch', 'length', hidden] }],
  );
}

function asBytes(weights: Float32Array): { bytes: Int8Array; step: number } {
  let largest = 0;
  for (const weight of weights) largest = Math.max(largest, Math.abs(weight));
  const step = largest / 127;
  return { bytes: Int8Array.from(weights, (weight) => Math.round(weight / step)), step };
}
