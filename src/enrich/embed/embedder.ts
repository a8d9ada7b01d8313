/**
 * Texts to vectors with a local model. The only door to transformers.js; nothing is ever fetched here.
 *
 * A text's vector depends on the text alone: texts of one padded length run together, so neighbours in
 * a batch never change the padding, and a model whose arithmetic still depends on the batch size
 * (checked once on loading) runs one text at a time. Vectors of a model without thresholds of its own are
 * freed of what all texts have in common (`calibration.ts`).
 */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AutoModel, AutoTokenizer, env, Tensor } from '@huggingface/transformers';
import { z } from 'zod';
import type { Thresholds } from '../../domain/similarity-thresholds.ts';
import { UNWATCHED, type StepListener } from '../step-listener.ts';
import { SetupError } from '../../errors.ts';
import { calibrate, commonPart, PROBES, REQUESTS } from './calibration.ts';
import {
  findModel,
  readModelFolder,
  type ModelFolder,
  type ModelLocation,
  type Pooling,
} from './model-folder.ts';

export interface Embedder {
  /** Name and digest of the model: another id means other vectors, so everything derived must be rebuilt. */
  readonly id: string;
  /** Length of each vector. */
  readonly dimensions: number;
  readonly thresholds: Thresholds;
  /**
   * One vector of unit length a text, in order; all zeros for a text without a known token. A text
   * longer than the model takes is cut at its limit. `steps` is told of each text and of each run of the model.
   */
  embed(texts: readonly string[], steps?: StepListener): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** An embedder over a model's folder. */
export interface LoadedEmbedder extends Embedder {
  readonly folder: ModelFolder;
  /** Most texts in one run of the model; 1 when a text's vector would depend on its neighbours otherwise. */
  readonly batchSize: number;
}

export interface EmbedderOptions extends ModelLocation {
  /** Threads inside the model; 1 is fastest for small models and leaves the cores to the rest. */
  readonly threads?: number;
}

/** Most texts in one run of the model. */
const MAX_BATCH = 64;
/** Most tokens in one run of the model, which bounds its memory. */
const MAX_BATCH_TOKENS = 4096;
/** Texts and tokens of the batches by which it is seen whether neighbours matter. */
const TRIAL_BATCHES = [MAX_BATCH, 7, 2] as const;
const TRIAL_TOKENS = 12;

/** Runs token ids, all of the same length, through the model: one vector each, normalised. */
type Runner = (batch: readonly (readonly number[])[]) => Promise<Float32Array[]>;

/** Loads a model. Throws SetupError, in one line, when it is absent or cannot be used. */
export async function loadEmbedder(options: EmbedderOptions): Promise<LoadedEmbedder> {
  const path = findModel(options);
  const folder = readModelFolder(path);
  const { weights, prefix, maxTokens } = folder;

  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = dirname(path);
  const name = basename(path);
  let tokenizer: Awaited<ReturnType<typeof AutoTokenizer.from_pretrained>>;
  let model: Awaited<ReturnType<typeof AutoModel.from_pretrained>>;
  try {
    tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true });
    model = await AutoModel.from_pretrained(name, {
      local_files_only: true,
      dtype: weights.dtype,
      use_external_data_format: folder.parts.length,
      session_options: {
        intraOpNumThreads: options.threads ?? 1,
        interOpNumThreads: 1,
        executionMode: 'sequential',
        logSeverityLevel: 4,
      },
    });
  } catch (cause) {
    throw unusable(path, cause);
  }

  const wantsTypes = inputNamesOf(model).includes('token_type_ids');
  let dimensions = 0;
  let common: Float32Array = EMPTY;
  const run: Runner = async (batch) => {
    const length = batch[0]?.length ?? 0;
    const shape = [batch.length, length];
    const ids = new BigInt64Array(batch.length * length);
    batch.forEach((tokens, row) => {
      for (let i = 0; i < length; i++) ids[row * length + i] = BigInt(tokens[i] ?? 0);
    });
    const feeds: Record<string, Tensor> = {
      input_ids: new Tensor('int64', ids, shape),
      attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    };
    if (wantsTypes) feeds['token_type_ids'] = new Tensor('int64', new BigInt64Array(ids.length), shape);
    const output: unknown = await model(feeds);
    const vectors = pool(output, batch.length, length, folder);
    for (const vector of vectors) withoutCommon(vector, common);
    return vectors;
  };

  const tokensOf = (text: string): readonly number[] => tokenizer(text, { return_tensor: false }).input_ids;
  // What stands after every text (`</s>`). The library's own truncation cuts it off; models were trained with it.
  let closing: readonly number[] = [];
  const tokenize = (text: string): readonly number[] => {
    const tokens = tokensOf(prefix + text.toWellFormed());
    if (tokens.length <= maxTokens) return tokens;
    return [...tokens.slice(0, Math.max(0, maxTokens - closing.length)), ...closing].slice(0, maxTokens);
  };

  // The tokens of a text that has none of its own. Their number says nothing: the space that ends a prefix is a
  // token to byte-level models until a word follows.
  let blank: readonly number[] = [];
  let batchSize = MAX_BATCH;
  const embed = async (texts: readonly string[], steps = UNWATCHED): Promise<Float32Array[]> => {
    const byLength = new Map<number, { tokens: (readonly number[])[]; places: number[] }>();
    const vectors: Float32Array[] = texts.map(() => EMPTY);
    texts.forEach((text, place) => {
      steps.onText(place);
      const tokens = tokenize(text);
      if (text.trim() === '' || sameTokens(tokens, blank)) {
        vectors[place] = new Float32Array(dimensions);
        return;
      }
      const group = byLength.get(tokens.length) ?? { tokens: [], places: [] };
      group.tokens.push(tokens);
      group.places.push(place);
      byLength.set(tokens.length, group);
    });
    for (const [length, { tokens, places }] of byLength) {
      const size = Math.max(1, Math.min(batchSize, Math.floor(MAX_BATCH_TOKENS / length)));
      for (let start = 0; start < tokens.length; start += size) {
        steps.onShared();
        const made = await run(tokens.slice(start, start + size));
        made.forEach((vector, i) => {
          vectors[places[start + i] ?? 0] = vector;
        });
      }
    }
    return vectors;
  };

  let thresholds: Thresholds;
  try {
    closing = closingOf(tokensOf(''), tokensOf(PROBES[0] ?? ''));
    blank = tokenize('');
    batchSize = 1;
    if (folder.thresholds === null)
      common = commonPart(await embed([...PROBES, ...Object.values(REQUESTS).flat()]));
    batchSize = MAX_BATCH;
    const together = await embed(PROBES);
    dimensions = together[0]?.length ?? 0;
    batchSize = 1;
    const alone = await embed(PROBES);
    const isSame = alone.every((vector, i) => sameBits(vector, together[i] ?? EMPTY));
    if (isSame && (await ignoresNeighbours(run, PROBES.flatMap(tokenize), maxTokens))) batchSize = MAX_BATCH;
    thresholds = folder.thresholds ?? calibrate(alone);
  } catch (cause) {
    throw unusable(path, cause);
  }

  return {
    id: `${name}@${await digestOf(folder)}`,
    dimensions,
    thresholds,
    folder,
    batchSize,
    embed,
    close: async () => {
      await model.dispose();
    },
  };
}

function sameTokens(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((token, i) => token === b[i]);
}

/** What of an empty text's tokens stands after a text. */
function closingOf(empty: readonly number[], text: readonly number[]): readonly number[] {
  const opening = empty.findIndex((token, i) => token !== text[i]);
  return opening < 0 ? [] : empty.slice(opening);
}

/** Whether rows of a full, a small and the smallest batch get the vectors, to the bit, that they get alone. */
async function ignoresNeighbours(
  run: Runner,
  tokens: readonly number[],
  maxTokens: number,
): Promise<boolean> {
  const length = Math.min(TRIAL_TOKENS, maxTokens);
  const rows = Array.from({ length: MAX_BATCH }, (_, row) =>
    Array.from({ length }, (__, place) => tokens[(row * 7 + place) % tokens.length] ?? 0),
  );
  const alone: Float32Array[] = [];
  for (const row of rows) alone.push(...(await run([row])));
  for (const size of TRIAL_BATCHES) {
    const together = await run(rows.slice(0, size));
    if (!together.every((vector, row) => sameBits(vector, alone[row] ?? EMPTY))) return false;
  }
  return true;
}

const EMPTY = new Float32Array(0);

function unusable(folder: string, cause: unknown): SetupError {
  const reason = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0] ?? '';
  return new SetupError(
    `the embedding model in ${folder} cannot be used (${reason.slice(0, 300)}): fetch it again, or set EMBEDDING_MODEL to another`,
    { cause },
  );
}

function inputNamesOf(model: object): readonly string[] {
  const shape = z.looseObject({
    sessions: z.record(z.string(), z.looseObject({ inputNames: z.array(z.string()) })),
  });
  const parsed = shape.safeParse(model);
  return parsed.success ? Object.values(parsed.data.sessions).flatMap((session) => session.inputNames) : [];
}

function tensorOf(output: unknown, name: string): { data: Float32Array; dims: readonly number[] } | null {
  if (typeof output !== 'object' || output === null || !(name in output)) return null;
  const tensor = (output as Record<string, unknown>)[name];
  if (!(tensor instanceof Tensor) || !(tensor.data instanceof Float32Array)) return null;
  return { data: tensor.data, dims: tensor.dims };
}

/** Vectors of unit length from the model's output; `sentence_embedding` is preferred where there is one. */
function pool(output: unknown, rows: number, length: number, folder: ModelFolder): Float32Array[] {
  const pooled = tensorOf(output, 'sentence_embedding');
  if (pooled !== null) {
    const width = pooled.dims[1] ?? 0;
    return Array.from({ length: rows }, (_, row) =>
      normalised(pooled.data.slice(row * width, (row + 1) * width)),
    );
  }
  const states = tensorOf(output, 'last_hidden_state') ?? tensorOf(output, 'token_embeddings');
  if (states === null) throw new Error('it gives neither sentence_embedding nor last_hidden_state');
  if (folder.needsSentenceOutput)
    throw new Error('its vectors need a dense layer that its ONNX file does not hold');
  const width = states.dims[2] ?? 0;
  return Array.from({ length: rows }, (_, row) =>
    normalised(pooledStates(states.data, row * length, length, width, folder.pooling)),
  );
}

/** One vector from the states of `length` tokens, which begin at token `from` of `states`. */
function pooledStates(
  states: Float32Array,
  from: number,
  length: number,
  width: number,
  pooling: Pooling,
): Float32Array {
  const token = (number: number): Float32Array =>
    states.slice((from + number) * width, (from + number + 1) * width);
  if (pooling === 'cls') return token(0);
  if (pooling === 'last') return token(length - 1);
  const pooled = token(0);
  for (let number = 1; number < length; number += 1) {
    const start = (from + number) * width;
    for (let i = 0; i < width; i++) {
      const [so, state] = [pooled[i] ?? 0, states[start + i] ?? 0];
      pooled[i] = pooling === 'mean' ? so + state : Math.max(so, state);
    }
  }
  return pooled;
}

/** Takes what all texts have in common from a vector of unit length, in place; zeros stay zeros. */
function withoutCommon(vector: Float32Array, common: Float32Array): void {
  if (common.length === 0 || vector.every((x) => x === 0)) return;
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) - (common[i] ?? 0);
  normalised(vector);
}

/** Scales to unit length in place; zeros, or anything that is no finite number, give zeros. */
function normalised(vector: Float32Array): Float32Array {
  let square = 0;
  for (const x of vector) square += x * x;
  if (!Number.isFinite(square) || square < 1e-12) return vector.fill(0);
  const scale = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * scale;
  return vector;
}

function sameBits(a: Float32Array, b: Float32Array): boolean {
  return (
    Buffer.compare(
      Buffer.from(a.buffer, a.byteOffset, a.byteLength),
      Buffer.from(b.buffer, b.byteOffset, b.byteLength),
    ) === 0
  );
}

/** 12 hex digits over everything that decides the vectors and what they mean. */
async function digestOf({ path, weights, parts, pooling, prefix, thresholds }: ModelFolder): Promise<string> {
  const hash = createHash('sha256');
  const onnx = [weights.file, ...parts].map((file) => join('onnx', file));
  for (const file of [...onnx, 'tokenizer.json', 'tokenizer_config.json', 'thresholds.json']) {
    if (existsSync(join(path, file)))
      await pipeline(createReadStream(join(path, file)), hash, { end: false });
    hash.update('\0');
  }
  if (thresholds === null) hash.update(JSON.stringify([PROBES, REQUESTS]));
  if (pooling !== 'mean' || prefix !== '') hash.update(`${pooling}\0${prefix}`);
  return hash.digest('hex').slice(0, 12);
}
