/**
 * Makes transformers of the usual hub layouts (BERT, XLM-RoBERTa, ModernBERT; `onnx/`, `tokenizer.json`,
 * sentence-transformers' folders) with random weights from a seed: small ones to prove how models are loaded,
 * larger ones to measure speed, which does not depend on what the weights are.
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

/**
 * `bert` takes token types and counts positions from 0; `xlm-roberta` takes none and counts them from 2, past the
 * padding's id; `modernbert` takes none and counts them from 0.
 */
export type TransformerKind = 'bert' | 'xlm-roberta' | 'modernbert';
export type TokenizerKind = 'wordpiece' | 'unigram' | 'bpe';

export interface TransformerOptions extends Partial<TransformerShape> {
  /** Default `bert`. */
  readonly kind?: TransformerKind;
  /** Default: the usual one of the kind. Multilingual MiniLMs are `bert` with `unigram`. */
  readonly tokenizer?: TokenizerKind;
  /** What `tokenizer_config.json` says; default: as many as there are positions. */
  readonly modelMaxLength?: number;
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
const NAMES = {
  unk_token: '[UNK]',
  sep_token: '[SEP]',
  pad_token: '[PAD]',
  cls_token: '[CLS]',
  mask_token: '[MASK]',
};
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789äöüßéèáóñçаеиоунтслврдкмпяыьгзбчйхжшюцщэфё'];
/** Standard deviation of random weights. */
const SPREAD = 0.12;

/** Writes a model into `folder` (made if it is not there). The same options, the same bytes. */
export function writeTransformer(folder: string, options: TransformerOptions = {}): void {
  const kind = options.kind ?? 'bert';
  const { json, config, vocabulary } = TOKENIZERS[options.tokenizer ?? KINDS[kind].tokenizer](options);
  const shape = { ...TINY, ...options, vocabulary };
  const files: Record<string, unknown> = {
    'config.json': {
      ...KINDS[kind].config,
      hidden_size: shape.hidden,
      intermediate_size: shape.inner,
      num_hidden_layers: shape.layers,
      num_attention_heads: shape.heads,
      max_position_embeddings: shape.positions + KINDS[kind].firstPosition,
      vocab_size: shape.vocabulary,
    },
    'tokenizer.json': json,
    'tokenizer_config.json': { ...config, model_max_length: options.modelMaxLength ?? shape.positions },
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

interface Kind {
  readonly tokenizer: TokenizerKind;
  readonly config: Readonly<Record<string, unknown>>;
  /** Whether `token_type_ids` are an input. */
  readonly types: boolean;
  /** Position of the first token. */
  readonly firstPosition: number;
}

const KINDS: Readonly<Record<TransformerKind, Kind>> = {
  bert: {
    tokenizer: 'wordpiece',
    config: {
      model_type: 'bert',
      architectures: ['BertModel'],
      type_vocab_size: 2,
      hidden_act: 'gelu',
    },
    types: true,
    firstPosition: 0,
  },
  'xlm-roberta': {
    tokenizer: 'unigram',
    config: {
      model_type: 'xlm-roberta',
      architectures: ['XLMRobertaModel'],
      type_vocab_size: 1,
      hidden_act: 'gelu',
      bos_token_id: 0,
      pad_token_id: 1,
      eos_token_id: 2,
    },
    types: false,
    // One past the padding's id.
    firstPosition: 2,
  },
  modernbert: {
    tokenizer: 'bpe',
    config: {
      model_type: 'modernbert',
      architectures: ['ModernBertModel'],
      hidden_activation: 'gelu',
      position_embedding_type: 'absolute',
    },
    types: false,
    firstPosition: 0,
  },
};

interface Tokenizer {
  /** `tokenizer.json`. */
  readonly json: unknown;
  /** `tokenizer_config.json`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Number of tokens. */
  readonly vocabulary: number;
}

const TOKENIZERS: Readonly<Record<TokenizerKind, (options: TransformerOptions) => Tokenizer>> = {
  wordpiece,
  unigram,
  bpe,
};

function wordpiece({ words = [], vocabulary = 0 }: TransformerOptions): Tokenizer {
  const pieces = filledUp(
    [...SPECIAL, ...LETTERS, ...LETTERS.map((letter) => `##${letter}`), ...words],
    vocabulary,
  );
  return {
    vocabulary: pieces.length,
    json: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: SPECIAL.map((content) => addedToken(content, pieces.indexOf(content))),
      normalizer: {
        type: 'BertNormalizer',
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: false,
        lowercase: true,
      },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      post_processor: template(pieces, '[CLS]', '[SEP]'),
      decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
      model: {
        type: 'WordPiece',
        unk_token: '[UNK]',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      },
    },
    config: { tokenizer_class: 'BertTokenizer', do_lower_case: true, ...NAMES },
  };
}

/** SentencePiece's Unigram as XLM-RoBERTa and the multilingual models that come from it have it. */
function unigram(options: TransformerOptions): Tokenizer {
  const { words = [], vocabulary = 0 } = options;
  const special = ['<s>', '<pad>', '</s>', '<unk>'];
  const pieces = filledUp(
    [...special, '\u2581', ...LETTERS, ...'.,?!:', ...words.map((word) => `\u2581${word}`), ...words],
    vocabulary - 1,
    unusedWord,
  );
  // Log probabilities: a word is likelier than its letters.
  const scores = pieces.map((piece, id) => (id < special.length ? 0 : piece.length > 1 ? -6 : -5 - id / 1e3));
  const mask = pieces.length;
  const metaspace = { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always', split: true };
  const charsmap = { type: 'Precompiled', precompiled_charsmap: EMPTY_CHARSMAP };
  const spaces = { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' };
  return {
    vocabulary: pieces.length + 1,
    json: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: [
        ...special.map((content, id) => addedToken(content, id)),
        { ...addedToken('<mask>', mask), lstrip: true },
      ],
      // Both forms are on the hub.
      ...(options.kind === 'xlm-roberta'
        ? {
            normalizer: charsmap,
            pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace] },
          }
        : { normalizer: { type: 'Sequence', normalizers: [charsmap, spaces] }, pre_tokenizer: metaspace }),
      post_processor: template(pieces, '<s>', '</s>'),
      decoder: metaspace,
      model: {
        type: 'Unigram',
        unk_id: 3,
        vocab: [...pieces.map((piece, id) => [piece, scores[id]]), ['<mask>', 0]],
      },
    },
    config: {
      tokenizer_class: 'XLMRobertaTokenizer',
      bos_token: '<s>',
      eos_token: '</s>',
      cls_token: '<s>',
      sep_token: '</s>',
      pad_token: '<pad>',
      unk_token: '<unk>',
      mask_token: { __type: 'AddedToken', ...addedToken('<mask>', mask), lstrip: true },
    },
  };
}

/** Byte-level BPE as GPT-2 and ModernBERT have it: any text is in its vocabulary. */
function bpe({ words = [], vocabulary = 0 }: TransformerOptions): Tokenizer {
  const merges: [string, string][] = [];
  const pieces = new Set<string>([...SPECIAL, ...BYTES]);
  for (const word of words) {
    let made = '\u0120';
    for (const letter of Buffer.from(word)) {
      const next = BYTES[letter] ?? '';
      if (!pieces.has(made + next)) merges.push([made, next]);
      made += next;
      pieces.add(made);
    }
  }
  const all = filledUp([...pieces], vocabulary);
  return {
    vocabulary: all.length,
    json: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: SPECIAL.map((content) => addedToken(content, all.indexOf(content))),
      normalizer: { type: 'NFC' },
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      post_processor: template(all, '[CLS]', '[SEP]'),
      decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab: Object.fromEntries(all.map((piece, id) => [piece, id])),
        merges,
      },
    },
    config: {
      tokenizer_class: 'PreTrainedTokenizerFast',
      model_input_names: ['input_ids', 'attention_mask'],
      ...NAMES,
    },
  };
}

/** GPT-2's printable character for each byte. */
const BYTES: readonly string[] = (() => {
  let other = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
    return String.fromCodePoint(printable ? byte : other++);
  });
})();

/** Character rules of SentencePiece that change nothing: a trie of no entries, in its binary form. */
const EMPTY_CHARSMAP = 'AAAAAA==';

function filledUp(
  pieces: readonly string[],
  vocabulary: number,
  unused = (number: number): string => `[unused${number}]`,
): string[] {
  const all = new Set(pieces);
  for (let number = 0; all.size < vocabulary; number += 1) all.add(unused(number));
  return [...all];
}

const SYLLABLES = [...'bcdfghjklmnpqrstvwxyz'].flatMap((first) => [...'aeiou'].map((last) => first + last));

/** A word in capitals, as no message has it: a tokenizer of many words costs memory and time to load. */
function unusedWord(number: number): string {
  const { length } = SYLLABLES;
  // Coprime to the number of words, so that neighbours have little in common.
  const place = (number * 7_368_787) % length ** 3;
  const word = [place, Math.floor(place / length), Math.floor(place / length ** 2)]
    .map((part) => SYLLABLES[part % length])
    .join('');
  return `\u2581${word.toUpperCase()}`;
}

function addedToken(content: string, id: number): Record<string, unknown> {
  return { id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
}

function template(pieces: readonly string[], first: string, last: string): unknown {
  const special = (token: string): unknown => ({ SpecialToken: { id: token, type_id: 0 } });
  const text = (id: string, type: number): unknown => ({ Sequence: { id, type_id: type } });
  return {
    type: 'TemplateProcessing',
    single: [special(first), text('A', 0), special(last)],
    pair: [special(first), text('A', 0), special(last), text('B', 1), special(last)],
    special_tokens: Object.fromEntries(
      [first, last].map((token) => [token, { id: token, ids: [pieces.indexOf(token)], tokens: [token] }]),
    ),
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
  const { hidden, heads, inner, layers, positions } = shape;
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

  const words = wordVectors(graph, shape, random, options.quantised === true);
  const { types: takesTypes, firstPosition } = KINDS[options.kind ?? 'bert'];
  const places = graph.floats(
    [positions + firstPosition, hidden],
    random((positions + firstPosition) * hidden, 0.3),
  );
  const types = takesTypes
    ? graph.node('Gather', [
        graph.floats([2, hidden], random(2 * hidden, options.common ?? 1)),
        'token_type_ids',
      ])
    : graph.floats([hidden], random(hidden, options.common ?? 1));
  let states = normal(
    graph.node('Add', [
      graph.node('Add', [words, types]),
      graph.node('Gather', [places, positionsOf(graph, firstPosition)]),
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
    ['input_ids', 'attention_mask', ...(takesTypes ? ['token_type_ids'] : [])].map(tokens),
    [{ name: 'last_hidden_state', type: 'float', dims: ['batch', 'length', hidden] }],
  );
}

/** Rows of a word table that differ from each other; larger tables repeat them. */
const DIFFERENT_ROWS = 8192;

/** The vectors of the tokens; from bytes when they are quantised, as on the hub. */
function wordVectors(
  graph: OnnxGraph,
  { vocabulary, hidden }: TransformerShape,
  random: (count: number, spread: number) => Float32Array,
  quantised: boolean,
): string {
  const some = random(Math.min(vocabulary, DIFFERENT_ROWS) * hidden, 1);
  const dims = [vocabulary, hidden];
  if (!quantised) {
    const table = new Float32Array(vocabulary * hidden);
    for (let at = 0; at < table.length; at += some.length)
      table.set(some.subarray(0, Math.min(some.length, table.length - at)), at);
    return graph.node('Gather', [graph.floats(dims, table), 'input_ids']);
  }
  const { bytes, step } = asBytes(some);
  const table = new Int8Array(vocabulary * hidden);
  for (let at = 0; at < table.length; at += bytes.length)
    table.set(bytes.subarray(0, Math.min(bytes.length, table.length - at)), at);
  const rows = graph.node('Gather', [graph.constant({ type: 'int8', dims, data: table }), 'input_ids']);
  return graph.node('Mul', [graph.node('Cast', [rows], { to: 1 }), graph.floats([], [step])]);
}

/** Positions of the tokens: from 0, or RoBERTa's, which count what is no padding and give padding its own id. */
function positionsOf(graph: OnnxGraph, first: number): string {
  if (first === 0) {
    const length = graph.node('Gather', [graph.node('Shape', ['input_ids']), graph.integers([], [1])], {
      axis: 0,
    });
    return graph.node('Range', [graph.integers([], [0]), length, graph.integers([], [1])]);
  }
  const padding = graph.integers([], [first - 1]);
  const present = graph.node('Cast', [graph.node('Not', [graph.node('Equal', ['input_ids', padding])])], {
    to: 7,
  });
  const counted = graph.node('Mul', [graph.node('CumSum', [present, graph.integers([], [1])]), present]);
  return graph.node('Add', [counted, padding]);
}

function asBytes(weights: Float32Array): { bytes: Int8Array; step: number } {
  let largest = 0;
  for (const weight of weights) largest = Math.max(largest, Math.abs(weight));
  const step = largest / 127;
  return { bytes: Int8Array.from(weights, (weight) => Math.round(weight / step)), step };
}
