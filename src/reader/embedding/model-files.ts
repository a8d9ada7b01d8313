/**
 * The files of an embedding model, in the layout of the hub.
 *
 * Test: test/reader/embedding/model-folder.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { SetupError } from '../../errors.ts';

export interface Weights {
  /** File name below `onnx/`. */
  readonly file: string;
  /** The data type, as transformers.js names it. */
  readonly dtype: 'q8' | 'int8' | 'fp32' | 'fp16';
}

/** Files of weights by preference, small ones first. The suffixes are the hub's. */
export const WEIGHTS: readonly Weights[] = [
  { file: 'model_quantized.onnx', dtype: 'q8' },
  { file: 'model_int8.onnx', dtype: 'int8' },
  { file: 'model.onnx', dtype: 'fp32' },
  { file: 'model_fp16.onnx', dtype: 'fp16' },
];

/** Files that every model needs besides its weights. */
export const NEEDED_FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json'] as const;
/** Optional files that say how its vectors are made. */
export const SETTINGS_FILES = [
  'thresholds.json',
  'modules.json',
  '1_Pooling/config.json',
  'config_sentence_transformers.json',
  'sentence_bert_config.json',
] as const;

/** True if a file continues a file of weights: `model.onnx_data`, `model.onnx_data_1`, …. */
export function isPartOf(file: string, weights: string): boolean {
  return (
    file.startsWith(`${weights}_data`) && /^(?:_\d+)?$/.test(file.slice(weights.length + '_data'.length))
  );
}

/** Returns a file's content, or null if it is absent. Throws SetupError if it has the wrong shape. */
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
