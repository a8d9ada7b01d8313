/**
 * The topics of an instance as it grows: against labels and against groupings of the same vectors all at once, in two
 * orders, over doublings, for the newest requests and for a shop's first ones; then clusters and names. With
 * `--sheet FILE`, a reading sheet instead.
 */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { wordFrequencies } from './baseline-vectors.ts';
import {
  conversationSets,
  mixed,
  withoutSmallTalk,
  type ConversationSet,
  type SetChoice,
} from './conversations.ts';
import { markedTitle, trainedOn } from './model-training.ts';
import { loadPipeline, type Pipeline } from './pipeline.ts';
import type { Evaluation, EvalOptions, EvalTable, Row } from './report.ts';
import { baselineRows, baselineTable } from './topic-baselines.ts';
import { clusterRow, clusterTable } from './topic-cluster-scores.ts';
import { coverageRows, coverageTable, CoverageWatch } from './topic-coverage.ts';
import { nameRow, nameTable } from './topic-name-rules.ts';
import { languageTable } from './topic-languages.ts';
import { orderRow, orderTable } from './topic-orders.ts';
import { snapshotsAt, type EnrichedConversation, type TopicSnapshot } from './topic-run.ts';
import { sampledSheet, sheetOf, sheetText, type Sheet } from './topic-sheet.ts';
import { shopTable } from './topic-shops.ts';
import { SIZES, sizeRow, sizesFor, sizeTable } from './topic-sizes.ts';
import { DOUBLINGS, stabilityRows, stabilityTable } from './topic-stability.ts';
import { unknownLanguageTable } from './topic-unknown-languages.ts';

/** Turns, so many that the labelled requests among them reach the largest size where a set has them. */
const SETS: readonly SetChoice[] = [
  { title: 'banking77', set: 'banking77', limit: 11_000 },
  { title: 'multidogo', set: 'multidogo-fastfood-media-software', limit: 50_000 },
  { title: 'clinc150', set: 'clinc150-5domains', limit: 11_000, keep: withoutSmallTalk },
  { title: 'dstc11', set: 'dstc11-development-insurance', limit: 1000 },
  { title: 'snips', set: 'snips-train', limit: 11_000 },
  {
    title: 'rasa',
    set: 'rasa-nlu',
    limit: 2000,
    keep: ({ domain }) => domain !== 'mood' && domain !== 'smalltalk',
  },
  { title: 'sgd', set: 'sgd', limit: 80_000 },
];
/** Two orders, clusters, simple groupings and the sheet are compared at this many labelled requests. */
const MIDDLE = 2000;
const OTHER_ORDER = 'another order';

/** Table rows of one data set. */
interface SetRows {
  readonly sizes: readonly Row[];
  readonly orders: readonly Row[];
  readonly stability: readonly Row[];
  readonly coverage: readonly Row[];
  readonly clusters: readonly Row[];
  readonly names: readonly Row[];
  readonly baselines: readonly Row[];
}

type Frequencies = Parameters<typeof baselineRows>[2];

/** Labelled user turns that the enricher takes for requests. */
function labelledIn(conversations: readonly EnrichedConversation[]): number {
  let count = 0;
  for (const { turns, enrichments } of conversations)
    turns.forEach(({ label }, index) => {
      if (label !== null && enrichments[index]!.kind === 'request') count += 1;
    });
  return count;
}

/** The topics of the conversations up to a snapshot, when these come in another order. */
function inAnotherOrder(
  enriched: readonly EnrichedConversation[],
  { requests }: TopicSnapshot,
  pipeline: Pipeline,
): TopicSnapshot {
  const latest = requests.at(-1)?.id ?? '';
  const end = enriched.findIndex(({ id }) => latest.startsWith(`${id}#`));
  const run = pipeline.topicRun();
  for (const conversation of mixed(enriched.slice(0, end + 1), OTHER_ORDER)) run.add(conversation);
  const snapshot = run.snapshot();
  run.close();
  return snapshot;
}

async function measureSet(
  { title, conversations }: ConversationSet,
  pipeline: Pipeline,
  frequencies: Frequencies,
): Promise<SetRows> {
  const enriched = await pipeline.enrich(conversations);
  const available = labelledIn(enriched);
  const sizes = sizesFor(available);
  const wanted = [...new Set([...sizes.map(({ requests }) => requests), ...DOUBLINGS])]
    .filter((size) => size <= Math.min(available, SIZES.at(-1)!))
    .sort((x, y) => x - y);
  const run = pipeline.topicRun();
  const coverage = new CoverageWatch();
  const snapshots = snapshotsAt(run, enriched, wanted, () => coverage.look(run.size, () => run.snapshot()));
  run.close();
  const last = snapshots.get(sizes.at(-1)!.requests)!;
  const middle = snapshots.get(Math.min(MIDDLE, available)) ?? last;
  const both = middle === last ? [last] : [middle, last];
  const reordered = inAnotherOrder(enriched, middle, pipeline);
  const { topic } = pipeline.embedder.thresholds;
  return {
    sizes: sizes.map(({ size, requests }) => sizeRow(size, title, snapshots.get(requests)!, topic)),
    orders: [orderRow(title, middle, reordered)],
    stability: stabilityRows(title, snapshots),
    coverage: coverageRows(title, coverage.measured),
    clusters: both.map((snapshot) => clusterRow(title, snapshot)),
    names: both.map((snapshot) => nameRow(title, snapshot)),
    baselines: await baselineRows(title, middle, frequencies),
  };
}

async function writeSheet(
  sets: readonly ConversationSet[],
  pipeline: Pipeline,
  file: string,
): Promise<EvalTable> {
  const sheets: Sheet[] = [];
  for (const { conversations } of sets) {
    const enriched = await pipeline.enrich(conversations);
    const size = Math.min(MIDDLE, labelledIn(enriched));
    const run = pipeline.topicRun();
    const snapshot = snapshotsAt(run, enriched, [size]).get(size)!;
    sheets.push(sheetOf(snapshot, run.members()));
    run.close();
  }
  const sheet = sampledSheet(sheets);
  writeFileSync(file, sheetText(sheet));
  return {
    title: 'A reading sheet',
    columns: ['file', 'topics', 'clusters'],
    rows: [[file, sheet.topics.length, sheet.clusters.length]],
  };
}

export const evaluation: Evaluation = {
  name: 'topics',
  run: async (options: EvalOptions): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const seen = trainedOn(options);
    const sets = await conversationSets(
      options,
      SETS.map((choice) => ({ ...choice, title: markedTitle(choice.title, choice.set, seen) })),
    );
    if (options.sheet !== undefined) {
      const table = await writeSheet(sets, pipeline, options.sheet);
      await pipeline.close();
      return [table];
    }
    const frequencies = (await wordFrequencies(options.dataDirectory)) ?? undefined;
    const measured: SetRows[] = [];
    for (const set of sets) measured.push(await measureSet(set, pipeline, frequencies));
    const shops = await shopTable(options, pipeline, seen);
    const languages =
      options.file === null ? [await languageTable(pipeline), await unknownLanguageTable(pipeline)] : [];
    await pipeline.close();
    const rowsOf = (part: keyof SetRows): Row[] => measured.flatMap((set) => set[part]);
    const tables = [
      sizeTable(rowsOf('sizes')),
      orderTable(rowsOf('orders')),
      stabilityTable(rowsOf('stability')),
      coverageTable(rowsOf('coverage')),
      shops,
      ...languages,
      clusterTable(rowsOf('clusters')),
      nameTable(rowsOf('names')),
      baselineTable(rowsOf('baselines')),
    ];
    const model = basename(options.model);
    const training =
      seen === null
        ? 'The model does not say what it was trained on.'
        : '(seen): the model was trained on the set, also with its labels.';
    return tables.map((table) => ({
      ...table,
      title: `${table.title} (model ${model})`,
      notes: [...(table.notes ?? []), training],
    }));
  },
};
