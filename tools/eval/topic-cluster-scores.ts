/**
 * Topic clusters against the domains of the requests.
 * Covered by test/tools/eval/topic-cluster-scores.test.ts.
 */
import { agreementOf } from './clustering-scores.ts';
import { meansBySeen } from './model-training.ts';
import type { EvalTable, Row } from './report.ts';
import { byTopic, type TopicSnapshot } from './topic-run.ts';

export interface ClusterScores {
  readonly domains: number;
  readonly clusters: number;
  /** Share of the clusters with one topic. */
  readonly single: number;
  /** Share of the topics in the largest cluster. */
  readonly largest: number;
  /** Normalised mutual information with the domains, over requests with a cluster. */
  readonly nmi: number;
  /** The same over all requests; those without are one group. */
  readonly nmiWithNone: number;
}

export function clusterScores(snapshot: TopicSnapshot): ClusterScores {
  const { requests, topicOf, topics } = snapshot;
  const clusterOf = (topic: number | null): number | null =>
    topic === null ? null : (topics.get(topic)?.cluster ?? null);
  const groups = topicOf.map(clusterOf);
  const domains = requests.map(({ domain }) => domain);
  const placed = groups.flatMap((group, place) => (group === null ? [] : [place]));
  const inUse = [...byTopic(snapshot).keys()].map(clusterOf).filter((cluster) => cluster !== null);
  const sizes = [...Map.groupBy(inUse, (cluster) => cluster).values()].map((own) => own.length);
  return {
    domains: new Set(domains).size,
    clusters: sizes.length,
    single: sizes.filter((size) => size === 1).length / sizes.length,
    largest: Math.max(...sizes) / inUse.length,
    nmi: agreementOf(
      placed.map((place) => groups[place]!),
      placed.map((place) => domains[place]!),
    ).nmi,
    nmiWithNone: agreementOf(groups, domains).nmi,
  };
}

export function clusterRow(title: string, snapshot: TopicSnapshot): Row {
  const { domains, clusters, single, largest, nmi, nmiWithNone } = clusterScores(snapshot);
  const compared = domains > 1;
  const topics = byTopic(snapshot).size;
  return [
    title,
    snapshot.requests.length,
    domains,
    clusters,
    topics,
    compared ? nmi : Number.NaN,
    compared ? nmiWithNone : Number.NaN,
    single,
    largest,
  ];
}

export function clusterTable(rows: readonly Row[]): EvalTable {
  return {
    title: 'Topic clusters against domains',
    columns: [
      'data',
      'requests',
      'domains',
      'clusters',
      'topics',
      'NMI',
      'NMI with none',
      'of one topic',
      'largest',
    ],
    rows: [...rows, ...meansBySeen(rows, [5, 6, 7, 8])],
    notes: [
      'NMI: over labelled requests with a cluster; with none: over all. Sets of one domain have none.',
      'of one topic: share of the clusters. largest: share of the topics in the largest cluster.',
    ],
  };
}
