/** Is a second request in a conversation the first one again? */
import { wordsOf } from '../../src/language/words.ts';
import {
  intentConversations,
  loadPipeline,
  schemaGuidedConversations,
  type LabelledConversation,
  type Pipeline,
} from './assigned.ts';
import { collect, dataSetPath, halfOf, readPairs } from './data.ts';
import {
  needsFolder,
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

interface Asked {
  readonly text: string;
  /** Earlier requests of the conversation that were answered. */
  readonly earlier: readonly string[];
  readonly said: boolean;
  readonly same: boolean;
}

/** Each pair as a conversation: a request, an answer, the second request. */
async function asPairs(pipeline: Pipeline, pairs: readonly Pair[]): Promise<Asked[]> {
  const { repeated } = await pipeline.assign(
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
  return pairs.map(({ a, b, same }, index) => ({
    text: b,
    earlier: [a],
    said: repeated[3 * index + 2]!,
    same,
  }));
}

/**
 * Every later request of real conversations. People hardly ever ask twice there: nearly all of these go
 * on instead, so each is taken for one that does.
 */
async function asFollowUps(
  pipeline: Pipeline,
  conversations: readonly LabelledConversation[],
): Promise<Asked[]> {
  const { repeated, enrichments } = await pipeline.assign(conversations);
  const asked: Asked[] = [];
  let at = 0;
  for (const { turns } of conversations) {
    const requests: string[] = [];
    let answered = 0;
    for (const { role } of turns) {
      const { kind, request } = enrichments[at]!;
      if (role === 'assistant') answered = requests.length;
      if (kind === 'request') {
        if (answered > 0)
          asked.push({
            text: request,
            earlier: requests.slice(0, answered),
            said: repeated[at]!,
            same: false,
          });
        requests.push(request);
      }
      at += 1;
    }
  }
  return asked;
}

async function dataSets(options: EvalOptions, pipeline: Pipeline): Promise<[string, Asked[]][]> {
  const intents = async (name: string, limit: number, split?: string): Promise<Asked[]> =>
    asPairs(
      pipeline,
      intentPairs(
        await intentConversations(
          options,
          name,
          limit,
          (example) => split === undefined || example.split === split,
        ),
      ),
    );
  const real = await schemaGuidedConversations(options, 40_000);
  const followUps = async (half: 'tune' | 'test'): Promise<Asked[]> =>
    asFollowUps(
      pipeline,
      real.filter(({ id }) => halfOf(id) === half),
    );
  const paraphrases = async (half: 'tune' | 'test'): Promise<Asked[]> =>
    asPairs(
      pipeline,
      (await paraphrasePairs(options, 'pairs/stsb-multi-mt')).filter(({ id }) => halfOf(id) === half),
    );
  const [tune, test] = [await followUps('tune'), await followUps('test')];
  return [
    [
      'banking77 re-asks and other asks, SGD follow-ups (tuned on)',
      [...(await intents('intents/banking77', 8000, 'train')), ...tune],
    ],
    [
      'banking77 re-asks and other asks, SGD follow-ups (reported)',
      [...(await intents('intents/banking77', 8000, 'test')), ...test],
    ],
    [
      'dstc11 re-asks and other asks, SGD follow-ups (reported)',
      [...(await intents('intents/dstc11-development-insurance', 1000)), ...test],
    ],
    ['sentence pairs, SGD follow-ups (reported)', [...(await paraphrases('test')), ...test]],
  ];
}

/** The highest of a measure between a request and the earlier ones. */
function highest({ text, earlier }: Asked, measure: (a: string, b: string) => number): number {
  return Math.max(...earlier.map((before) => measure(before, text)));
}

export const evaluation: Evaluation = {
  name: 'repeated-requests',
  run: async (options): Promise<EvalTable[]> => {
    needsFolder(options);
    const pipeline = await loadPipeline(options);
    const tables: EvalTable[] = [];
    for (const [title, asked] of await dataSets(options, pipeline)) {
      const scored = (score: (one: Asked) => number, least: number): Scored[] =>
        asked.map((one) => {
          const value = score(one);
          return { score: value, decided: value >= least, positive: one.same };
        });
      const overlap = (one: Asked): number => highest(one, wordOverlap);
      const identical = (one: Asked): number =>
        highest(one, (a, b) => (a.toLowerCase() === b.toLowerCase() ? 1 : 0));
      tables.push({
        title: `Repeated requests: ${title}`,
        columns: BINARY_COLUMNS,
        rows: [
          binaryRow(
            'assign',
            scored(({ said }) => (said ? 1 : 0), 1),
          ),
          binaryRow('half the content words shared', scored(overlap, 0.5)),
          binaryRow('any content word shared', scored(overlap, Number.EPSILON)),
          binaryRow('the same text', scored(identical, 1)),
          binaryRow(
            'every time',
            scored(() => 1, 1),
          ),
        ],
        notes: [
          'The AUC of assign is that of its decisions. Some SGD follow-ups do ask again: precision is a lower bound.',
        ],
      });
    }
    await pipeline.close();
    return tables;
  },
};
