/**
 * How a model was trained to make vectors, and so has to be used.
 * Covered by test/reader/embedding/hub-layouts.test.ts.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { SetupError } from '../../errors.ts';
import { readOptional } from './model-files.ts';

/** How the states of a text's tokens become one vector: their mean, their maxima, the first or the last. */
export type Pooling = 'mean' | 'max' | 'cls' | 'last';

/**
 * Well-known families, for models whose files leave out how they were trained (conversions to ONNX often do).
 * The first that fits the folder's name, or the name of the model that it was converted from, counts.
 */
/** Models that speak for a text through its first token. */
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
  // Instructions for queries only: what is like each other goes without.
  { name: /(?:^|[-_/])e5[-_].{0,64}instruct/i, pooling: 'mean', prefix: '' },
  { name: /(?:^|[-_/])e5(?:[-_]|$)/i, pooling: 'mean', prefix: 'query: ' },
  { name: /nomic-embed-text/i, pooling: 'mean', prefix: 'clustering: ' },
  { name: new RegExp(FIRST_TOKEN.join('|'), 'i'), pooling: 'cls', prefix: '' },
  { name: /qwen3-embedding/i, pooling: 'last', prefix: '' },
];

const modulesSchema = z.array(z.looseObject({ type: z.string() }));

export interface Training {
  /** Unused when the model gives a `sentence_embedding` itself. */
  readonly pooling: Pooling;
  /** Put before every text; models such as E5 are trained with one. */
  readonly prefix: string;
  /** A layer after pooling that only a `sentence_embedding` of the model itself can contain. */
  readonly needsSentenceOutput: boolean;
}

/** What the files of a folder say, else what is known of its family by one of its `names`. Throws SetupError. */
export function readTraining(path: string, names: readonly string[]): Training {
  const family = FAMILIES.find(({ name }) => names.some((known) => name.test(known)));
  const modules = readOptional(join(path, 'modules.json'), modulesSchema) ?? [];
  return {
    pooling: poolingOf(path) ?? family?.pooling ?? 'mean',
    prefix: promptOf(path) ?? family?.prefix ?? '',
    needsSentenceOutput: modules.some(({ type }) => type.endsWith('.Dense')),
  };
}

/** What sentence-transformers calls each way of pooling. Scaling by the length leaves the direction as it is. */
const POOLING_MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_mean_sqrt_len_tokens: 'mean',
  pooling_mode_max_tokens: 'max',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last',
};

const poolingSchema = z.record(z.string(), z.unknown());

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

const promptsSchema = z.looseObject({
  prompts: z.record(z.string(), z.string()).optional(),
  default_prompt_name: z.string().nullable().optional(),
});

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
