/**
 * Which user turns are told to be requests, and what of a turn is best embedded: all of it or the request's
 * sentence.
 */
import { basename } from 'node:path';
import { loadEmbedder } from '../../src/reader/embedding/embedder.ts';
import { requestOf } from '../../src/reader/acts/request-sentence.ts';
import { fold } from '../../src/reader/document/normalise.ts';
import { sentencesOf } from '../../src/reader/document/sentences.ts';
import { wordCount } from '../../src/reader/document/words.ts';
import { sifVectors, type VectorMethod } from './baseline-vectors.ts';
import { clusteringScores } from './clustering-scores.ts';
import { mixed, NO_REQUEST, schemaGuidedConversations } from './conversations.ts';
import { countsOf, mean, shareOf } from './counts.ts';
import { collect, dataSetPath, halfOf, readIntents, type IntentExample } from './data.ts';
import { kMeans } from './k-means.ts';
import {
  BINARY_COLUMNS,
  binaryRow,
  decisions,
  type EvalOptions,
  type EvalTable,
  type Evaluation,
  type Scored,
} from './report.ts';
import { centroidIsOfLabel, nearestIsOfLabel, sumOf } from './vector-scores.ts';

/** What anyone would write first. */
const KEYWORDS = /^(hi|hello|hey|thanks?|thank you|yes|no|ok|okay|bye|goodbye)\b/i;

/** Intents of turns that ask for nothing of their own, by data set. */
const REPLIES: Readonly<Record<string, ReadonlySet<string>>> = {
  'intents/multidogo-fastfood-media-software': new Set([
    'confirmation',
    'openinggreeting',
    'rejection',
    'thankyou',
    'closinggreeting',
  ]),
  'intents/clinc150-5domains': new Set(['small_talk']),
};

const isReply = (set: string, example: IntentExample): boolean => {
  const replies = REPLIES[set];
  return replies?.has(example.intent) === true || replies?.has(example.domain ?? '') === true;
};

function kinds(set: string, examples: readonly IntentExample[]): EvalTable {
  const by = (says: (text: string) => boolean): Scored[] =>
    decisions(
      examples,
      ({ text }) => says(text),
      (example) => !isReply(set, example),
    );
  return {
    title: `requests against replies and small talk on ${set} (positive: a request)`,
    columns: BINARY_COLUMNS,
    rows: [
      binaryRow(
        'this project',
        by((text) => requestOf(text) !== ''),
      ),
      binaryRow(
        'key words',
        by((text) => !KEYWORDS.test(text)),
      ),
      binaryRow(
        'trivial: always',
        by(() => true),
      ),
    ],
  };
}

/** Sets on which the parts of a turn are compared. */
const PART_SETS = [
  'intents/dstc11-development-insurance',
  'intents/multidogo-fastfood-media-software',
  'intents/banking77',
  'dialogues/sgd-train',
] as const;
/** Turns of up to so many words, by the length of the whole turn. */
const LENGTHS = [
  { name: 'up to 15', most: 15 },
  { name: '16 to 30', most: 30 },
  { name: 'more', most: Number.POSITIVE_INFINITY },
] as const;
/** Most turns of each length that are taken from a set, and fewest of a label. */
const MOST_OF_LENGTH = 400;
const FEWEST_OF_LABEL = 6;
/** A length with fewer turns is no table line of its own. */
const FEWEST_OF_LENGTH = 20;
const SHOTS = 5;
const SCORES = ['ACC', 'NMI', 'ARI', '±', '1-NN', `${SHOTS}-shot`] as const;
/** k-means is run with so many seeds (three starts each), and its scores are means. */
const SEEDS = 12;
/** Shares of the whole turn's vector beside the request sentence's. */
const SHARES = [0.25, 0.5] as const;

interface LabelledText {
  readonly text: string;
  readonly label: string;
}

/** Requests with labels in a mixed order, as many of each length as there are, up to a limit. */
async function examplesOf(set: string, options: EvalOptions): Promise<LabelledText[]> {
  let all: LabelledText[];
  if (set.startsWith('dialogues/')) {
    const conversations = await schemaGuidedConversations(options, Number.POSITIVE_INFINITY);
    all = conversations.flatMap(({ turns }) =>
      turns.flatMap(({ content, label }) => (label === null ? [] : [{ text: content, label }])),
    );
  } else {
    const path = options.file ?? dataSetPath(options.dataDirectory, set);
    const examples = await collect(readIntents(path));
    all = examples
      .filter(({ intent }) => !NO_REQUEST.has(intent))
      .map(({ text, intent, domain }) => ({ text, label: `${domain ?? ''}: ${intent}` }));
  }
  const unique = [...new Map(all.map((example) => [example.text, example])).values()];
  const taken = LENGTHS.map(() => 0);
  const kept = mixed(unique.map((example) => ({ ...example, id: example.text }))).filter(({ text }) => {
    const length = lengthOf(text);
    taken[length] = (taken[length] ?? 0) + 1;
    return taken[length] <= MOST_OF_LENGTH;
  });
  const counts = countsOf(kept.map(({ label }) => label));
  return kept.filter(({ label }) => (counts.get(label) ?? 0) >= FEWEST_OF_LABEL);
}

/** Which of `LENGTHS` a turn has. */
function lengthOf(text: string): number {
  const words = wordCount(fold(text));
  return LENGTHS.findIndex(({ most }) => words <= most);
}

/** What a turn's topic is found by, each with what is right of every turn. */
async function parts(
  set: string,
  examples: readonly LabelledText[],
  model: VectorMethod,
): Promise<EvalTable> {
  const texts = examples.map(({ text }) => text);
  const labels = examples.map(({ label }) => label);
  const groups = [
    { name: 'all', items: texts.map((_, item) => item) },
    ...LENGTHS.map(({ name }, length) => ({
      name,
      items: texts.flatMap((text, item) => (lengthOf(text) === length ? [item] : [])),
    })).filter(({ items }) => items.length >= FEWEST_OF_LENGTH && items.length < texts.length),
  ];
  const [ours, random] = [await waysOf(texts, model), await waysOf(texts, sifVectors(texts))];
  const scored = [...ours].map(([way, vectors]) => ({
    way,
    ours: scoresOf(vectors, labels, groups),
    random: scoresOf(random.get(way)!, labels, groups),
  }));
  const rows = groups.flatMap(({ name, items }) =>
    scored.map((one) => [name, one.way, ...one.ours.get(name)!, ...one.random.get(name)!, items.length]),
  );
  return {
    title: `What of a turn is embedded: ${set}, ${new Set(labels).size} labels`,
    columns: ['words', 'embedded', ...SCORES, ...SCORES.map((score) => `SIF ${score}`), 'of'],
    rows,
    notes: [
      `k-means of all lengths together, told the number of labels, means over ${SEEDS} seeds; ±: standard ` +
        'error of the NMI. The lines of a length score its turns alone: compare them with each other.',
      `Left ${model.name}, which may have been trained on the set (its MODEL.md says); SIF: random word ` +
        'vectors, which were not.',
    ],
  };
}

/** The vectors of turns by what of them is embedded. */
async function waysOf(
  texts: readonly string[],
  { embed }: VectorMethod,
): Promise<Map<string, readonly Float32Array[]>> {
  const whole = await embed(texts);
  const request = await embed(texts.map((text) => requestOf(text) || text));
  const ways = new Map<string, readonly Float32Array[]>([
    ['whole turn', whole],
    ['request sentence', request],
    ['longest sentence', await embed(texts.map(longestSentence))],
    ['last sentence', await embed(texts.map((text) => sentencesOf(text).at(-1) ?? text))],
  ]);
  for (const share of SHARES)
    ways.set(
      `request + ${share} whole`,
      request.map((vector, item) => sumOf(vector, whole[item]!, share)),
    );
  return ways;
}

function longestSentence(text: string): string {
  let longest = text;
  let most = -1;
  for (const sentence of sentencesOf(text)) {
    const words = wordCount(fold(sentence));
    if (words > most) [longest, most] = [sentence, words];
  }
  return longest;
}

/** By group: ACC, NMI, ARI, standard error of the NMI, 1-NN, few-shot. */
function scoresOf(
  vectors: readonly Float32Array[],
  labels: readonly string[],
  groups: readonly { readonly name: string; readonly items: readonly number[] }[],
): Map<string, number[]> {
  const k = new Set(labels).size;
  const runs = Array.from({ length: SEEDS }, (_, seed) => kMeans(vectors, k, { seed: seed + 1 }));
  const nearest = nearestIsOfLabel(vectors, labels);
  const centroid = centroidIsOfLabel(vectors, labels, SHOTS);
  return new Map(
    groups.map(({ name, items }) => {
      const own = items.map((item) => labels[item]!);
      const scores = runs.map((run) =>
        clusteringScores(
          items.map((item) => run[item]!),
          own,
        ),
      );
      const nmi = mean(scores.map((score) => score.nmi));
      const spread = Math.sqrt(mean(scores.map((score) => (score.nmi - nmi) ** 2)) / (SEEDS - 1));
      return [
        name,
        [
          mean(scores.map(({ accuracy }) => accuracy)),
          nmi,
          mean(scores.map(({ ari }) => ari)),
          spread,
          shareOf(items.map((item) => nearest[item]!)),
          shareOf(items.flatMap((item) => centroid[item] ?? [])),
        ],
      ];
    }),
  );
}

export const evaluation: Evaluation = {
  name: 'requests',
  async run(options) {
    const { dataDirectory, file, model, modelsDirectory } = options;
    const tables: EvalTable[] = [];
    for (const set of Object.keys(REPLIES)) {
      if (file !== null) continue;
      const examples = await collect(readIntents(dataSetPath(dataDirectory, set)));
      const reported = examples.filter(
        (example) =>
          halfOf(example.conv ?? example.text) === 'test' &&
          !['contentonly', 'outofdomain'].includes(example.intent),
      );
      tables.push(kinds(set, reported));
    }
    const embedder = await loadEmbedder({ model, modelsDirectory });
    for (const set of file === null ? PART_SETS : [basename(file)]) {
      const examples = await examplesOf(set, options);
      tables.push(
        await parts(set, examples, { name: basename(model), embed: (texts) => embedder.embed(texts) }),
      );
    }
    await embedder.close();
    return tables;
  },
};
