/**
 * Embeds texts with a local model. Keeps the invariant that a text's vector depends on the text alone: texts of equal
 * length run together, so that neighbours never change the padding, and a model whose arithmetic still depends on the
 * batch size runs one text at a time. Vectors of a model without thresholds lose the part that all texts share
 * (`calibration.ts`); those of scripts that a model hardly knows, the part that these share (`common-parts.ts`). A text
 * also gets a flag whether the model knows its words (`familiarity.ts`).
 *
 * Test: test/reader/embedding/embedder.test.ts.
 */
import { UNWATCHED, type StepListener } from './step-listener.ts';
import type { Thresholds } from '../../domain/model-thresholds.ts';
import { SetupError } from '../../errors.ts';
import { embedInBatches, ignoresNeighbours, MAX_BATCH, sameBits, type Runner } from './batches.ts';
import { calibrate, commonPart, PROBES, REQUESTS } from './calibration.ts';
import { groupFinder } from './common-parts.ts';
import { familiarityTest } from './familiarity.ts';
import { modelDigest } from './model-digest.ts';
import { readModelFolder, type ModelFolder } from './model-folder.ts';
import { findModel, type ModelLocation } from './model-location.ts';
import { openModel, type OnnxModel } from './onnx-model.ts';
import { pool, withoutCommon } from './pooling.ts';
import { createTokenizer } from './tokenizer.ts';

/** A model's reading of a text. */
export interface TextReading {
  /** The vector, of unit length; all zeros for a text without a known token. */
  readonly vector: Float32Array;
  /** False if the model knows too few of its words to tell what it is about. */
  readonly isFamiliar: boolean;
}

export interface Embedder {
  /** Name and digest of the model. Another id means other vectors, so everything derived must be rebuilt. */
  readonly id: string;
  /** Length of each vector. */
  readonly dimensions: number;
  readonly thresholds: Thresholds;
  /**
   * Returns one reading per text, in order. Cuts a text at the model's limit. Notifies `steps` of each text and each
   * run of the model.
   */
  read(texts: readonly string[], steps?: StepListener): Promise<TextReading[]>;
  /** Returns only the vectors of `read`. */
  embed(texts: readonly string[], steps?: StepListener): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** An embedder over a model's folder. */
export interface LoadedEmbedder extends Embedder {
  readonly folder: ModelFolder;
  /** Most texts in one run of the model; 1 if a text's vector would otherwise depend on its neighbours. */
  readonly batchSize: number;
}

export interface EmbedderOptions extends ModelLocation {
  /** Threads inside the model. 1 is fastest for small models and leaves the cores to others. */
  readonly threads?: number;
}

/** Loads a model. Throws SetupError, in one line, if it is absent or unusable. */
export async function loadEmbedder(options: EmbedderOptions): Promise<LoadedEmbedder> {
  const path = findModel(options);
  const folder = readModelFolder(path);
  try {
    const model = await openModel(folder, options.threads ?? 1);
    const embedder = await embedderOver(model, folder);
    return { ...embedder, id: `${folder.name}@${await modelDigest(folder)}`, close: () => model.close() };
  } catch (cause) {
    throw unusable(path, cause);
  }
}

/** Tries the model on a few texts, to learn the length of its vectors and whether it may run texts together. */
async function embedderOver(
  model: OnnxModel,
  folder: ModelFolder,
): Promise<Omit<LoadedEmbedder, 'id' | 'close'>> {
  const tokenizer = createTokenizer((text) => model.tokensOf(text), folder, PROBES[0] ?? '');
  const runUncorrected: Runner = async (batch) => pool(await model.run(batch), batch.length, folder);
  const embedProbes = async (
    texts: readonly string[],
    run: Runner,
    batchSize: number,
  ): Promise<Float32Array[]> =>
    (await embedInBatches(texts, tokenizer, run, batchSize, UNWATCHED)).map(({ vector }) => vector ?? EMPTY);

  const common =
    folder.thresholds === null
      ? commonPart(await embedProbes([...PROBES, ...Object.values(REQUESTS).flat()], runUncorrected, 1))
      : EMPTY;
  const run: Runner = async (batch) =>
    (await runUncorrected(batch)).map((vector) => withoutCommon(vector, common));
  const together = await embedProbes(PROBES, run, MAX_BATCH);
  const alone = await embedProbes(PROBES, run, 1);
  const probeTokens = PROBES.flatMap((probe) => tokenizer.tokensOf(probe));
  const isIndependent =
    sameBits(alone, together) && (await ignoresNeighbours(run, probeTokens, folder.maxTokens));
  const batchSize = isIndependent ? MAX_BATCH : 1;
  const dimensions = alone[0]?.length ?? 0;
  const groupOf = folder.commonParts.length === 0 ? () => -1 : groupFinder(folder.commonParts);
  const parts = folder.commonParts.map(({ vector }) => Float32Array.from(vector));
  if (parts.some(({ length }) => length !== dimensions))
    throw new Error(`a vector of its common-parts.json has not ${dimensions} numbers`);
  const isFamiliar = familiarityTest(folder.familiarity);
  const read: Embedder['read'] = async (texts, steps = UNWATCHED) => {
    const embedded = await embedInBatches(texts, tokenizer, run, batchSize, steps);
    return embedded.map(({ tokens, vector }, place) => {
      if (vector === null) return { vector: new Float32Array(dimensions), isFamiliar: true };
      const group = groupOf(texts[place]!);
      return {
        vector: group < 0 ? vector : withoutCommon(vector, parts[group]!),
        isFamiliar: isFamiliar(tokens),
      };
    });
  };
  return {
    dimensions,
    thresholds: folder.thresholds ?? calibrate(alone),
    folder,
    batchSize,
    read,
    embed: async (texts, steps) => (await read(texts, steps)).map(({ vector }) => vector),
  };
}

const EMPTY = new Float32Array(0);

function unusable(folder: string, cause: unknown): SetupError {
  const reason = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0] ?? '';
  return new SetupError(
    `the embedding model in ${folder} cannot be used (${reason.slice(0, 300)}): fetch it again, or set ` +
      'EMBEDDING_MODEL to another',
    { cause },
  );
}
