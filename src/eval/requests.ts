/** Which user turns are told to be requests, and what choosing the request's sentence does to clusters. */
import { loadEmbedder } from '../enrich/embedder.ts';
import { requestOf } from '../enrich/request-sentence.ts';
import { clusteringScores } from './clustering-scores.ts';
import { collect, dataSetPath, halfOf, readIntents, type IntentExample } from './data.ts';
import { kMeans } from './k-means.ts';
import { BINARY_COLUMNS, binaryRow, type EvalTable, type Evaluation, type Scored } from './report.ts';

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
    examples.map((example) => {
      const decided = says(example.text);
      return { score: decided ? 1 : 0, decided, positive: !isReply(set, example) };
    });
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

export const evaluation: Evaluation = {
  name: 'requests',
  async run({ dataDirectory, file, model, modelsDirectory }) {
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
    const rows: (string | number)[][] = [];
    for (const set of ['intents/dstc11-development-insurance', 'intents/banking77'] as const) {
      const examples = await collect(readIntents(file ?? dataSetPath(dataDirectory, set)));
      const intents = examples.map(({ intent }) => intent);
      const k = new Set(intents).size;
      const whole = kMeans(await embedder.embed(examples.map(({ text }) => text)), k);
      const chosen = kMeans(await embedder.embed(examples.map(({ text }) => requestOf(text) || text)), k);
      const kept = examples.filter(({ text }) => requestOf(text) !== '').length;
      rows.push([
        file ?? set,
        clusteringScores(whole, intents).nmi,
        clusteringScores(chosen, intents).nmi,
        kept / examples.length,
      ]);
      if (file !== null) break;
    }
    await embedder.close();
    tables.push({
      title: 'k-means that is told k: mutual information with the intents',
      columns: ['data', 'whole turn', 'request sentence', 'told to be requests'],
      rows,
      notes: ['The default model was trained on parts of these sets: compare the columns, not the level.'],
    });
    return tables;
  },
};
