/**
 * Topics found online, without being told how many, against k-means over the whole set that is told;
 * and topic clusters against the sets' domains.
 */
import { coreWords } from '../../src/language/core-words.ts';
import {
  givenConversations,
  intentConversations,
  loadPipeline,
  schemaGuidedConversations,
  type Assigned,
  type LabelledConversation,
  type Pipeline,
} from './assigned.ts';
import { clusteringScores } from './clustering-scores.ts';
import { sifVectors, tfIdf, wordFrequencies } from './embedding.ts';
import { kMeans } from './k-means.ts';
import type { EvalOptions, Evaluation, EvalTable } from './report.ts';

const COLUMNS = ['data', 'method', 'ACC', 'NMI = V', 'ARI', 'groups', 'labels', 'without'] as const;

interface DataSet {
  readonly name: string;
  readonly use: 'tuned on' | 'reported' | null;
  readonly conversations: readonly LabelledConversation[];
}

/** The sets; SGD is in no part of the default model's training, the others partly are. */
async function dataSets(options: EvalOptions): Promise<DataSet[]> {
  if (options.file !== null) return [{ ...(await givenConversations(options.file)), use: null }];
  const reported = 'reported' as const;
  return [
    {
      name: 'banking77',
      use: 'tuned on',
      conversations: await intentConversations(options, 'intents/banking77', 6000),
    },
    {
      name: 'multidogo',
      use: 'tuned on',
      conversations: await intentConversations(options, 'intents/multidogo-fastfood-media-software', 8000),
    },
    {
      name: 'clinc150',
      use: reported,
      conversations: await intentConversations(
        options,
        'intents/clinc150-5domains',
        9000,
        ({ domain }) => domain !== 'small_talk',
      ),
    },
    {
      name: 'dstc11',
      use: reported,
      conversations: await intentConversations(options, 'intents/dstc11-development-insurance', 1000),
    },
    {
      name: 'snips',
      use: reported,
      conversations: await intentConversations(options, 'intents/snips-train', 6000),
    },
    { name: 'sgd', use: reported, conversations: await schemaGuidedConversations(options, 20_000) },
  ];
}

function row(
  name: string,
  method: string,
  groups: readonly (string | number | null)[],
  labels: readonly string[],
): (string | number)[] {
  const scores = clusteringScores(groups, labels);
  const without = groups.filter((group) => group === null).length / groups.length;
  return [name, method, scores.accuracy, scores.nmi, scores.ari, scores.groups, scores.labels, without];
}

/** A group for each most frequent content word, as one would tag by hand: the word of the request that most others share. */
function byKeyWord(texts: readonly string[]): (string | null)[] {
  const stems = texts.map((text) => [
    ...new Set(
      coreWords(text)
        .filter((word) => word.content)
        .map((word) => word.stem),
    ),
  ]);
  const counts = new Map<string, number>();
  for (const stem of stems.flat()) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return stems.map((own) => {
    const best = own.sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1))[0];
    return best ?? null;
  });
}

async function vectorsOf(pipeline: Pipeline, assigned: Assigned): Promise<Float32Array[]> {
  return pipeline.embedder.embed(assigned.turns.map(({ content }) => content));
}

export const evaluation: Evaluation = {
  name: 'topics',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const frequencies = await wordFrequencies(options.dataDirectory);
    const topics: (string | number)[][] = [];
    const clusters: (string | number)[][] = [];
    for (const { name, use, conversations } of await dataSets(options)) {
      const assigned = await pipeline.assign(conversations);
      const labels = assigned.turns.map(({ label }) => label);
      const texts = assigned.turns.map(({ content }) => content);
      const title = use === null ? name : `${name} (${use})`;
      const vectors = await vectorsOf(pipeline, assigned);
      const number = new Set(labels).size;
      const sif = sifVectors(texts, frequencies ?? undefined);
      topics.push(
        row(
          title,
          'online topics',
          assigned.turns.map(({ topic }) => topic),
          labels,
        ),
        row(title, 'k-means, told k', kMeans(vectors, number), labels),
        row(title, 'k-means of random SIF, told k', kMeans(await sif.embed(texts), number), labels),
        row(title, 'k-means of TF-IDF, told k', kMeans(await tfIdf(texts).embed(texts), number), labels),
        row(title, 'most shared word', byKeyWord(texts), labels),
        row(
          title,
          'all in one',
          texts.map(() => 0),
          labels,
        ),
      );
      const domains = assigned.turns.map(({ domain }) => domain);
      if (new Set(domains).size < 2) continue;
      clusters.push(
        row(
          title,
          'clusters of topics',
          assigned.turns.map(({ topic }) =>
            topic === null ? null : (assigned.topics.get(topic)?.cluster ?? null),
          ),
          domains,
        ),
        row(
          title,
          'the topics themselves',
          assigned.turns.map(({ topic }) => topic),
          domains,
        ),
        row(title, 'most shared word', byKeyWord(texts), domains),
        row(
          title,
          'all in one',
          texts.map(() => 0),
          domains,
        ),
      );
    }
    await pipeline.close();
    return [
      {
        title: 'Topics against labelled intents',
        columns: COLUMNS,
        rows: topics,
        notes: [
          'without: share of labelled turns without a topic; they are never right and count as a group of their own.',
          'The default model has seen parts of every set but sgd in training; k-means uses the same model and the whole turn.',
        ],
      },
      { title: 'Topic clusters against labelled domains', columns: COLUMNS, rows: clusters },
    ];
  },
};
