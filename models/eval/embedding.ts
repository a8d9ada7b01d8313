/**
 * The embedding model alone: do requests of one intent lie together, do similar sentences in each
 * language, do translations? Beside it, in the same run, random word vectors weighted by smooth inverse
 * frequency (of the words in conversations at large, where the data sets are at hand), and TF-IDF.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { findModel } from '../../src/enrich/embed/model-location.ts';
import { loadPipeline, schemaGuidedConversations, type Pipeline } from './assigned.ts';
import { clusteringScores } from './clustering-scores.ts';
import {
  collect,
  dataSetPath,
  isHeldOut,
  readDialogues,
  readIntents,
  readJsonLines,
  readPairs,
} from './data.ts';
import { kMeans } from './k-means.ts';
import { centroidIsOfLabel, nearestIsOfLabel } from './nearest-labels.ts';
import { binaryScores, type Evaluation, type EvalOptions, type EvalTable, type Scored } from './report.ts';

/** Sets by name, as the model's training.json calls them. */
const INTENT_SETS = [
  'banking77',
  'clinc150-5domains',
  'dstc11-development-insurance',
  'multidogo-fastfood-media-software',
  'snips-train',
  'rasa-nlu',
] as const;
/** Most examples of a set, most labels by their number of examples, and fewest examples of a label. */
const MAX_EXAMPLES = 3000;
const MIN_EXAMPLES_OF_LABEL = 6;
const LOOSE_LABELS = new Set(['contentonly', 'outofdomain', 'oos', '']);
const SHOTS = 5;
const PAIRS = 20_000;
const STS_LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'ru', 'zh'] as const;
const TRANSLATED = ['es', 'fr', 'de', 'pt', 'it', 'nl', 'ru', 'zh', 'ja'] as const;

interface Example {
  readonly text: string;
  readonly label: string;
}
interface ExampleSet {
  readonly name: string;
  readonly examples: readonly Example[];
}
/** A way to make vectors of unit length (or zeros). */
interface Method {
  readonly name: string;
  embed(texts: readonly string[]): Promise<Float32Array[]> | Float32Array[];
}

export const evaluation: Evaluation = {
  name: 'embedding',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const seen = trainedOn(options);
    const frequencies = await wordFrequencies(options.dataDirectory);
    const model: Method = { name: basename(options.model), embed: (texts) => pipeline.embedder.embed(texts) };
    const tables = [await intentTable(options, model, seen, frequencies)];
    if (options.file === null) {
      tables.push(await similarityTable(options, model), await translationTable(options, model, pipeline));
    }
    await pipeline.close();
    return tables;
  },
};

async function intentTable(
  options: EvalOptions,
  model: Method,
  seen: ReadonlySet<string> | null,
  frequencies: ReadonlyMap<string, number> | null,
): Promise<EvalTable> {
  const rows: (string | number)[][] = [];
  const sums = new Map<string, number[]>();
  for (const { name, examples } of await exampleSets(options)) {
    const texts = examples.map(({ text }) => text);
    const labels = examples.map(({ label }) => label);
    const use = seen === null || options.file !== null ? '' : seen.has(name) ? ' (trained on)' : ' (unseen)';
    for (const method of [model, sifVectors(texts, frequencies ?? frequenciesIn(texts)), tfIdf(texts)]) {
      const vectors = await method.embed(texts);
      const scores = intentScores(vectors, labels);
      rows.push([name + use, method.name, ...scores, new Set(labels).size, examples.length]);
      const sum = sums.get(method.name) ?? scores.map(() => 0);
      sums.set(
        method.name,
        sum.map((value, i) => value + scores[i]!),
      );
    }
  }
  const sets = rows.length / sums.size;
  if (sets > 1)
    for (const [name, sum] of sums) rows.push(['mean', name, ...sum.map((value) => value / sets), '', '']);
  return {
    title: 'Requests against labelled intents',
    columns: [
      'data',
      'vectors',
      'k-means ACC',
      'NMI',
      'ARI',
      '1-NN',
      `${SHOTS}-shot`,
      'pair AUC',
      'labels',
      'of',
    ],
    rows,
    notes: [
      'k-means is told the number of labels. Random SIF: words weigh by how rare they are in conversations at large. 1-NN: the nearest other example has the label. Pair AUC: two of one label against two of different ones.',
      ...(seen === null ? ['The model does not say what it was trained on.'] : []),
    ],
  };
}

/** k-means ACC, NMI and ARI, 1-NN, few-shot and pair AUC. */
function intentScores(vectors: readonly Float32Array[], labels: readonly string[]): number[] {
  const { accuracy, nmi, ari } = clusteringScores(kMeans(vectors, new Set(labels).size), labels);
  return [
    accuracy,
    nmi,
    ari,
    shareOf(nearestIsOfLabel(vectors, labels)),
    shareOf(centroidIsOfLabel(vectors, labels, SHOTS)),
    pairAuc(vectors, labels),
  ];
}

/** Share of true ones among those that are not null. */
function shareOf(answers: readonly (boolean | null)[]): number {
  const given = answers.filter((answer) => answer !== null);
  return given.filter(Boolean).length / given.length;
}

/** As many pairs of one label as of two, drawn reproducibly. */
function pairAuc(vectors: readonly Float32Array[], labels: readonly string[]): number {
  const byLabel = new Map<string, number[]>();
  labels.forEach((label, item) => {
    const items = byLabel.get(label);
    if (items === undefined) byLabel.set(label, [item]);
    else items.push(item);
  });
  let state = 1;
  const below = (end: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const scored: Scored[] = [];
  for (let i = 0; i < PAIRS; i += 1) {
    const a = below(vectors.length);
    const peers = byLabel.get(labels[a]!)!;
    const b = i % 2 === 0 ? peers[below(peers.length)]! : below(vectors.length);
    if (a === b) continue;
    scored.push({ score: dot(vectors[a]!, vectors[b]!), decided: false, positive: labels[a] === labels[b] });
  }
  return binaryScores(scored).auc;
}

async function similarityTable(options: EvalOptions, model: Method): Promise<EvalTable> {
  const pairs = await collect(readPairs(dataSetPath(options.dataDirectory, 'pairs/stsb-multi-mt')));
  const rows: (string | number)[][] = [];
  for (const language of STS_LANGUAGES) {
    const own = pairs.filter(({ lang, ...rest }) => lang === language && rest['split'] === 'dev');
    const texts = own.flatMap(({ a, b }) => [a, b]);
    const row: (string | number)[] = [language];
    for (const method of [model, sifVectors(texts), tfIdf(texts)]) {
      const vectors = await method.embed(texts);
      const cosines = own.map((_, i) => dot(vectors[2 * i]!, vectors[2 * i + 1]!));
      row.push(
        spearman(
          cosines,
          own.map(({ label }) => label),
        ),
      );
    }
    rows.push([...row, own.length]);
  }
  return {
    title: 'Similar sentences: Spearman correlation with the grades of STS-B (development part)',
    columns: ['language', model.name, 'random SIF', 'TF-IDF', 'of'],
    rows,
    notes: ['Never trained on. Languages other than English are machine-translated.'],
  };
}

async function translationTable(options: EvalOptions, model: Method, pipeline: Pipeline): Promise<EvalTable> {
  const pairs = await collect(readPairs(dataSetPath(options.dataDirectory, 'pairs/tatoeba-parallel-en')));
  const { topic } = pipeline.embedder.thresholds;
  const rows: (string | number)[][] = [];
  for (const language of TRANSLATED) {
    const own = pairs.filter(({ b, ...rest }) => rest['lang_a'] === language && isHeldOut(b));
    const foreign = await model.embed(own.map(({ a }) => a));
    const english = await model.embed(own.map(({ b }) => b));
    let found = 0;
    let near = 0;
    foreign.forEach((vector, i) => {
      const cosines = english.map((other) => dot(vector, other));
      if (cosines.every((cosine, j) => j === i || cosine < cosines[i]!)) found += 1;
      if (cosines[i]! >= topic) near += 1;
    });
    // Three English messages found a topic of their own; does the translation join it?
    const { turns } = await pipeline.assign(
      own.flatMap(({ a, b }, i) =>
        [b, b, b, a].map((content, j) => ({
          id: `${language}-${i}-${j}`,
          language: null,
          domain: '',
          turns: [{ role: 'user' as const, content, label: String(i) }],
        })),
      ),
    );
    const topicOf = new Map<string, number | null>();
    let together = 0;
    let founded = 0;
    turns.forEach(({ label, topic: number, content }, at) => {
      if (at % 4 < 3) topicOf.set(label, number);
      else if ((topicOf.get(label) ?? null) !== null && content !== '') {
        founded += 1;
        if (topicOf.get(label) === number) together += 1;
      }
    });
    rows.push([language, found / own.length, near / own.length, together / founded, own.length]);
  }
  return {
    title: 'Held-out translations into English (Tatoeba)',
    columns: ['language', 'nearest of all', 'as near as a topic', 'in one topic', 'of'],
    rows,
    notes: [
      'nearest of all: the translation is nearer than every other held-out English sentence of the language.',
      'in one topic: of the English sentences that, said three times, found a topic, how many does the foreign one join.',
      'One pair in ten is held out; a model that was trained elsewhere may have seen them.',
    ],
  };
}

async function exampleSets(options: EvalOptions): Promise<ExampleSet[]> {
  if (options.file !== null) {
    const examples = await collect(readIntents(options.file));
    return [
      {
        name: basename(options.file),
        examples: sample(examples.map(({ text, intent }) => ({ text, label: intent }))),
      },
    ];
  }
  const sets: ExampleSet[] = [];
  for (const name of INTENT_SETS) {
    const examples = await collect(readIntents(dataSetPath(options.dataDirectory, `intents/${name}`)));
    sets.push({
      name,
      examples: sample(
        examples
          .filter(({ intent }) => !LOOSE_LABELS.has(intent))
          .map(({ text, intent, domain }) => ({ text, label: `${domain ?? ''}: ${intent}` })),
      ),
    });
  }
  const acts = await collect(readDialogues(dataSetPath(options.dataDirectory, 'satisfaction/uss-mwoz')));
  sets.push({
    name: 'uss-mwoz (acts)',
    examples: sample(
      acts.flatMap(({ turns }) =>
        turns.flatMap(({ role, content, act = '' }) =>
          role === 'user' && act !== '' && !act.startsWith('general') ? [{ text: content, label: act }] : [],
        ),
      ),
    ),
  });
  const dialogues = await schemaGuidedConversations(options, 60_000);
  sets.push({
    name: 'sgd-train',
    examples: sample(
      dialogues.flatMap(({ turns }) =>
        turns.flatMap(({ content, label }) => (label === null ? [] : [{ text: content, label }])),
      ),
    ),
  });
  return sets;
}

/** At most `MAX_EXAMPLES` different texts in an order that depends on the texts alone; labels with too few examples are left out. */
function sample(examples: readonly Example[]): Example[] {
  const sorted = [...new Map(examples.map((example) => [example.text, example])).values()]
    .map((example) => ({ example, key: createHash('sha256').update(example.text).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ example }) => example)
    .slice(0, MAX_EXAMPLES);
  const counts = new Map<string, number>();
  for (const { label } of sorted) counts.set(label, (counts.get(label) ?? 0) + 1);
  return sorted.filter(({ label }) => counts.get(label)! >= MIN_EXAMPLES_OF_LABEL);
}

const trainingSchema = z.looseObject({ sets: z.array(z.string()) });

/** The sets that the model's training.json names; null without one. */
function trainedOn(options: EvalOptions): ReadonlySet<string> | null {
  const path = join(findModel(options), 'training.json');
  if (!existsSync(path)) return null;
  return new Set(trainingSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).sets);
}

const WORD = /\p{Script=Han}|[\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu;

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

const RANDOM_DIMENSIONS = 256;
/** Enough for cosines of projected TF-IDF vectors to be those of the vectors themselves, give or take 0.03. */
const PROJECTED_DIMENSIONS = 1024;
const SIF = 1e-3;

/** Conversations and texts about anything, by which words are common or rare. */
const AT_LARGE = [
  'dialogues/llm-hh-rlhf-harmless',
  'dialogues/llm-oasst-en100',
  'dialogues/taskmaster4-coffee',
  'dialogues/topical-chat',
  'dialogues/sgd-train',
] as const;

/** Shares of words in conversations at large; null without the data sets. Measures only: part of it is share-alike. */
export async function wordFrequencies(dataDirectory: string): Promise<ReadonlyMap<string, number> | null> {
  if (!existsSync(join(dataDirectory, 'dialogues'))) return null;
  const texts: string[] = [];
  for (const name of AT_LARGE)
    for await (const { value } of readDialogues(dataSetPath(dataDirectory, name)))
      for (const { content } of value.turns) texts.push(content);
  for await (const { value } of readJsonLines(dataSetPath(dataDirectory, 'text/p3-t0-prompts')))
    texts.push(promptSchema.parse(value).a);
  return frequenciesIn(texts);
}

const promptSchema = z.looseObject({ a: z.string() });

/** Share of each word in `texts`. */
export function frequenciesIn(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let total = 0;
  for (const text of texts) {
    for (const word of wordsOf(text)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
      total += 1;
    }
  }
  return new Map([...counts].map(([word, count]) => [word, count / total]));
}

/** Random directions of words weighted by smooth inverse frequency (Arora et al. 2017); by default that within `texts`. */
export function sifVectors(
  texts: readonly string[],
  frequencies: ReadonlyMap<string, number> = frequenciesIn(texts),
): Method {
  return projection('random SIF', RANDOM_DIMENSIONS, (word) => SIF / (SIF + (frequencies.get(word) ?? 0)));
}

/** TF-IDF within `texts`, projected at random so that k-means can handle it. */
export function tfIdf(texts: readonly string[]): Method {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const word of new Set(wordsOf(text))) counts.set(word, (counts.get(word) ?? 0) + 1);
  return projection(
    'TF-IDF',
    PROJECTED_DIMENSIONS,
    (word) => Math.log((1 + texts.length) / (1 + (counts.get(word) ?? 0))) + 1,
  );
}

function projection(name: string, dimensions: number, weightOf: (word: string) => number): Method {
  const directions = new Map<string, Float32Array>();
  const directionOf = (word: string): Float32Array => {
    let direction = directions.get(word);
    if (direction === undefined) {
      const bits = createHash('shake256', { outputLength: dimensions / 8 })
        .update(word)
        .digest();
      const weight = weightOf(word);
      direction = Float32Array.from({ length: dimensions }, (_, i) =>
        ((bits[i >> 3]! >> (i & 7)) & 1) === 0 ? -weight : weight,
      );
      directions.set(word, direction);
    }
    return direction;
  };
  return {
    name,
    embed: (texts) =>
      texts.map((text) => {
        const sum = new Float32Array(dimensions);
        for (const word of wordsOf(text)) {
          const direction = directionOf(word);
          for (let i = 0; i < dimensions; i += 1) sum[i] = sum[i]! + direction[i]!;
        }
        return unit(sum);
      }),
  };
}

/** Spearman's rank correlation, ties at their mean rank. */
export function spearman(a: readonly number[], b: readonly number[]): number {
  const x = ranks(a);
  const y = ranks(b);
  const middle = (x.length - 1) / 2;
  let [product, squareX, squareY] = [0, 0, 0];
  for (let i = 0; i < x.length; i += 1) {
    product += (x[i]! - middle) * (y[i]! - middle);
    squareX += (x[i]! - middle) ** 2;
    squareY += (y[i]! - middle) ** 2;
  }
  return product / Math.sqrt(squareX * squareY);
}

function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]!);
  const out: number[] = [];
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end < order.length && values[order[end]!] === values[order[start]!]) end += 1;
    for (let i = start; i < end; i += 1) out[order[i]!] = (start + end - 1) / 2;
    start = end;
  }
  return out;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i]! * b[i]!;
  return sum;
}

/** Scales to unit length in place; zeros stay. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  if (length > 0) for (let i = 0; i < vector.length; i += 1) vector[i] = vector[i]! / length;
  return vector;
}
