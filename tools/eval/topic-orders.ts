/**
 * Whether the same requests form the same topics when they come in another order.
 * Covered by test/tools/eval/topic-orders.test.ts.
 */
import { agreementOf } from './clustering-scores.ts';
import { meansBySeen } from './model-training.ts';
import type { EvalTable, Row } from './report.ts';
import type { TopicSnapshot } from './topic-run.ts';

export interface OrderAgreement {
  /** Requests with a topic in both orders. */
  readonly both: number;
  /** Adjusted Rand index over these. */
  readonly ari: number;
  /** The same over all requests; those without a topic are one group. */
  readonly ariWithNone: number;
  /** Share of the requests that have a topic in one order and none in the other. */
  readonly onlyInOne: number;
}

/** Compares two runs over the same requests. */
export function agreementOfOrders(one: TopicSnapshot, other: TopicSnapshot): OrderAgreement {
  const otherTopics = new Map(other.requests.map(({ id }, place) => [id, other.topicOf[place]!]));
  const pairs = one.requests.map(({ id }, place) => {
    const there = otherTopics.get(id);
    if (there === undefined) throw new Error(`request ${id} is in one order only`);
    return [one.topicOf[place]!, there] as const;
  });
  const both = pairs.filter(([here, there]) => here !== null && there !== null);
  const ariOf = (some: typeof pairs): number =>
    agreementOf(
      some.map(([here]) => here),
      some.map(([, there]) => there),
    ).ari;
  const onlyInOne = pairs.filter(([here, there]) => (here === null) !== (there === null));
  return {
    both: both.length,
    ari: ariOf(both),
    ariWithNone: ariOf(pairs),
    onlyInOne: onlyInOne.length / pairs.length,
  };
}

export function orderRow(title: string, one: TopicSnapshot, other: TopicSnapshot): Row {
  const { both, ari, ariWithNone, onlyInOne } = agreementOfOrders(one, other);
  const topics = [one, other].map(({ topicOf }) => new Set(topicOf.filter((topic) => topic !== null)).size);
  return [title, one.requests.length, ari, ariWithNone, both, onlyInOne, topics[0]!, topics[1]!];
}

export function orderTable(rows: readonly Row[]): EvalTable {
  return {
    title: 'Two orders of the same requests',
    columns: [
      'data',
      'requests',
      'ARI',
      'ARI with none',
      'in both',
      'only in one',
      'topics',
      'topics, other',
    ],
    rows: [...rows, ...meansBySeen(rows, [2, 3, 5])],
    notes: [
      'ARI: of the two groupings, over requests with a topic in both. with none: over all; none counts as one group.',
      'only in one: share of the requests with a topic in one order and none in the other.',
    ],
  };
}
