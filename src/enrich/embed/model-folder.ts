/**
 * A folder with an embedding model in the layout of the hub: which file holds the weights, how token states become
 * one vector, what is put before each text, how long a text may be. Read without loading the weights.
 */
import { existsSync, readdirSync, readFileSync, type Dirent } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { Thresholds } from '../../domain/similarity-thresholds.ts';
import { SetupError } from '../../errors.ts';

/** How the states of a text's tokens become one vector: their mean, their maxima, the first or the last. */
export type Pooling = 'mean' | 'max' | 'cls' | 'last';

export interface Weights {
  /** Below `onnx/`. */
  readonly file: string;
  /** transformers.js' name of the data type. */
  readonly dtype: 'q8' | 'int8' | 'fp32' | 'fp16';
}

export interface ModelFolder {
  /** Absolute path. */
  readonly path: string;
  /** The folder's own name. */
  readonly name: string;
  readonly weights: Weights;
  /** Files with more of the weights (`model.onnx_data`, …), beside them. */
  readonly parts: readonly string[];
  /** Length of the vectors as `config.json` has it; null when it does not say. */
  readonly hiddenSize: number | null;
  /** A longer text is cut here. */
  readonly maxTokens: number;
  /** Unused when the model gives a `sentence_embedding` itself. */
  readonly pooling: Pooling;
  /** Put before every text; models such as E5 are trained with one. */
  readonly prefix: string;
  /** A layer after pooling that only a `sentence_embedding` of the model itself can contain. */
  readonly needsSentenceOutput: boolean;
  /** From its `thresholds.json`; null: they have to be calibrated. */
  readonly thresholds: Thresholds | null;
}

/** Weights by preference: small first. The suffixes are the hub's. */
export const WEIGHTS: readonly Weights[] = [
  { file: 'model_quantized.onnx', dtype: 'q8' },
  { file: 'model_int8.onnx', dtype: 'int8' },
  { file: 'model.onnx', dtype: 'fp32' },
  { file: 'model_fp16.onnx', dtype: 'fp16' },
];

/** Files without which a model cannot be loaded, beside the weights. */
export const NEEDED_FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json'] as const;
/** Files that say how its vectors are made, where it has them. */
export const SETTINGS_FILES = [
  'thresholds.json',
  'modules.json',
  '1_Pooling/config.json',
  'config_sentence_transformers.json',
  'sentence_bert_config.json',
] as const;

/** Token limit where the model's own files name none; longer texts cost more than they tell. */
const MOST_TOKENS = 512;

/**
 * Well-known families, for models whose files leave out how they were trained (conversions to ONNX often do).
 * The first that fits the folder's name, or the name of the model that it was converted from, counts.
 */
const FAMILIES: readonly { readonly name: RegExp; readonly pooling: Pooling; readonly prefix: string }[] = [
  // Instructions for queries only: what is like each other goes without.
  { name: /(?:^|[-_/])e5[-_].{0,64}instruct/i, pooling: 'mean', prefix: '' },
  { name: /(?:^|[-_/])e5(?:[-_]|$)/i, pooling: 'mean', prefix: 'query: ' },
  { name: /nomic-embed-text/i, pooling: 'mean', prefix: 'clustering: ' },
  {
    name: /(?:^|[-_/])bge[-_]|arctic-embed|mxbai-embed|gte-(?:modernbert|multilingual)|granite-embedding|simcse|-dot-v\d/i,
    pooling: 'cls',
    prefix: '',
  },
  { name: /qwen3-embedding/i, pooling: 'last', prefix: '' },
];

const thresholdsSchema = z.strictObject({
  micro: z.number().min(-1).max(1),
  topic: z.number().min(-1).max(1),
  cluster: z.number().min(-1).max(1),
  repeated: z.number().min(-1).max(1),
  prefix: z.string().optional(),
});
const configSchema = z.looseObject({
  max_position_embeddings: z.number().int().positive().optional(),
  hidden_size: z.number().int().positive().optional(),
  /** DistilBERT's names. */
  dim: z.number().int().positive().optional(),
  _name_or_path: z.string().optional(),
  model_type: z.string().optional(),
});
const tokenizerConfigSchema = z.looseObject({ model_max_length: z.number().positive().optional() });
const sentenceConfigSchema = z.looseObject({
  max_seq_length: z.number().int().positive().nullable().optional(),
});
const promptsSchema = z.looseObject({
  prompts: z.record(z.string(), z.string()).optional(),
  default_prompt_name: z.string().nullable().optional(),
});
const poolingSchema = z.record(z.string(), z.unknown());
const modulesSchema = z.array(z.looseObject({ type: z.string() }));

/** What sentence-transformers calls each way of pooling. Scaling by the length leaves the direction as it is. */
const POOLING_MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_mean_sqrt_len_tokens: 'mean',
  pooling_mode_max_tokens: 'max',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last',
};

export interface ModelLocation {
  /** A folder, or the name of one in `modelsDirectory` (`undertone-small`, `Xenova/all-MiniLM-L6-v2`). */
  readonly model: string;
  /** Absolute path. */
  readonly modelsDirectory: string;
}

/** The model's folder. Throws SetupError, naming what there is, when it is absent or not whole. */
export function findModel({ model, modelsDirectory }: ModelLocation): string {
  const candidates = isAbsolute(model) ? [model] : [resolve(modelsDirectory, model), resolve(model)];
  const found = candidates.find((folder) => existsSync(join(folder, 'config.json')));
  if (found !== undefined) {
    const missing = NEEDED_FILES.find((file) => !existsSync(join(found, file)));
    if (missing !== undefined) throw new SetupError(`${found} has no ${missing}: fetch the model again`);
    return found;
  }
  const known = modelNames(modelsDirectory);
  const choice = known.length === 0 ? '' : ` (there: ${known.join(', ')})`;
  const pull = /^[\w.-]+\/[\w.-]+$/.test(model)
    ? `; "npm run models -- pull ${model}" fetches one from the hub`
    : '';
  throw new SetupError(
    `no embedding model "${model}": set EMBEDDING_MODEL to a folder with config.json, tokenizer.json and onnx/, or to the name of one in ${modelsDirectory}${choice}${pull}`,
  );
}

/** Names of the models in a directory, in order: folders of it, and of its folders (`Xenova/all-MiniLM-L6-v2`). */
export function modelNames(modelsDirectory: string): string[] {
  const folders = (path: string): Dirent[] =>
    existsSync(path)
      ? readdirSync(path, { withFileTypes: true }).filter(
          (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'),
        )
      : [];
  const isModel = (path: string): boolean => existsSync(join(path, 'config.json'));
  const names: string[] = [];
  for (const { name } of folders(modelsDirectory)) {
    const path = join(modelsDirectory, name);
    if (isModel(path)) names.push(name);
    else
      for (const inner of folders(path))
        if (isModel(join(path, inner.name))) names.push(`${name}/${inner.name}`);
  }
  return names.toSorted();
}

/** What `EMBEDDING_MODEL` has to say to mean a folder: its name in `modelsDirectory`, else its path. */
export function modelName(folder: string, modelsDirectory: string): string {
  const inside = relative(modelsDirectory, folder);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside)
    ? folder
    : inside.replaceAll('\\', '/');
}

/** Reads a model's folder. Throws SetupError, in one line, when a file is missing or says nothing that can be used. */
export function readModelFolder(path: string): ModelFolder {
  const name = basename(path);
  const weights = WEIGHTS.find(({ file }) => existsSync(join(path, 'onnx', file)));
  if (weights === undefined) {
    const names = WEIGHTS.map(({ file }) => file).join(', ');
    throw new SetupError(`${path} has no weights: put one of ${names} into ${join(path, 'onnx')}`);
  }
  const config = readOptional(join(path, 'config.json'), configSchema);
  const settings = readOptional(join(path, 'thresholds.json'), thresholdsSchema);
  const family = FAMILIES.find((candidate) =>
    [name, config?._name_or_path ?? ''].some((known) => candidate.name.test(known)),
  );
  return {
    path,
    name,
    weights,
    parts: readdirSync(join(path, 'onnx'))
      .filter((file) => isPartOf(file, weights.file))
      .toSorted(),
    hiddenSize: config?.hidden_size ?? config?.dim ?? null,
    maxTokens: tokenLimit(path, config),
    pooling: poolingOf(path) ?? family?.pooling ?? 'mean',
    prefix: settings?.prefix ?? promptOf(path) ?? family?.prefix ?? '',
    needsSentenceOutput: (readOptional(join(path, 'modules.json'), modulesSchema) ?? []).some(({ type }) =>
      type.endsWith('.Dense'),
    ),
    thresholds:
      settings === null
        ? null
        : {
            micro: settings.micro,
            topic: settings.topic,
            cluster: settings.cluster,
            repeated: settings.repeated,
          },
  };
}

/** Whether a file holds more of a weights file's numbers: `model.onnx_data`, `model.onnx_data_1`, …. */
export function isPartOf(file: string, weights: string): boolean {
  return (
    file.startsWith(`${weights}_data`) && /^(?:_\d+)?$/.test(file.slice(weights.length + '_data'.length))
  );
}

function tokenLimit(path: string, config: z.infer<typeof configSchema> | null): number {
  const positions = config?.max_position_embeddings ?? MOST_TOKENS;
  const limits = [
    // RoBERTa and its kin keep the first two positions for themselves.
    /roberta|camembert/i.test(config?.model_type ?? '') ? positions - 2 : positions,
    readOptional(join(path, 'tokenizer_config.json'), tokenizerConfigSchema)?.model_max_length,
    readOptional(join(path, 'sentence_bert_config.json'), sentenceConfigSchema)?.max_seq_length,
    MOST_TOKENS,
  ];
  return Math.max(1, Math.floor(Math.min(...limits.map((limit) => limit ?? MOST_TOKENS))));
}

/** What `1_Pooling/config.json` says; null without it. Throws SetupError when it asks for what is not known. */
function poolingOf(path: string): Pooling | null {
  const file = join(path, '1_Pooling/config.json');
  const said = readOptional(file, poolingSchema);
  if (said === null) return null;
  const newer = said['pooling_mode'];
  const modes =
    typeof newer === 'string'
      ? [`pooling_mode_${newer}_tokens`, `pooling_mode_${newer}_token`, `pooling_mode_${newer}`].filter(
          (mode) => mode in POOLING_MODES,
        )
      : Object.keys(said).filter((mode) => mode.startsWith('pooling_mode_') && said[mode] === true);
  const pooling = modes.length === 1 ? POOLING_MODES[modes[0] ?? ''] : undefined;
  if (pooling === undefined) {
    const asked = typeof newer === 'string' ? newer : modes.join(' + ');
    throw new SetupError(
      `${file} asks for a pooling that is not supported (${asked || 'none'}): choose another model`,
    );
  }
  return pooling;
}

/**
 * The prompt for texts that are compared with each other: the one for clustering or for similarity; the default one;
 * the one for queries of a model that gives its documents a prompt, too, so that it has seen no text without one.
 */
function promptOf(path: string): string | null {
  const said = readOptional(join(path, 'config_sentence_transformers.json'), promptsSchema);
  const prompts = new Map(
    Object.entries(said?.prompts ?? {}).map(([name, prompt]) => [name.toLowerCase(), prompt]),
  );
  if (said === null || prompts.size === 0) return null;
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => prompts.get(name)).find((prompt) => prompt !== undefined);
  const alike = first('clustering', 'sts', 'similarity', 'sentence similarity');
  if (alike !== undefined) return alike;
  const byDefault = prompts.get((said.default_prompt_name ?? '').toLowerCase());
  if (byDefault !== undefined) return byDefault;
  return (first('passage', 'document') ?? '') === '' ? '' : (first('query') ?? '');
}

/** A file's content, or null when there is no file. Throws SetupError when it has the wrong shape. */
export function readOptional<T>(path: string, schema: z.ZodType<T>): T | null {
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
