/**
 * Describes the folder of an embedding model in the layout of the hub: the file of its weights, how token states become
 * one vector, the prefix of each text, the longest text. Does not load the weights.
 *
 * Test: test/reader/embedding/model-folder.test.ts.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Thresholds } from '../../domain/model-thresholds.ts';
import { SetupError } from '../../errors.ts';
import { commonPartsSchema, type CommonPart } from './common-parts.ts';
import { familiaritySchema, type Familiarity } from './familiarity.ts';
import { isPartOf, readOptional, WEIGHTS, type Weights } from './model-files.ts';
import { readTraining, type Training } from './model-training.ts';

export interface ModelFolder extends Training {
  /** Absolute path. */
  readonly path: string;
  /** Name of the folder itself. */
  readonly name: string;
  readonly weights: Weights;
  /** Files that continue the weights (`model.onnx_data`, …), beside them. */
  readonly parts: readonly string[];
  /** Length of the vectors according to `config.json`; null if it does not say. */
  readonly hiddenSize: number | null;
  /** Most tokens of a text; a longer one is cut. */
  readonly maxTokens: number;
  /** Content of its `common-parts.json`; [] if there is none. */
  readonly commonParts: readonly CommonPart[];
  /** Content of its `familiarity.json`; null if there is none. */
  readonly familiarity: Familiarity | null;
  /** Content of its `thresholds.json`; null if they must be calibrated. */
  readonly thresholds: Thresholds | null;
}

/** Token limit if the model's files name none; longer texts cost more than they tell. */
const MOST_TOKENS = 512;

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
  /** DistilBERT's name for the hidden size. */
  dim: z.number().int().positive().optional(),
  _name_or_path: z.string().optional(),
  model_type: z.string().optional(),
});
const tokenizerConfigSchema = z.looseObject({ model_max_length: z.number().positive().optional() });
const sentenceConfigSchema = z.looseObject({
  max_seq_length: z.number().int().positive().nullable().optional(),
});
/** Reads a model's folder. Throws SetupError, in one line, if a file is missing or unusable. */
export function readModelFolder(path: string): ModelFolder {
  const name = basename(path);
  const weights = WEIGHTS.find(({ file }) => existsSync(join(path, 'onnx', file)));
  if (weights === undefined) {
    const names = WEIGHTS.map(({ file }) => file).join(', ');
    throw new SetupError(`${path} has no weights: put one of ${names} into ${join(path, 'onnx')}`);
  }
  const config = readOptional(join(path, 'config.json'), configSchema);
  const settings = readOptional(join(path, 'thresholds.json'), thresholdsSchema);
  const training = readTraining(path, [name, config?._name_or_path ?? '']);
  return {
    path,
    name,
    weights,
    parts: readdirSync(join(path, 'onnx'))
      .filter((file) => isPartOf(file, weights.file))
      .toSorted(),
    hiddenSize: config?.hidden_size ?? config?.dim ?? null,
    maxTokens: tokenLimit(path, config),
    commonParts: readOptional(join(path, 'common-parts.json'), commonPartsSchema) ?? [],
    familiarity: readOptional(join(path, 'familiarity.json'), familiaritySchema),
    ...training,
    prefix: settings?.prefix ?? training.prefix,
    thresholds: settings === null ? null : thresholdsOf(settings),
  };
}

function thresholdsOf({ micro, topic, cluster, repeated }: z.infer<typeof thresholdsSchema>): Thresholds {
  return { micro, topic, cluster, repeated };
}

function tokenLimit(path: string, config: z.infer<typeof configSchema> | null): number {
  const positions = config?.max_position_embeddings ?? MOST_TOKENS;
  const limits = [
    // RoBERTa and its kin reserve the first two positions.
    /roberta|camembert/i.test(config?.model_type ?? '') ? positions - 2 : positions,
    readOptional(join(path, 'tokenizer_config.json'), tokenizerConfigSchema)?.model_max_length,
    readOptional(join(path, 'sentence_bert_config.json'), sentenceConfigSchema)?.max_seq_length,
    MOST_TOKENS,
  ];
  return Math.max(1, Math.floor(Math.min(...limits.map((limit) => limit ?? MOST_TOKENS))));
}
