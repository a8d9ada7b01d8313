/**
 * The topics of instances in one language each, of those that the model knows and of others: a language that it does
 * not know is to get no topic rather than one of several kinds of request. The requests are our own
 * (test/gold/README.md).
 * Covered by test/tools/eval/topic-unknown-languages.test.ts.
 */
import { join } from 'node:path';
import { mixed } from './conversations.ts';
import type { Pipeline } from './pipeline.ts';
import type { EvalTable, Row } from './report.ts';
import { goldConversations, GOLD_DIRECTORY } from './topic-languages.ts';
import { byTopic, type TopicSnapshot } from './topic-run.ts';

const FILE = join(GOLD_DIRECTORY, 'topic-unknown-languages.jsonl');
const KNOWN = new Set(['de', 'en', 'es', 'ja', 'pl', 'ru']);
/** A topic with a smaller share of one kind is mixed. */
const PURE = 0.7;
/** Few requests make few topics, so each language comes in several orders. */
const ORDERS = 8;

/** Of one or several groupings, added up. */
interface Counts {
  readonly requests: number;
  readonly withTopic: number;
  readonly inMixed: number;
  readonly topics: number;
  readonly mixed: number;
}

/** How many topics hold several kinds of request, and how many requests these. */
export function countMixed(snapshot: TopicSnapshot): Counts {
  const counts = { requests: snapshot.requests.length, withTopic: 0, inMixed: 0, topics: 0, mixed: 0 };
  for (const members of byTopic(snapshot).values()) {
    const kinds = [...Map.groupBy(members, ({ label }) => label).values()];
    const isMixed = Math.max(...kinds.map(({ length }) => length)) < PURE * members.length;
    counts.topics += 1;
    counts.withTopic += members.length;
    if (!isMixed) continue;
    counts.mixed += 1;
    counts.inMixed += members.length;
  }
  return counts;
}

export async function unknownLanguageTable(pipeline: Pipeline): Promise<EvalTable> {
  const byLanguage = Map.groupBy(await pipeline.enrich(goldConversations(FILE)), ({ language }) => language);
  const counted = [...byLanguage].map(([language, conversations]) => {
    const counts = Array.from({ length: ORDERS }, (_, order) => {
      const run = pipeline.topicRun();
      for (const conversation of mixed(conversations, `order ${order}`)) run.add(conversation);
      const snapshot = run.snapshot();
      run.close();
      return countMixed(snapshot);
    });
    return { language: language ?? '', counts: total(counts) };
  });
  const [known, others] = [true, false].map((which) =>
    total(counted.filter(({ language }) => KNOWN.has(language) === which).map(({ counts }) => counts)),
  );
  return {
    title: 'Instances in one language',
    columns: ['language', 'requests', 'topics', 'mixed topics', 'with topic', 'in mixed topics'],
    rows: [
      ...counted.map(({ language, counts }) => rowOf(language, counts)),
      rowOf('all known', known!),
      rowOf('all others', others!),
    ],
    notes: [
      `Means of ${ORDERS} orders. mixed: less than ${PURE * 100} % of the topic's requests are of one kind.`,
      `known: ${[...KNOWN].join(', ')}.`,
    ],
  };
}

function total(counts: readonly Counts[]): Counts {
  const sumOf = (key: keyof Counts): number => counts.reduce((sum, one) => sum + one[key], 0);
  return {
    requests: sumOf('requests'),
    withTopic: sumOf('withTopic'),
    inMixed: sumOf('inMixed'),
    topics: sumOf('topics'),
    mixed: sumOf('mixed'),
  };
}

function rowOf(title: string, { requests, withTopic, inMixed, topics, mixed: several }: Counts): Row {
  return [
    title,
    requests / ORDERS,
    topics / ORDERS,
    topics === 0 ? Number.NaN : several / topics,
    withTopic / requests,
    inMixed / requests,
  ];
}
