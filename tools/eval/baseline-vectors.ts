/**
 * Vectors to compare a model with, made of words alone: random directions weighted by smooth inverse frequency
 * (SIF), and TF-IDF. Both need no training. Covered by test/tools/eval/embedding.test.ts.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { addTo } from '../../src/reader/numeric/vectors.ts';
import { countsOf } from './counts.ts';
import { dataSetPath, readAs, readDialogues } from './data.ts';
import { unit } from './vector-scores.ts';

/** A way to make vectors of unit length (or zeros). */
export interface VectorMethod {
  readonly name: string;
  embed(texts: readonly string[]): Promise<Float32Array[]> | Float32Array[];
}

const WORD = /\p{Script=Han}|[\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu;

/** Words, and single characters of scripts without spaces: what these baselines count. */
function unigramsOf(text: string): string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

const RANDOM_DIMENSIONS = 256;
/** Enough for cosines of projected TF-IDF vectors to be those of the vectors themselves, give or take 0.03. */
const PROJECTED_DIMENSIONS = 1024;
const SIF = 1e-3;

/** Conversations and texts about anything, by which words are common or rare. */
const AT_LARGE = [
  'dialogues/llm-hh-rlhf-harmless',
  'dialogues/llm-oasst-en100',
  'dialogues/taskmaster4-coffee',
  'dialogues/topical-chat',
  'dialogues/sgd-train',
] as const;

/** Shares of words in conversations at large; null without the data sets. Measures only: part of it is share-alike. */
export async function wordFrequencies(dataDirectory: string): Promise<ReadonlyMap<string, number> | null> {
  if (!existsSync(join(dataDirectory, 'dialogues'))) return null;
  const texts: string[] = [];
  for (const name of AT_LARGE)
    for await (const { turns } of readDialogues(dataSetPath(dataDirectory, name)))
      texts.push(...turns.map(({ content }) => content));
  for await (const { a } of readAs(dataSetPath(dataDirectory, 'text/p3-t0-prompts'), promptSchema))
    texts.push(a);
  return frequenciesIn(texts);
}

const promptSchema = z.looseObject({ a: z.string() });

/** Share of each word in `texts`. */
export function frequenciesIn(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = countsOf(wordsIn(texts));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return new Map([...counts].map(([word, count]) => [word, count / total]));
}

function* wordsIn(texts: readonly string[]): Generator<string> {
  for (const text of texts) yield* unigramsOf(text);
}

/**
 * Random directions of words weighted by smooth inverse frequency (Arora et al. 2017); by default that within
 * `texts`.
 */
export function sifVectors(
  texts: readonly string[],
  frequencies: ReadonlyMap<string, number> = frequenciesIn(texts),
): VectorMethod {
  return projection('random SIF', RANDOM_DIMENSIONS, (word) => SIF / (SIF + (frequencies.get(word) ?? 0)));
}

/** TF-IDF within `texts`, projected at random so that k-means can handle it. */
export function tfIdf(texts: readonly string[]): VectorMethod {
  const counts = countsOf(texts.flatMap((text) => [...new Set(unigramsOf(text))]));
  return projection(
    'TF-IDF',
    PROJECTED_DIMENSIONS,
    (word) => Math.log((1 + texts.length) / (1 + (counts.get(word) ?? 0))) + 1,
  );
}

function projection(name: string, dimensions: number, weightOf: (word: string) => number): VectorMethod {
  const directions = new Map<string, Float32Array>();
  const directionOf = (word: string): Float32Array => {
    let direction = directions.get(word);
    if (direction === undefined) {
      const bits = createHash('shake256', { outputLength: dimensions / 8 })
        .update(word)
        .digest();
      const weight = weightOf(word);
      direction = Float32Array.from({ length: dimensions }, (_, i) =>
        ((bits[i >> 3]! >> (i & 7)) & 1) === 0 ? -weight : weight,
      );
      directions.set(word, direction);
    }
    return direction;
  };
  return {
    name,
    embed: (texts) =>
      texts.map((text) => {
        const sum = new Float32Array(dimensions);
        for (const word of unigramsOf(text)) addTo(sum, directionOf(word));
        return unit(sum);
      }),
  };
}
