/**
 * The files of an embedding model, in the layout of the hub.
 * Covered by test/reader/embedding/model-folder.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { SetupError } from '../../errors.ts';

export interface Weights {
  /** Below `onnx/`. */
  readonly file: string;
  /** transformers.js' name of the data type. */
  readonly dtype: 'q8' | 'int8' | 'fp32' | 'fp16';
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

/** Whether a file holds more of a weights file's numbers: `model.onnx_data`, `model.onnx_data_1`, …. */
export function isPartOf(file: string, weights: string): boolean {
  return (
    file.startsWith(`${weights}_data`) && /^(?:_\d+)?$/.test(file.slice(weights.length + '_data'.length))
  );
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
