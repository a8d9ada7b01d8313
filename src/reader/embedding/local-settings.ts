/**
 * The settings with which transformers.js loads a model from a folder. Never fetches anything.
 *
 * Test: test/reader/embedding/name-finder.test.ts.
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WEIGHTS, weightsOf } from './local-folder.ts';
import { isPartOf } from './model-files.ts';
import { env } from './transformers.ts';

/** Returns the model's name and the settings for `from_pretrained`. Also sets the library's paths, which are global. */
export function localSettings(folder: string) {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = dirname(folder);
  const weights = weightsOf(folder) ?? WEIGHTS[0];
  return {
    name: basename(folder),
    settings: {
      local_files_only: true,
      dtype: weights.dtype,
      use_external_data_format: readdirSync(join(folder, 'onnx')).filter((file) =>
        isPartOf(file, weights.file),
      ).length,
      session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 },
    },
  } as const;
}
