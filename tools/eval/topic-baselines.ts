/** What anyone would try first, beside the online topics. */
import { contentStems } from '../../src/reader/document/core-words.ts';
import { sifVectors, tfIdf } from './baseline-vectors.ts';
import { clusteringScores } from './clustering-scores.ts';
import { countsOf } from './counts.ts';
import { kMeans } from './k-means.ts';
import type { EvalTable, Row } from './report.ts';
import type { TopicSnapshot } from './topic-run.ts';

type Groups = readonly (string | number | null)[];

/**
 * A group for each most frequent content word, as one would tag by hand: the word of the request that most others
 * share.
 */
function byKeyWord(texts: readonly string[]): (string | null)[] {
  const stems = texts.map((text) => [...contentStems(text)]);
  const counts = countsOf(stems.flat());
  return stems.map((own) => {
    const best = own.sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1))[0];
    return best ?? null;
  });
}

/** `frequencies`: of words in conversations at large; undefined where they are not known. */
export async function baselineRows(
  title: string,
  { requests, topicOf }: TopicSnapshot,
  frequencies: Parameters<typeof sifVectors>[1],
): Promise<Row[]> {
  const labels = requests.map(({ label }) => label);
  const texts = requests.map(({ content }) => content);
  const k = new Set(labels).size;
  const ways: readonly (readonly [string, Groups])[] = [
    ['online topics', topicOf],
    [
      'k-means, told k',
      kMeans(
        requests.map(({ vector }) => vector),
        k,
      ),
    ],
    ['k-means of random SIF, told k', kMeans(await sifVectors(texts, frequencies).embed(texts), k)],
    ['k-means of TF-IDF, told k', kMeans(await tfIdf(texts).embed(texts), k)],
    ['most shared word', byKeyWord(texts)],
    ['all in one', texts.map(() => 0)],
  ];
  return ways.map(([method, groups]) => {
    const { accuracy, nmi, ari, groups: found, labels: present } = clusteringScores(groups, labels);
    return [title, method, requests.length, accuracy, nmi, ari, found, present];
  });
}

export function baselineTable(rows: readonly Row[]): EvalTable {
  return {
    title: 'Topics against labels, beside simple groupings of the same requests',
    columns: ['data', 'method', 'requests', 'ACC', 'NMI = V', 'ARI', 'groups', 'labels'],
    rows,
    notes: ['Requests without a topic are never right and count as one group.'],
  };
}
