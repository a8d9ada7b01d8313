/**
 * The online topics against the labels at growing sizes, beside groupings of the same vectors all at once: k-means that
 * is told how many groups there are, and average linkage that is not.
 * Covered by test/tools/eval/topic-sizes.test.ts.
 */
import { DotArena } from '../../src/reader/numeric/dot-kernel.ts';
import { averageLinkage, groupsAfter } from '../../src/reader/numeric/linkage.ts';
import { startOfRow } from '../../src/reader/numeric/lower-triangle.ts';
import { VectorTable } from '../../src/reader/numeric/vector-table.ts';
import { agreementOf } from './clustering-scores.ts';
import { countsOf } from './counts.ts';
import { kMeans } from './k-means.ts';
import { meansBySeen } from './model-training.ts';
import type { EvalTable, Row } from './report.ts';
import type { TopicSnapshot } from './topic-run.ts';

/** Labelled requests. */
export const SIZES = [50, 200, 1000, 2000, 9000] as const;
/** A set that ends short of a size, but has this share of it, is measured there with all that it has. */
const ENOUGH = 0.8;
/** A label or a group counts from this many requests on, as a topic does. */
const LEAST_REQUESTS = 3;
/** Above this, k-means has one start only. */
const MOST_FOR_STARTS = 4000;
/** Above this, all pairs take too much memory. */
const MOST_FOR_LINKAGE = 3000;

/** The sizes to measure a set of so many labelled requests at, and how many requests that is. */
export function sizesFor(available: number): { readonly size: number; readonly requests: number }[] {
  const reached = SIZES.filter((size) => available >= size).map((size) => ({ size, requests: size }));
  const next = SIZES[reached.length];
  if (next === undefined) return reached;
  const isEnough = reached.length === 0 || available >= next * ENOUGH;
  return isEnough ? [...reached, { size: next, requests: available }] : reached;
}

/** Groups of average linkage down to a similarity; null where a group is too small for a topic. */
export function linkedGroups(vectors: readonly Float32Array[], threshold: number): (number | null)[] {
  const table = new VectorTable(new DotArena(vectors[0]?.length ?? 0));
  for (const vector of vectors) table.push(vector);
  const cosines = new Float64Array(startOfRow(vectors.length));
  table.pairCosines(cosines);
  const merges = averageLinkage(
    cosines,
    vectors.map(() => 1),
    threshold,
  );
  const groupOf: (number | null)[] = vectors.map(() => null);
  const items = vectors.map((_, item) => item);
  groupsAfter(items, merges).forEach((members, group) => {
    if (members.length >= LEAST_REQUESTS) for (const item of members) groupOf[item] = group;
  });
  return groupOf;
}

/** Scores of one moment of a run. `threshold`: the model's for topics. */
export function sizeRow(size: number, title: string, snapshot: TopicSnapshot, threshold: number): Row {
  const { requests, topicOf } = snapshot;
  const labels = requests.map(({ label }) => label);
  const vectors = requests.map(({ vector }) => vector);
  const counts = countsOf(labels);
  const frequent = [...counts.values()].filter((count) => count >= LEAST_REQUESTS).length;
  const online = agreementOf(topicOf, labels);
  const starts = requests.length > MOST_FOR_STARTS ? { starts: 1 } : {};
  const agreement = agreementOf(kMeans(vectors, counts.size, starts), labels);
  const linked =
    requests.length > MOST_FOR_LINKAGE ? null : agreementOf(linkedGroups(vectors, threshold), labels);
  return [
    String(size),
    title,
    requests.length,
    online.ari,
    online.nmi,
    online.groups,
    frequent,
    online.groups / frequent,
    topicOf.filter((topic) => topic === null).length / topicOf.length,
    agreement.ari,
    agreement.nmi,
    linked?.ari ?? Number.NaN,
    linked?.nmi ?? Number.NaN,
    linked?.groups ?? Number.NaN,
    online.ari / agreement.ari,
  ];
}

const COLUMNS = [
  'size',
  'data',
  'requests',
  'online ARI',
  'online NMI',
  'topics',
  'labels',
  'topics / labels',
  'without topic',
  'k-means ARI',
  'k-means NMI',
  'linkage ARI',
  'linkage NMI',
  'linkage groups',
  'online / k-means',
] as const;
/** Columns that have a mean. */
const MEAN = [3, 4, 7, 8, 9, 10, 11, 12, 14] as const;

/** Rows of all sets by size, each size followed by its mean. */
export function sizeTable(rows: readonly Row[]): EvalTable {
  const groups = [...Map.groupBy(rows, ([size]) => Number(size))].sort(([x], [y]) => x - y);
  return {
    title: 'Topics against labels, by the number of labelled requests so far',
    columns: COLUMNS,
    rows: groups.flatMap(([, own]) => [...own, ...meansBySeen(own, MEAN, { titleColumn: 1 })]),
    notes: [
      `online: requests without a topic count as one group. labels: those with at least ${LEAST_REQUESTS} ` +
        'requests so far.',
      'k-means: told the number of all labels so far; linkage: average linkage of all requests at once, down ' +
        'to the similarity',
      'from which the model’s requests form a topic, without the groups that are too small for one. All on ' +
        'the same vectors.',
      `online / k-means: of the ARI; its mean is the mean of the sets’ ratios. Above ${MOST_FOR_STARTS} ` +
        'requests, k-means has one start in place of three.',
    ],
  };
}
