/**
 * Texts to vectors with a local model. The only door to transformers.js; nothing is ever fetched here.
 *
 * A text's vector depends on the text alone: texts of one padded length run together, so neighbours in
 * a batch never change the padding, and a model whose arithmetic still depends on the batch size
 * (checked once on loading) runs one text at a time.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { AutoModel, AutoTokenizer, env, Tensor } from '@huggingface/transformers';
import { z } from 'zod';
import { SetupError } from '../errors.ts';
import { calibrate, PROBES } from './calibration.ts';

/** Cosine similarities at which this model's vectors mean something. They belong to the weights. */
export interface Thresholds {
  /** From here on a request joins a micro-cluster. */
  readonly micro: number;
  /** Micro-clusters are linked into topics down to here. */
  readonly topic: number;
  /** Topics are linked into topic clusters down to here. */
  readonly cluster: number;
  /** From here on two requests of a session are the same request. */
  readonly repeated: number;
}

export interface Embedder {
  /** Name and digest of the model: another id means other vectors, so everything derived must be rebuilt. */
  readonly id: string;
  /** Length of each vector. */
  readonly dimensions: number;
  readonly thresholds: Thresholds;
  /**
   * One vector of unit length a text, in order; all zeros for a text without a known token. A text
   * longer than the model takes is cut at its limit.
   */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbedderOptions {
  /** A folder, or the name of one in `modelsDirectory` (`baseline`, `Xenova/all-MiniLM-L6-v2`). */
  readonly model: string;
  /** Absolute path. */
  readonly modelsDirectory: string;
  /** Threads inside the model; 1 is fastest for small models and leaves the cores to the rest. */
  readonly threads?: number;
}

/** Most texts in one run of the model. */
const MAX_BATCH = 64;
/** Most tokens in one run of the model, which bounds its memory. */
const MAX_BATCH_TOKENS = 16_384;
/** Token limit where the model's own files name none. */
const DEFAULT_MAX_TOKENS = 512;

/** Weights by preference: small first. The suffix is transformers.js' naming of data types. */
const WEIGHTS = [
  { file: 'model_quantized.onnx', dtype: 'q8' },
  { file: 'model_int8.onnx', dtype: 'int8' },
  { file: 'model.onnx', dtype: 'fp32' },
  { file: 'model_fp16.onnx', dtype: 'fp16' },
] as const;

const thresholdsSchema = z.strictObject({
  micro: z.number().min(-1).max(1),
  topic: z.number().min(-1).max(1),
  cluster: z.number().min(-1).max(1),
  repeated: z.number().min(-1).max(1),
  /** Put before every text; models such as E5 are trained with one. */
  prefix: z.string().optional(),
});
const configSchema = z.looseObject({ max_position_embeddings: z.number().int().positive().optional() });
const tokenizerConfigSchema = z.looseObject({ model_max_length: z.number().positive().optional() });
const promptsSchema = z.looseObject({ prompts: z.looseObject({ query: z.string().optional() }).optional() });
const poolingSchema = z.looseObject({ pooling_mode_cls_token: z.boolean().optional() });

/** Runs token ids, all of the same length, through the model: one vector each, normalised. */
type Runner = (batch: readonly (readonly number[])[]) => Promise<Float32Array[]>;

/** Loads a model. Throws SetupError, in one line, when it is absent or cannot be used. */
export async function loadEmbedder(options: EmbedderOptions): Promise<Embedder> {
  const folder = findModel(options);
  const weights = WEIGHTS.find(({ file }) => existsSync(join(folder, 'onnx', file)));
  if (weights === undefined) {
    const names = WEIGHTS.map(({ file }) => file).join(', ');
    throw new SetupError(`${folder} has no weights: put one of ${names} into ${join(folder, 'onnx')}`);
  }
  const settings = readOptional(join(folder, 'thresholds.json'), thresholdsSchema);
  const maxTokens = tokenLimit(folder);
  const useFirstToken =
    readOptional(join(folder, '1_Pooling/config.json'), poolingSchema)?.pooling_mode_cls_token === true;
  const prefix =
    settings?.prefix ??
    readOptional(join(folder, 'config_sentence_transformers.json'), promptsSchema)?.prompts?.query ??
    (/(^|[-_])e5([-_]|$)/i.test(basename(folder)) ? 'query: ' : '');

  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = dirname(folder);
  const name = basename(folder);
  let tokenizer: Awaited<ReturnType<typeof AutoTokenizer.from_pretrained>>;
  let model: Awaited<ReturnType<typeof AutoModel.from_pretrained>>;
  try {
    tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true });
    model = await AutoModel.from_pretrained(name, {
      local_files_only: true,
      dtype: weights.dtype,
      session_options: {
        intraOpNumThreads: options.threads ?? 1,
        interOpNumThreads: 1,
        executionMode: 'sequential',
        logSeverityLevel: 4,
      },
    });
  } catch (cause) {
    throw unusable(folder, cause);
  }

  const wantsTypes = inputNamesOf(model).includes('token_type_ids');
  let dimensions = 0;
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
    return pool(output, batch.length, length, useFirstToken);
  };

  const tokenize = (text: string): readonly number[] =>
    tokenizer(prefix + text.toWellFormed(), {
      truncation: true,
      max_length: maxTokens,
      return_tensor: false,
    }).input_ids;

  let batchSize = MAX_BATCH;
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const byLength = new Map<number, { tokens: (readonly number[])[]; places: number[] }>();
    texts.forEach((text, place) => {
      const tokens = tokenize(text);
      const group = byLength.get(tokens.length) ?? { tokens: [], places: [] };
      group.tokens.push(tokens);
      group.places.push(place);
      byLength.set(tokens.length, group);
    });
    const vectors: Float32Array[] = texts.map(() => EMPTY);
    for (const [length, { tokens, places }] of byLength) {
      if (length === 0) {
        for (const place of places) vectors[place] = new Float32Array(dimensions);
        continue;
      }
      const size = Math.max(1, Math.min(batchSize, Math.floor(MAX_BATCH_TOKENS / length)));
      for (let start = 0; start < tokens.length; start += size) {
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
    const together = await embed(PROBES);
    dimensions = together[0]?.length ?? 0;
    batchSize = 1;
    const alone = await embed(PROBES);
    if (alone.every((vector, i) => sameBits(vector, together[i] ?? EMPTY))) batchSize = MAX_BATCH;
    thresholds = settings === null ? calibrate(alone) : pickThresholds(settings);
  } catch (cause) {
    throw unusable(folder, cause);
  }

  return {
    id: `${name}@${digestOf(folder, weights.file)}`,
    dimensions,
    thresholds,
    embed,
    close: async () => {
      await model.dispose();
    },
  };
}

const EMPTY = new Float32Array(0);

function findModel({ model, modelsDirectory }: EmbedderOptions): string {
  const candidates = isAbsolute(model) ? [model] : [resolve(modelsDirectory, model), resolve(model)];
  const found = candidates.find((folder) => existsSync(join(folder, 'config.json')));
  if (found !== undefined) {
    for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
      if (!existsSync(join(found, file)))
        throw new SetupError(`${found} has no ${file}: fetch the model again`);
    }
    return found;
  }
  const known = existsSync(modelsDirectory)
    ? readdirSync(modelsDirectory).filter((name) => existsSync(join(modelsDirectory, name, 'config.json')))
    : [];
  const choice = known.length === 0 ? '' : ` (there: ${known.join(', ')})`;
  throw new SetupError(
    `no embedding model "${model}": set EMBEDDING_MODEL to a folder with config.json, tokenizer.json and onnx/, or to the name of one in ${modelsDirectory}${choice}`,
  );
}

function unusable(folder: string, cause: unknown): SetupError {
  const reason = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0] ?? '';
  return new SetupError(
    `the embedding model in ${folder} cannot be used (${reason.slice(0, 300)}): fetch it again, or set EMBEDDING_MODEL to another`,
    { cause },
  );
}

/** A file's content, or null when there is no file. Throws SetupError when it has the wrong shape. */
function readOptional<T>(path: string, schema: z.ZodType<T>): T | null {
  if (!existsSync(path)) return null;
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const reason =
      cause instanceof z.ZodError
        ? cause.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
        : 'is not JSON';
    throw new SetupError(`${path} is not usable (${reason}): correct it or fetch the model again`, { cause });
  }
}

function tokenLimit(folder: string): number {
  const positions = readOptional(join(folder, 'config.json'), configSchema)?.max_position_embeddings;
  const length = readOptional(join(folder, 'tokenizer_config.json'), tokenizerConfigSchema)?.model_max_length;
  const limit = Math.min(positions ?? DEFAULT_MAX_TOKENS, length ?? DEFAULT_MAX_TOKENS, DEFAULT_MAX_TOKENS);
  return Math.max(1, Math.floor(limit));
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
function pool(output: unknown, rows: number, length: number, useFirstToken: boolean): Float32Array[] {
  const pooled = tensorOf(output, 'sentence_embedding');
  if (pooled !== null) {
    const width = pooled.dims[1] ?? 0;
    return Array.from({ length: rows }, (_, row) =>
      normalised(pooled.data.slice(row * width, (row + 1) * width)),
    );
  }
  const states = tensorOf(output, 'last_hidden_state') ?? tensorOf(output, 'token_embeddings');
  if (states === null) throw new Error('it gives neither sentence_embedding nor last_hidden_state');
  const width = states.dims[2] ?? 0;
  return Array.from({ length: rows }, (_, row) => {
    const sum = new Float32Array(width);
    for (let token = 0; token < (useFirstToken ? 1 : length); token++) {
      const start = (row * length + token) * width;
      for (let i = 0; i < width; i++) sum[i] = (sum[i] ?? 0) + (states.data[start + i] ?? 0);
    }
    return normalised(sum);
  });
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

function pickThresholds({ micro, topic, cluster, repeated }: Thresholds): Thresholds {
  return { micro, topic, cluster, repeated };
}

function digestOf(folder: string, weights: string): string {
  const hash = createHash('sha256');
  for (const file of [join('onnx', weights), 'tokenizer.json', 'tokenizer_config.json', 'thresholds.json']) {
    const path = join(folder, file);
    if (existsSync(path)) hash.update(readFileSync(path));
    hash.update('\0');
  }
  return hash.digest('hex').slice(0, 12);
}
