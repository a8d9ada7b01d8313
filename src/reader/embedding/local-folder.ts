/**
 * Finds the folder of a model that a setting names, in the layout of the hub. Never fetches anything.
 *
 * Test: test/doors/writer/local-model.test.ts, test/reader/embedding/name-finder.test.ts.
 */
import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { SetupError } from '../../errors.ts';
import { NEEDED_FILES } from './model-files.ts';

/** Files of weights by preference, small ones first. The suffixes are the hub's. */
export const WEIGHTS = [
  { file: 'model_q4.onnx', dtype: 'q4' },
  { file: 'model_quantized.onnx', dtype: 'q8' },
  { file: 'model_int8.onnx', dtype: 'int8' },
  { file: 'model.onnx', dtype: 'fp32' },
  { file: 'model_fp16.onnx', dtype: 'fp16' },
] as const;

/** A setting that names a model, such as `WRITER_MODEL`, with its value and the model's task. */
export interface NamedModel {
  readonly setting: string;
  /** A path, or a name in `modelsDirectory`. */
  readonly model: string;
  /** Task of the model, such as `text-generation`. */
  readonly task: string;
}

/** Returns the folder of a model. Throws SetupError, naming the setting, if it holds no model. */
export function findLocalFolder({ setting, model, task }: NamedModel, modelsDirectory: string): string {
  const candidates = isAbsolute(model) ? [model] : [resolve(modelsDirectory, model), resolve(model)];
  const folder = candidates.find((path) => existsSync(join(path, 'config.json')));
  if (folder === undefined)
    throw new SetupError(
      `${setting}: no model in ${candidates.join(' or ')}. Put config.json, tokenizer.json and onnx/ of a ` +
        `${task} model there.`,
    );
  const weights = weightsOf(folder)?.file ?? WEIGHTS[0].file;
  const missing = [...NEEDED_FILES, `onnx/${weights}`].filter((file) => !existsSync(join(folder, file)));
  if (missing.length > 0) throw new SetupError(`${setting}: ${folder} lacks ${missing.join(', ')}.`);
  return folder;
}

/** The file of weights to load from a folder; undefined if there is none. */
export function weightsOf(folder: string): (typeof WEIGHTS)[number] | undefined {
  return WEIGHTS.find(({ file }) => existsSync(join(folder, 'onnx', file)));
}
