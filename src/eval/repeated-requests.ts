/** Is a second request in a conversation the first one again? */
import { wordsOf } from '../assign/words.ts';
import { quantise, quantisedCosine } from '../assign/vectors.ts';
import { intentConversations, loadPipeline, type LabelledConversation } from './assigned.ts';
import { collect, dataSetPath, halfOf, readPairs } from './data.ts';
import {
  BINARY_COLUMNS,
  binaryRow,
  type Evaluation,
  type EvalOptions,
  type EvalTable,
  type Scored,
} from './report.ts';

interface Pair {
  readonly id: string;
  readonly a: string;
  readonly b: string;
  readonly same: boolean;
}

/** Shared content words over all content words. */
function wordOverlap(a: string, b: string): number {
  const stems = (text: string): Set<string> =>
    new Set(
      wordsOf(text)
        .filter((word) => word.content)
        .map((word) => word.stem),
    );
  const x = stems(a);
  const y = stems(b);
  const shared = [...x].filter((stem) => y.has(stem)).length;
  return x.size + y.size === 0 ? 0 : shared / (x.size + y.size - shared);
}

/** Re-asks: two utterances of one intent; other asks: of two intents of one domain. As many of each. */
function intentPairs(conversations: readonly LabelledConversation[]): Pair[] {
  const examples = conversations.flatMap(({ id, domain, turns }) =>
    turns.length === 1 && turns[0]!.label !== null
      ? [{ id, domain, text: turns[0]!.content, label: turns[0]!.label }]
      : [],
  );
  const pairs: Pair[] = [];
  const waiting = new Map<string, (typeof examples)[number]>();
  const waitingInDomain = new Map<string, (typeof examples)[number]>();
  let same = 0;
  let other = 0;
  for (const example of examples) {
    const peer = waiting.get(example.label);
    const stranger = waitingInDomain.get(example.domain);
    if (other < same && stranger !== undefined && stranger.label !== example.label) {
      pairs.push({ id: example.id, a: stranger.text, b: example.text, same: false });
      waitingInDomain.delete(example.domain);
      other += 1;
    } else if (same <= other && peer !== undefined) {
      pairs.push({ id: example.id, a: peer.text, b: example.text, same: true });
      waiting.delete(example.label);
      same += 1;
    } else {
      waiting.set(example.label, example);
      waitingInDomain.set(example.domain, example);
    }
  }
  return pairs;
}

async function paraphrasePairs(options: EvalOptions, name: string): Promise<Pair[]> {
  const examples = await collect(readPairs(dataSetPath(options.dataDirectory, name)));
  return examples.flatMap(({ a, b, label, lang }, index) => {
    if ((lang ?? 'en') !== 'en' || (label > 0.3 && label < 0.8)) return [];
    return [{ id: `${name}-${index}`, a, b, same: label >= 0.8 }];
  });
}

async function dataSets(options: EvalOptions): Promise<[string, Pair[]][]> {
  const intents = async (
    name: string,
    limit: number,
    keep?: Parameters<typeof intentConversations>[3],
  ): Promise<Pair[]> => intentPairs(await intentConversations(options, name, limit, keep));
  return [
    ['banking77 (tuned on)', await intents('intents/banking77', 8000, ({ split }) => split === 'train')],
    ['banking77 (reported)', await intents('intents/banking77', 8000, ({ split }) => split === 'test')],
    [
      'clinc150 (reported)',
      await intents(
        'intents/clinc150-5domains',
        8000,
        ({ split, domain }) => split === 'test' && domain !== 'small_talk',
      ),
    ],
    ['dstc11 (reported)', await intents('intents/dstc11-development-insurance', 1000)],
    [
      'sentence pairs (reported)',
      (await paraphrasePairs(options, 'pairs/stsb-multi-mt')).filter(({ id }) => halfOf(id) === 'test'),
    ],
  ];
}

export const evaluation: Evaluation = {
  name: 'repeated-requests',
  run: async (options): Promise<EvalTable[]> => {
    const pipeline = await loadPipeline(options);
    const tables: EvalTable[] = [];
    for (const [title, pairs] of await dataSets(options)) {
      const assigned = await pipeline.assign(
        pairs.map(({ a, b }, index) => ({
          id: String(index),
          language: null,
          domain: '',
          turns: [
            { role: 'user' as const, content: a, label: null },
            { role: 'assistant' as const, content: 'Your account page shows all of it.', label: null },
            { role: 'user' as const, content: b, label: null },
          ],
        })),
      );
      const vectors = await pipeline.embedder.embed(pairs.flatMap(({ a, b }) => [a, b]));
      const scored = (
        score: (pair: Pair, index: number) => number,
        decide: (score: number, index: number) => boolean,
      ): Scored[] =>
        pairs.map((pair, index) => {
          const value = score(pair, index);
          return { score: value, decided: decide(value, index), positive: pair.same };
        });
      tables.push({
        title: `Repeated requests: ${title}`,
        columns: BINARY_COLUMNS,
        rows: [
          binaryRow(
            'assign',
            scored(
              (_, index) => quantisedCosine(quantise(vectors[2 * index]!), quantise(vectors[2 * index + 1]!)),
              (_, index) => assigned.repeated[3 * index + 2]!,
            ),
          ),
          binaryRow(
            'half the content words shared',
            scored(
              ({ a, b }) => wordOverlap(a, b),
              (score) => score >= 0.5,
            ),
          ),
          binaryRow(
            'any content word shared',
            scored(
              ({ a, b }) => wordOverlap(a, b),
              (score) => score > 0,
            ),
          ),
          binaryRow(
            'the same text',
            scored(
              ({ a, b }) => (a.toLowerCase() === b.toLowerCase() ? 1 : 0),
              (score) => score === 1,
            ),
          ),
          binaryRow(
            'every time',
            scored(
              () => 1,
              () => true,
            ),
          ),
        ],
      });
    }
    await pipeline.close();
    return tables;
  },
};
