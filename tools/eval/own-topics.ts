/**
 * Own topics of five examples each: which requests they claim, and how many of those rightly, by the rule beside found
 * topics and by rules for an instance where everything else counts as Other. In the first table, every third label of
 * a set has no own topic: no topic claims its requests rightly.
 */
import { basename } from 'node:path';
import { ALONE_SHARE, CLAIMS, LABEL_SHARE, type ClaimRule } from '../../src/domain/model-thresholds.ts';
import { InstanceThresholds } from '../../src/reader/topics/instance-thresholds.ts';
import { nearnessOf, OwnTopics } from '../../src/reader/topics/own-topics.ts';
import { keysOf } from '../../src/reader/topics/request-keys.ts';
import { conversationSets, withoutSmallTalk, type ConversationSet, type SetChoice } from './conversations.ts';
import { markedTitle, meansBySeen, trainedOn } from './model-training.ts';
import { loadPipeline, type Pipeline } from './pipeline.ts';
import type { Evaluation, EvalTable, Row } from './report.ts';

/** The rule was chosen on the first three alone. */
const SETS: readonly SetChoice[] = [
  { title: 'banking77', set: 'banking77', limit: 11_000 },
  { title: 'clinc150', set: 'clinc150-5domains', limit: 11_000, keep: withoutSmallTalk },
  { title: 'multidogo', set: 'multidogo-fastfood-media-software', limit: 20_000 },
  { title: 'dstc11', set: 'dstc11-development-insurance', limit: 1000 },
  { title: 'snips', set: 'snips-train', limit: 4000 },
  {
    title: 'rasa',
    set: 'rasa-nlu',
    limit: 2000,
    keep: ({ domain }) => domain !== 'mood' && domain !== 'smalltalk',
  },
  { title: 'sgd', set: 'sgd', limit: 20_000 },
];
/** Examples of a topic; a label has at least twice as many requests, of which at most `TRIED` are tried. */
const EXAMPLES = 5;
const TRIED = 40;
/** One label in so many has no own topic; Infinity: each has one. */
const OTHERS = [3, Infinity];

/** Each rule holds for what the rules before it leave. */
const RULES: readonly (readonly ClaimRule[])[] = [
  [CLAIMS.near],
  ...[0, 0.25].flatMap((share) =>
    [0, 0.04, 0.08].flatMap((margin) => [[{ share, margin }], [CLAIMS.near, { share, margin }]]),
  ),
  [{ share: 0.5, margin: 0.04 }],
];

interface LabelledRequest {
  readonly label: string;
  readonly request: string;
  readonly vector: Float32Array;
}

async function requestsOf(
  { conversations }: ConversationSet,
  pipeline: Pipeline,
): Promise<LabelledRequest[]> {
  return (await pipeline.enrich(conversations)).flatMap(({ turns, enrichments }) =>
    turns.flatMap(({ label }, index) => {
      const { kind, request, vector } = enrichments[index]!;
      return label !== null && kind === 'request' && vector !== null ? [{ label, request, vector }] : [];
    }),
  );
}

/** The rows of one set: a row for each rule. */
function measure(
  title: string,
  every: number,
  labelled: readonly LabelledRequest[],
  thresholds: InstanceThresholds,
): Row[] {
  const labels = [...Map.groupBy(labelled, ({ label }) => label).values()]
    .filter((own) => own.length >= 2 * EXAMPLES)
    .sort((x, y) => (x[0]!.label < y[0]!.label ? -1 : 1));
  const own = new OwnTopics();
  const tried: { readonly request: LabelledRequest; readonly topic: number }[] = [];
  for (const [number, requests] of labels.entries()) {
    const topic = number % every === every - 1 ? -1 : number;
    const examples = requests.slice(0, EXAMPLES);
    if (topic >= 0)
      own.add(
        topic,
        examples.map(({ request }) => request),
        examples.map(({ vector }) => vector),
      );
    for (const request of requests.slice(EXAMPLES, EXAMPLES + TRIED)) tried.push({ request, topic });
  }
  return RULES.map((rules) => {
    let [claimed, right, rightly] = [0, 0, 0];
    for (const { request, topic } of tried) {
      const keys = keysOf(request.request);
      const claim = rules.reduce(
        (known, rule) => (known >= 0 ? known : own.claimOf(request.vector, keys, thresholds, 1, rule)),
        -1,
      );
      if (claim === topic) right += 1;
      if (claim < 0) continue;
      claimed += 1;
      if (claim === topic) rightly += 1;
    }
    const { length } = tried.filter(({ topic }) => topic >= 0);
    return [
      rules.map(({ share, margin }) => `${share} / ${margin}`).join(', else '),
      title,
      rightly / claimed,
      rightly / length,
      claimed / tried.length,
      right / tried.length,
      labels.length,
      tried.length,
    ];
  });
}

/** Positions of a label's bound that are tried. */
const LABEL_SHARES = [0.25, 0.5, LABEL_SHARE, 1];

/**
 * Labels of five examples, each by itself: what it holds of its own requests and of all others. With counterexamples: of
 * the requests that nobody tries, the three nearest ones of other labels.
 */
function measureLabels(
  title: string,
  labelled: readonly LabelledRequest[],
  { settledTopic, micro, scale }: InstanceThresholds,
): Row[] {
  const known = labelled.map((one) => ({ ...one, text: one.request, keys: keysOf(one.request) }));
  const groups = [...Map.groupBy(known, ({ label }) => label).values()]
    .filter((own) => own.length >= 2 * EXAMPLES)
    .sort((x, y) => (x[0]!.label < y[0]!.label ? -1 : 1));
  const tried = groups.flatMap((own) => own.slice(2 * EXAMPLES, 2 * EXAMPLES + TRIED));
  const seen = groups.flatMap((own) => own.slice(EXAMPLES, 2 * EXAMPLES));
  const counts = LABEL_SHARES.flatMap(() => [
    { held: 0, rightly: 0, own: 0 },
    { held: 0, rightly: 0, own: 0 },
  ]);
  for (const own of groups) {
    const { label } = own[0]!;
    const examples = own.slice(0, EXAMPLES);
    const near = ({ vector, keys }: (typeof known)[number], to: typeof examples): number =>
      nearnessOf(vector, keys, to, scale, 1, ALONE_SHARE * (micro - settledTopic));
    const counterexamples = seen
      .filter((one) => one.label !== label)
      .map((one) => ({ one, nearness: near(one, examples) }))
      .sort((x, y) => y.nearness - x.nearness)
      .slice(0, COUNTEREXAMPLES)
      .map(({ one }) => one);
    for (const request of tried) {
      const nearness = near(request, examples);
      const isCounter = near(request, counterexamples) >= nearness;
      LABEL_SHARES.forEach((share, index) => {
        const isNear = nearness >= settledTopic + share * (micro - settledTopic);
        for (const [at, holds] of [isNear, isNear && !isCounter].entries()) {
          const count = counts[2 * index + at]!;
          count.own += Number(request.label === label);
          count.held += Number(holds);
          count.rightly += Number(holds && request.label === label);
        }
      });
    }
  }
  return counts.map(({ held, rightly, own }, index) => [
    `${LABEL_SHARES[Math.floor(index / 2)]}${index % 2 === 0 ? '' : ` with ${COUNTEREXAMPLES} counterexamples`}`,
    title,
    rightly / held,
    rightly / own,
    groups.length,
    tried.length,
  ]);
}
const COUNTEREXAMPLES = 3;

export const evaluation: Evaluation = {
  name: 'own-topics',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const seen = trainedOn(options);
    const sets = await conversationSets(
      options,
      SETS.map((choice) => ({ ...choice, title: markedTitle(choice.title, choice.set, seen) })),
    );
    const thresholds = new InstanceThresholds(1, pipeline.embedder.thresholds);
    const measured: Row[][] = OTHERS.map(() => []);
    const labelled: Row[] = [];
    for (const set of sets) {
      const requests = await requestsOf(set, pipeline);
      OTHERS.forEach((every, at) => measured[at]!.push(...measure(set.title, every, requests, thresholds)));
      labelled.push(...measureLabels(set.title, requests, thresholds));
    }
    await pipeline.close();
    const { near, wide } = CLAIMS;
    const ofLabels: EvalTable = {
      title: `Labels of ${EXAMPLES} examples, each by itself (model ${basename(options.model)})`,
      columns: ['bound', 'data', 'right of held', 'held of own', 'labels', 'requests'],
      rows: [...Map.groupBy(labelled, ([rule]) => rule).values()].flatMap((group) => [
        ...group,
        ...meansBySeen(group, [2, 3], { titleColumn: 1 }),
      ]),
      notes: [
        `In use: ${LABEL_SHARE}. Each label is one of as many as the set has, so it is right by chance in 1 of them.`,
      ],
    };
    const ofTopics = measured.map((rows, at): EvalTable => {
      const groups = [...Map.groupBy(rows, ([rule]) => rule).values()];
      const which = OTHERS[at] === Infinity ? 'for each label' : 'for two labels of three';
      return {
        title: `Own topics of ${EXAMPLES} examples ${which} (model ${basename(options.model)})`,
        columns: [
          'bound / margin',
          'data',
          'right of claimed',
          'rightly claimed of own',
          'claimed',
          'right of all',
          'labels',
          'requests',
        ],
        rows: groups.flatMap((group) => [...group, ...meansBySeen(group, [2, 3, 4, 5], { titleColumn: 1 })]),
        notes: [
          `In use: ${near.share} / ${near.margin} beside found topics, else ${wide.share} / ${wide.margin} where the rest is Other.`,
          'Of requests of labels without an own topic, those that none claims are right.',
        ],
      };
    });
    return [...ofTopics, ofLabels];
  },
};
