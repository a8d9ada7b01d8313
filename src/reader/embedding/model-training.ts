/**
 * Reads the way in which a model was trained to make vectors, and so must be used: its pooling and its prefix.
 *
 * Test: test/reader/embedding/hub-layouts.test.ts.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { SetupError } from '../../errors.ts';
import { readOptional } from './model-files.ts';

/** Combines the states of a text's tokens into one vector: their mean, their maxima, the first or the last. */
export type Pooling = 'mean' | 'max' | 'cls' | 'last';

/**
 * Well-known families, for models whose files do not say how they were trained (conversions to ONNX often do not). The
 * first that fits the folder's name, or the name of the model that it was converted from, counts.
 */
/** Names of models that represent a text by its first token. */
const FIRST_TOKEN = [
  '(?:^|[-_/])bge[-_]',
  'arctic-embed',
  'mxbai-embed',
  'gte-(?:modernbert|multilingual)',
  'granite-embedding',
  'simcse',
  String.raw`-dot-v\d`,
];

const FAMILIES: readonly { readonly name: RegExp; readonly pooling: Pooling; readonly prefix: string }[] = [
  // Its instructions are for queries only; texts that are compared with each other take none.
  { name: /(?:^|[-_/])e5[-_].{0,64}instruct/i, pooling: 'mean', prefix: '' },
  { name: /(?:^|[-_/])e5(?:[-_]|$)/i, pooling: 'mean', prefix: 'query: ' },
  { name: /nomic-embed-text/i, pooling: 'mean', prefix: 'clustering: ' },
  { name: new RegExp(FIRST_TOKEN.join('|'), 'i'), pooling: 'cls', prefix: '' },
  { name: /qwen3-embedding/i, pooling: 'last', prefix: '' },
];

const modulesSchema = z.array(z.looseObject({ type: z.string() }));

export interface Training {
  /** Unused if the model itself returns a `sentence_embedding`. */
  readonly pooling: Pooling;
  /** Prefix of every text; models such as E5 are trained with one. */
  readonly prefix: string;
  /** True if a layer follows the pooling, which only the model's own `sentence_embedding` can contain. */
  readonly needsSentenceOutput: boolean;
}

/**
 * Reads the training from the files of a folder, else from the family of one of its `names`. Throws SetupError if a
 * file is unusable.
 */
export function readTraining(path: string, names: readonly string[]): Training {
  const family = FAMILIES.find(({ name }) => names.some((known) => name.test(known)));
  const modules = readOptional(join(path, 'modules.json'), modulesSchema) ?? [];
  return {
    pooling: poolingOf(path) ?? family?.pooling ?? 'mean',
    prefix: promptOf(path) ?? family?.prefix ?? '',
    needsSentenceOutput: modules.some(({ type }) => type.endsWith('.Dense')),
  };
}

/** Names of sentence-transformers for each pooling. Scaling by the length does not change the direction. */
const POOLING_MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_mean_sqrt_len_tokens: 'mean',
  pooling_mode_max_tokens: 'max',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last',
};

const poolingSchema = z.record(z.string(), z.unknown());

/** The pooling in `1_Pooling/config.json`; null without the file. Throws SetupError if it is not supported. */
function poolingOf(path: string): Pooling | null {
  const file = join(path, '1_Pooling/config.json');
  const config = readOptional(file, poolingSchema);
  if (config === null) return null;
  const newer = config['pooling_mode'];
  const modes =
    typeof newer === 'string'
      ? [`pooling_mode_${newer}_tokens`, `pooling_mode_${newer}_token`, `pooling_mode_${newer}`].filter(
          (mode) => mode in POOLING_MODES,
        )
      : Object.keys(config).filter((mode) => mode.startsWith('pooling_mode_') && config[mode] === true);
  const pooling = modes.length === 1 ? POOLING_MODES[modes[0] ?? ''] : undefined;
  if (pooling === undefined) {
    const asked = typeof newer === 'string' ? newer : modes.join(' + ');
    throw new SetupError(
      `${file} asks for a pooling that is not supported (${asked || 'none'}): choose another model`,
    );
  }
  return pooling;
}

const promptsSchema = z.looseObject({
  prompts: z.record(z.string(), z.string()).optional(),
  default_prompt_name: z.string().nullable().optional(),
});

/**
 * The prompt for texts that are compared with each other: the one for clustering or similarity; else the default one;
 * else the one for queries if documents have a prompt too, because the model then saw no text without one. Null if the
 * model has no prompts.
 */
function promptOf(path: string): string | null {
  const config = readOptional(join(path, 'config_sentence_transformers.json'), promptsSchema);
  const prompts = new Map(
    Object.entries(config?.prompts ?? {}).map(([name, prompt]) => [name.toLowerCase(), prompt]),
  );
  if (config === null || prompts.size === 0) return null;
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => prompts.get(name)).find((prompt) => prompt !== undefined);
  const alike = first('clustering', 'sts', 'similarity', 'sentence similarity');
  if (alike !== undefined) return alike;
  const byDefault = prompts.get((config.default_prompt_name ?? '').toLowerCase());
  if (byDefault !== undefined) return byDefault;
  return (first('passage', 'document') ?? '') === '' ? '' : (first('query') ?? '');
}
