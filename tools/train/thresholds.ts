/**
 * Finds a model's thresholds on development sets that it was not trained on: those at which topics, found
 * online without being told how many, agree best with labelled requests.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Thresholds } from '../../src/domain/model-thresholds.ts';
import { dotOf } from '../../src/reader/numeric/vectors.ts';
import { clusteringScores } from '../eval/clustering-scores.ts';
import {
  intentConversations,
  schemaGuidedConversations,
  type LabelledConversation,
} from '../eval/conversations.ts';
import { kMeans } from '../eval/k-means.ts';
import { loadPipeline, type Pipeline } from '../eval/pipeline.ts';
import type { EvalOptions } from '../eval/report.ts';

type ModelThresholds = Omit<Thresholds, 'background'>;

const MICRO = [0.58, 0.62, 0.66, 0.7] as const;
const TOPIC = [0.34, 0.38, 0.42, 0.46] as const;
const CLUSTER = [0.18, 0.22, 0.26] as const;
/** Share of pairs of different requests that may lie above the threshold of a repeated one. */
const FALSE_REPEATS = 0.0035;
/** What a wrong number of groups costs, in shares of k-means' ARI for each power of e. */
const NUMBER_COST = 0.15;
/** Each set is looked at this many times, in other orders or parts: one alone depends on chance. */
const LOOKS = 3;
/** Turns of both sides in a part. */
const TURNS = 5000;
const START: ModelThresholds = { micro: 0.62, topic: 0.42, cluster: 0.22, repeated: 0.55 };

type DevelopmentSet = readonly LabelledConversation[];

/** Tries thresholds on DSTC11 insurance and SGD and writes `thresholds.json` of the best into `folder`. */
export async function writeThresholds(
  folder: string,
  dataDirectory: string,
  say: (text: string) => void,
): Promise<void> {
  const options: EvalOptions = {
    dataDirectory,
    file: null,
    modelsDirectory: join(folder, '..'),
    model: folder,
  };
  const insurance = await intentConversations(options, 'dstc11-development-insurance', 1000);
  const services = await schemaGuidedConversations(options, LOOKS * TURNS);
  const sets: DevelopmentSet[] = Array.from({ length: LOOKS }, (_, look) => {
    const [start, end] = [look / LOOKS, (look + 1) / LOOKS];
    const at = Math.floor(insurance.length * start);
    return [
      [...insurance.slice(at), ...insurance.slice(0, at)],
      services.slice(Math.floor(services.length * start), Math.floor(services.length * end)),
    ];
  }).flat();
  const write = (thresholds: ModelThresholds): void => {
    writeFileSync(join(folder, 'thresholds.json'), `${JSON.stringify(thresholds, null, 2)}\n`);
  };
  /** Agreement with the labels as a share of what k-means reaches, less the cost of a wrong number. */
  const scoreOf = async (thresholds: ModelThresholds, of: 'topics' | 'clusters'): Promise<number> => {
    write(thresholds);
    const pipeline = await loadPipeline(options);
    let sum = 0;
    for (const conversations of sets) sum += await agreement(pipeline, conversations, of);
    await pipeline.close();
    return sum / sets.length;
  };
  const best = async (
    candidates: readonly ModelThresholds[],
    of: 'topics' | 'clusters',
  ): Promise<ModelThresholds> => {
    let found = candidates[0]!;
    let highest = Number.NEGATIVE_INFINITY;
    for (const candidate of candidates) {
      const score = await scoreOf(candidate, of);
      say(`${of} ${score.toFixed(3)} with ${JSON.stringify(candidate)}`);
      if (score > highest) [found, highest] = [candidate, score];
    }
    return found;
  };

  write(START);
  let chosen: ModelThresholds = { ...START, repeated: await falseRepeatCosine(options, sets) };
  chosen = await best(
    TOPIC.map((topic) => ({ ...chosen, topic })),
    'topics',
  );
  chosen = await best(
    MICRO.map((micro) => ({ ...chosen, micro })),
    'topics',
  );
  chosen = await best(
    CLUSTER.map((cluster) => ({ ...chosen, cluster })),
    'clusters',
  );
  write(chosen);
}

async function agreement(
  pipeline: Pipeline,
  conversations: readonly LabelledConversation[],
  of: 'topics' | 'clusters',
): Promise<number> {
  const { turns, topics } = await pipeline.assign(conversations);
  const labels = turns.map(({ label, domain }) => (of === 'topics' ? label : domain));
  const number = new Set(labels).size;
  if (number < 2) return 0;
  const groups = turns.map(({ topic }) =>
    of === 'topics' || topic === null ? topic : (topics.get(topic)?.cluster ?? null),
  );
  const vectors = await pipeline.embedder.embed(turns.map(({ content }) => content));
  const scores = clusteringScores(kMeans(vectors, number), labels);
  const found = clusteringScores(groups, labels);
  return found.ari / scores.ari - NUMBER_COST * Math.abs(Math.log(Math.max(1, found.groups) / number));
}

/** The cosine that only `FALSE_REPEATS` of the pairs of differently labelled requests exceed. */
async function falseRepeatCosine(options: EvalOptions, sets: readonly DevelopmentSet[]): Promise<number> {
  const pipeline = await loadPipeline(options);
  const cosines: number[] = [];
  for (const conversations of sets) {
    const turns = conversations
      .flatMap(({ turns: all }) => all)
      .filter(({ label }) => label !== null)
      .slice(0, 1000);
    const vectors = await pipeline.embedder.embed(turns.map(({ content }) => content));
    for (let a = 0; a < turns.length; a += 1) {
      for (let b = a + 1; b < turns.length; b += 1) {
        if (turns[a]!.label === turns[b]!.label) continue;
        cosines.push(dotOf(vectors[a]!, vectors[b]!));
      }
    }
  }
  await pipeline.close();
  const sorted = Float64Array.from(cosines).sort();
  return Math.round(sorted[Math.floor(sorted.length * (1 - FALSE_REPEATS))]! * 100) / 100;
}
