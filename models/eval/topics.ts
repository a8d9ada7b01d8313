/**
 * Topics found online, without being told how many, against k-means over the whole set that is told;
 * and topic clusters against the sets' domains.
 */
import { contentStems } from '../../src/language/core-words.ts';
import { sifVectors, tfIdf, wordFrequencies } from './baseline-vectors.ts';
import { clusteringScores } from './clustering-scores.ts';
import { conversationSets, withoutSmallTalk, type SetChoice } from './conversations.ts';
import { countsOf } from './counts.ts';
import { kMeans } from './k-means.ts';
import { loadPipeline } from './pipeline.ts';
import type { Evaluation, EvalTable, Row } from './report.ts';

const COLUMNS = ['data', 'method', 'ACC', 'NMI = V', 'ARI', 'groups', 'labels', 'without'] as const;

/** SGD is in no part of the default model's training, the others partly are. */
const SETS: readonly SetChoice[] = [
  { title: 'banking77 (tuned on)', set: 'banking77', limit: 6000 },
  { title: 'multidogo (tuned on)', set: 'multidogo-fastfood-media-software', limit: 8000 },
  { title: 'clinc150 (reported)', set: 'clinc150-5domains', limit: 9000, keep: withoutSmallTalk },
  { title: 'dstc11 (reported)', set: 'dstc11-development-insurance', limit: 1000 },
  { title: 'snips (reported)', set: 'snips-train', limit: 6000 },
  { title: 'sgd (reported)', set: 'sgd', limit: 20_000 },
];

type Groups = readonly (string | number | null)[];

function row(name: string, method: string, groups: Groups, labels: readonly string[]): Row {
  const scores = clusteringScores(groups, labels);
  const without = groups.filter((group) => group === null).length / groups.length;
  return [name, method, scores.accuracy, scores.nmi, scores.ari, scores.groups, scores.labels, without];
}

/** A group for each most frequent content word, as one would tag by hand: the word of the request that most others share. */
function byKeyWord(texts: readonly string[]): (string | null)[] {
  const stems = texts.map((text) => [...contentStems(text)]);
  const counts = countsOf(stems.flat());
  return stems.map((own) => {
    const best = own.sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1))[0];
    return best ?? null;
  });
}

export const evaluation: Evaluation = {
  name: 'topics',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const frequencies = await wordFrequencies(options.dataDirectory);
    const topics: Row[] = [];
    const clusters: Row[] = [];
    for (const { title, conversations } of await conversationSets(options, SETS)) {
      const assigned = await pipeline.assign(conversations);
      const labels = assigned.turns.map(({ label }) => label);
      const domains = assigned.turns.map(({ domain }) => domain);
      const texts = assigned.turns.map(({ content }) => content);
      const number = new Set(labels).size;
      const sif = sifVectors(texts, frequencies ?? undefined);
      const topicOf = assigned.turns.map(({ topic }) => topic);
      const clusterOf = topicOf.map((topic) =>
        topic === null ? null : (assigned.topics.get(topic)?.cluster ?? null),
      );
      const simple: readonly (readonly [string, Groups])[] = [
        ['most shared word', byKeyWord(texts)],
        ['all in one', texts.map(() => 0)],
      ];
      const ways: readonly (readonly [string, Groups])[] = [
        ['online topics', topicOf],
        ['k-means, told k', kMeans(await pipeline.embedder.embed(texts), number)],
        ['k-means of random SIF, told k', kMeans(await sif.embed(texts), number)],
        ['k-means of TF-IDF, told k', kMeans(await tfIdf(texts).embed(texts), number)],
        ...simple,
      ];
      topics.push(...ways.map(([method, groups]) => row(title, method, groups, labels)));
      if (new Set(domains).size < 2) continue;
      clusters.push(
        row(title, 'clusters of topics', clusterOf, domains),
        row(title, 'the topics themselves', topicOf, domains),
        ...simple.map(([method, groups]) => row(title, method, groups, domains)),
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
