/**
 * The embedding model alone: do requests of one intent lie together, do similar sentences in each
 * language, do translations? Beside it, in the same run, random word vectors weighted by smooth inverse
 * frequency (of the words in conversations at large, where the data sets are at hand), and TF-IDF.
 */
import { basename } from 'node:path';
import { dotOf } from '../../src/reader/numeric/vectors.ts';
import { frequenciesIn, sifVectors, tfIdf, wordFrequencies, type VectorMethod } from './baseline-vectors.ts';
import { clusteringScores } from './clustering-scores.ts';
import { madeConversation, mixed, schemaGuidedConversations, userTurn } from './conversations.ts';
import { countsOf, shareOf } from './counts.ts';
import { collect, dataSetPath, isHeldOut, readDialogues, readIntents, readPairs } from './data.ts';
import { kMeans } from './k-means.ts';
import { trainedOn } from './model-training.ts';
import { loadPipeline, type Pipeline } from './pipeline.ts';
import { meanRows, type Evaluation, type EvalOptions, type EvalTable, type Row } from './report.ts';
import { centroidIsOfLabel, nearestIsOfLabel, pairAuc, spearman } from './vector-scores.ts';

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
export const evaluation: Evaluation = {
  name: 'embedding',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const seen = trainedOn(options);
    const frequencies = await wordFrequencies(options.dataDirectory);
    const model: VectorMethod = {
      name: basename(options.model),
      embed: (texts) => pipeline.embedder.embed(texts),
    };
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
  model: VectorMethod,
  seen: ReadonlySet<string> | null,
  frequencies: ReadonlyMap<string, number> | null,
): Promise<EvalTable> {
  const rows: Row[] = [];
  const sets = await exampleSets(options);
  for (const { name, examples } of sets) {
    const texts = examples.map(({ text }) => text);
    const labels = examples.map(({ label }) => label);
    const use = seen === null || options.file !== null ? '' : seen.has(name) ? ' (trained on)' : ' (unseen)';
    for (const method of [model, sifVectors(texts, frequencies ?? frequenciesIn(texts)), tfIdf(texts)]) {
      const scores = intentScores(await method.embed(texts), labels);
      rows.push([name + use, method.name, ...scores, new Set(labels).size, examples.length]);
    }
  }
  if (sets.length > 1) rows.push(...meanRows(rows, [2, 3, 4, 5, 6, 7], 'mean'));
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
      'k-means is told the number of labels. Random SIF: words weigh by how rare they are in conversations at ' +
        'large. 1-NN: the nearest other example has the label. Pair AUC: two of one label against two of ' +
        'different ones.',
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
    shareOf(centroidIsOfLabel(vectors, labels, SHOTS).filter((answer) => answer !== null)),
    pairAuc(vectors, labels),
  ];
}

async function similarityTable(options: EvalOptions, model: VectorMethod): Promise<EvalTable> {
  const pairs = await collect(readPairs(dataSetPath(options.dataDirectory, 'pairs/stsb-multi-mt')));
  const rows: Row[] = [];
  for (const language of STS_LANGUAGES) {
    const own = pairs.filter(({ lang, ...rest }) => lang === language && rest['split'] === 'dev');
    const texts = own.flatMap(({ a, b }) => [a, b]);
    const row: (string | number)[] = [language];
    for (const method of [model, sifVectors(texts), tfIdf(texts)]) {
      const vectors = await method.embed(texts);
      const cosines = own.map((_, i) => dotOf(vectors[2 * i]!, vectors[2 * i + 1]!));
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

async function translationTable(
  options: EvalOptions,
  model: VectorMethod,
  pipeline: Pipeline,
): Promise<EvalTable> {
  const pairs = await collect(readPairs(dataSetPath(options.dataDirectory, 'pairs/tatoeba-parallel-en')));
  const { topic } = pipeline.embedder.thresholds;
  const rows: Row[] = [];
  for (const language of TRANSLATED) {
    const own = pairs.filter(({ b, ...rest }) => rest['lang_a'] === language && isHeldOut(b));
    const foreign = await model.embed(own.map(({ a }) => a));
    const english = await model.embed(own.map(({ b }) => b));
    let found = 0;
    let near = 0;
    foreign.forEach((vector, i) => {
      const cosines = english.map((other) => dotOf(vector, other));
      if (cosines.every((cosine, j) => j === i || cosine < cosines[i]!)) found += 1;
      if (cosines[i]! >= topic) near += 1;
    });
    // Three English messages create a topic of their own; does the translation join it?
    const { turns } = await pipeline.assign(
      own.flatMap(({ a, b }, i) =>
        [b, b, b, a].map((content, j) =>
          madeConversation(`${language}-${i}-${j}`, [userTurn(content, String(i))]),
        ),
      ),
    );
    const topicOf = new Map<string, number | null>();
    let together = 0;
    let created = 0;
    turns.forEach(({ label, topic: number, content }, at) => {
      if (at % 4 < 3) topicOf.set(label, number);
      else if ((topicOf.get(label) ?? null) !== null && content !== '') {
        created += 1;
        if (topicOf.get(label) === number) together += 1;
      }
    });
    rows.push([language, found / own.length, near / own.length, together / created, own.length]);
  }
  return {
    title: 'Held-out translations into English (Tatoeba)',
    columns: ['language', 'nearest of all', 'as near as a topic', 'in one topic', 'of'],
    rows,
    notes: [
      'nearest of all: the translation is nearer than every other held-out English sentence of the language.',
      'in one topic: of the English sentences that, said three times, create a topic, how many does the ' +
        'foreign one join.',
      'One pair in ten is held out; a model that was trained elsewhere may have seen them.',
    ],
  };
}

async function exampleSets(options: EvalOptions): Promise<ExampleSet[]> {
  if (options.file !== null) {
    const examples = await collect(readIntents(options.file));
    const labelled = examples.map(({ text, intent }) => ({ text, label: intent }));
    return [{ name: basename(options.file), examples: sample(labelled) }];
  }
  const sets: ExampleSet[] = [];
  for (const name of INTENT_SETS) {
    const examples = await collect(readIntents(dataSetPath(options.dataDirectory, `intents/${name}`)));
    const labelled = examples
      .filter(({ intent }) => !LOOSE_LABELS.has(intent))
      .map(({ text, intent, domain }) => ({ text, label: `${domain ?? ''}: ${intent}` }));
    sets.push({ name, examples: sample(labelled) });
  }
  const acts: Example[] = [];
  for await (const { turns } of readDialogues(dataSetPath(options.dataDirectory, 'satisfaction/uss-mwoz')))
    for (const { role, content, act = '' } of turns)
      if (role === 'user' && act !== '' && !act.startsWith('general'))
        acts.push({ text: content, label: act });
  sets.push({ name: 'uss-mwoz (acts)', examples: sample(acts) });
  const dialogues = await schemaGuidedConversations(options, 60_000);
  const requests = dialogues.flatMap(({ turns }) =>
    turns.flatMap(({ content, label }) => (label === null ? [] : [{ text: content, label }])),
  );
  return [...sets, { name: 'sgd-train', examples: sample(requests) }];
}

/** At most `MAX_EXAMPLES` different texts in a mixed order; labels with too few examples are left out. */
function sample(examples: readonly Example[]): Example[] {
  const unique = [...new Map(examples.map((example) => [example.text, example])).values()];
  const some = mixed(unique.map((example) => ({ ...example, id: example.text }))).slice(0, MAX_EXAMPLES);
  const counts = countsOf(some.map(({ label }) => label));
  return some.filter(({ label }) => counts.get(label)! >= MIN_EXAMPLES_OF_LABEL);
}
