/**
 * Opens a model and runs tokens through it. Never fetches anything.
 *
 * Test: test/reader/embedding/embedder.test.ts, test/reader/embedding/hub-layouts.test.ts.
 */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import type { ModelFolder } from './model-folder.ts';
import { AutoModel, AutoTokenizer, env, Tensor } from './transformers.ts';

/** Numbers of a model with their shape, rows first. */
export interface Matrix {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** A model's output for a batch of texts; null for what it does not return. */
export interface ModelOutput {
  /** One row per text. */
  readonly sentences: Matrix | null;
  /** One row per token of each text. */
  readonly tokens: Matrix | null;
}

export interface OnnxModel {
  /** Returns all tokens of a text, including those that the tokenizer puts around it. */
  tokensOf(text: string): readonly number[];
  /** Runs texts of equal length, as tokens. */
  run(batch: readonly (readonly number[])[]): Promise<ModelOutput>;
  close(): Promise<void>;
}

/** Loads tokenizer and weights of a folder. Passes on the library's errors. */
export async function openModel(folder: ModelFolder, threads: number): Promise<OnnxModel> {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = dirname(folder.path);
  const name = basename(folder.path);
  const tokenizer = await AutoTokenizer.from_pretrained(name, { local_files_only: true });
  const model = await AutoModel.from_pretrained(name, {
    local_files_only: true,
    dtype: folder.weights.dtype,
    use_external_data_format: folder.parts.length,
    session_options: {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      logSeverityLevel: 4,
    },
  });
  const wantsTypes = inputNamesOf(model).includes('token_type_ids');
  return {
    tokensOf: (text) => tokenizer(text, { return_tensor: false }).input_ids,
    run: async (batch) => {
      const shape = [batch.length, batch[0]?.length ?? 0];
      const ids = BigInt64Array.from(batch.flat(), BigInt);
      const feeds: Record<string, Tensor> = {
        input_ids: new Tensor('int64', ids, shape),
        attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
      };
      if (wantsTypes) feeds['token_type_ids'] = new Tensor('int64', new BigInt64Array(ids.length), shape);
      const output: unknown = await model(feeds);
      return {
        sentences: matrixOf(output, 'sentence_embedding'),
        tokens: matrixOf(output, 'last_hidden_state') ?? matrixOf(output, 'token_embeddings'),
      };
    },
    close: async () => {
      await model.dispose();
    },
  };
}

function inputNamesOf(model: object): readonly string[] {
  const shape = z.looseObject({
    sessions: z.record(z.string(), z.looseObject({ inputNames: z.array(z.string()) })),
  });
  const parsed = shape.safeParse(model);
  return parsed.success ? Object.values(parsed.data.sessions).flatMap((session) => session.inputNames) : [];
}

function matrixOf(output: unknown, name: string): Matrix | null {
  if (typeof output !== 'object' || output === null || !(name in output)) return null;
  const tensor = (output as Record<string, unknown>)[name];
  if (!(tensor instanceof Tensor) || !(tensor.data instanceof Float32Array)) return null;
  return { data: tensor.data, dims: tensor.dims };
}
