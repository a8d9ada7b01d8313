/**
 * Generates text with a local model in the layout of the hub (`onnx/`, `tokenizer.json`). Nothing is ever fetched.
 * Covered by test/writer/local-model.test.ts.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { SetupError } from '../../errors.ts';
import { isPartOf, NEEDED_FILES } from '../embed/model-files.ts';
import { AutoModelForCausalLM, AutoTokenizer, env, Tensor } from '../embed/transformers.ts';

export interface TextGenerator {
  /** What a model says next; the likeliest words, so the same each time. */
  generate(messages: readonly { readonly role: string; readonly content: string }[]): Promise<string>;
}

/** Weights by preference: small first. The suffixes are the hub's. */
const WEIGHTS = [
  { file: 'model_q4.onnx', dtype: 'q4' },
  { file: 'model_quantized.onnx', dtype: 'q8' },
  { file: 'model_int8.onnx', dtype: 'int8' },
  { file: 'model.onnx', dtype: 'fp32' },
  { file: 'model_fp16.onnx', dtype: 'fp16' },
] as const;

/** Longer than a summary in any language; models that think aloud have some room. */
const MOST_TOKENS = 400;

/**
 * The folder of a model: a path, or a name in `modelsDirectory`. Throws SetupError when it holds no model.
 */
export function findGenerator(model: string, modelsDirectory: string): string {
  const candidates = isAbsolute(model) ? [model] : [resolve(modelsDirectory, model), resolve(model)];
  const folder = candidates.find((path) => existsSync(join(path, 'config.json')));
  if (folder === undefined)
    throw new SetupError(
      `WRITER_MODEL: no model in ${candidates.join(' or ')}. Put config.json, tokenizer.json and onnx/ of a ` +
        'text-generation model there.',
    );
  const weights = weightsOf(folder)?.file ?? WEIGHTS[0].file;
  const missing = [...NEEDED_FILES, `onnx/${weights}`].filter((file) => !existsSync(join(folder, file)));
  if (missing.length > 0) throw new SetupError(`WRITER_MODEL: ${folder} lacks ${missing.join(', ')}.`);
  return folder;
}

/** Loads a model. Throws what the library throws. */
export async function openGenerator(folder: string): Promise<TextGenerator> {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = dirname(folder);
  const name = basename(folder);
  const weights = weightsOf(folder) ?? WEIGHTS[0];
  const tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true });
  const model = await AutoModelForCausalLM.from_pretrained(name, {
    local_files_only: true,
    dtype: weights.dtype,
    use_external_data_format: readdirSync(join(folder, 'onnx')).filter((file) => isPartOf(file, weights.file))
      .length,
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 },
  });
  return {
    async generate(messages) {
      const inputs = tokenizer.apply_chat_template(
        messages.map((message) => ({ ...message })),
        { add_generation_prompt: true, return_dict: true },
      ) as Record<string, Tensor>;
      const output: unknown = await model.generate({
        ...inputs,
        max_new_tokens: MOST_TOKENS,
        do_sample: false,
      });
      if (!(output instanceof Tensor)) throw new Error('the model gave no tokens');
      const prompt = inputs['input_ids']?.dims.at(-1) ?? 0;
      const [text = ''] = tokenizer.batch_decode(output.slice(null, [prompt, output.dims.at(-1) ?? prompt]), {
        skip_special_tokens: true,
      });
      return text;
    },
  };
}

function weightsOf(folder: string): (typeof WEIGHTS)[number] | undefined {
  return WEIGHTS.find(({ file }) => existsSync(join(folder, 'onnx', file)));
}
