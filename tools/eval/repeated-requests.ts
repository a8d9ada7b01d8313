/** Is a second request in a conversation the first one again? */
import { wordsOf } from '../../src/reader/document/words.ts';
import {
  intentConversations,
  madeConversation,
  schemaGuidedConversations,
  userTurn,
  type LabelledConversation,
} from './conversations.ts';
import { collect, dataSetPath, halfOf, readPairs } from './data.ts';
import { repeatGoldTables } from './repeat-gold.ts';
import { loadPipeline, type Pipeline } from './pipeline.ts';
import {
  BINARY_COLUMNS,
  binaryRow,
  needsFolder,
  tablesWithData,
  type Evaluation,
  type EvalOptions,
  type EvalTable,
  type Scored,
} from './report.ts';

interface Pair {
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
  const examples = conversations.flatMap(({ domain, turns: [first, ...others] }) =>
    first !== undefined && first.label !== null && others.length === 0
      ? [{ domain, text: first.content, label: first.label }]
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
      pairs.push({ a: stranger.text, b: example.text, same: false });
      waitingInDomain.delete(example.domain);
      other += 1;
    } else if (same <= other && peer !== undefined) {
      pairs.push({ a: peer.text, b: example.text, same: true });
      waiting.delete(example.label);
      same += 1;
    } else {
      waiting.set(example.label, example);
      waitingInDomain.set(example.domain, example);
    }
  }
  return pairs;
}

/** Sentence pairs of the half that nothing was tuned on. */
async function paraphrasePairs(options: EvalOptions, name: string): Promise<Pair[]> {
  const examples = await collect(readPairs(dataSetPath(options.dataDirectory, name)));
  return examples.flatMap(({ a, b, label, lang = 'en' }, index) => {
    if (lang !== 'en' || (label > 0.3 && label < 0.8) || halfOf(`${name}-${index}`) !== 'test') return [];
    return [{ a, b, same: label >= 0.8 }];
  });
}

interface Asked {
  readonly text: string;
  /** Earlier requests of the conversation that were answered. */
  readonly earlier: readonly string[];
  readonly hasSignal: boolean;
  readonly same: boolean;
}

/** Each pair as a conversation: a request, an answer, the second request. */
async function asPairs(pipeline: Pipeline, pairs: readonly Pair[]): Promise<Asked[]> {
  const { repeated } = await pipeline.assign(
    pairs.map(({ a, b }, index) =>
      madeConversation(String(index), [
        userTurn(a),
        { role: 'assistant', content: 'Your account page shows all of it.', label: null },
        userTurn(b),
      ]),
    ),
  );
  return pairs.map(({ a, b, same }, index) => ({
    text: b,
    earlier: [a],
    hasSignal: repeated[3 * index + 2]!,
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
            hasSignal: repeated[at]!,
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
  const intents = async (name: string, limit: number, part?: string): Promise<Asked[]> => {
    const keep = ({ split }: { readonly split?: string | undefined }): boolean =>
      part === undefined || split === part;
    return asPairs(pipeline, intentPairs(await intentConversations(options, name, limit, keep)));
  };
  const real = await schemaGuidedConversations(options, 40_000);
  const followUps = async (half: 'tune' | 'test'): Promise<Asked[]> =>
    asFollowUps(
      pipeline,
      real.filter(({ id }) => halfOf(id) === half),
    );
  const paraphrases = await paraphrasePairs(options, 'pairs/stsb-multi-mt');
  const [tune, test] = [await followUps('tune'), await followUps('test')];
  return [
    [
      'banking77 re-asks and other asks, SGD follow-ups (tuned on)',
      [...(await intents('banking77', 8000, 'train')), ...tune],
    ],
    [
      'banking77 re-asks and other asks, SGD follow-ups (reported)',
      [...(await intents('banking77', 8000, 'test')), ...test],
    ],
    [
      'dstc11 re-asks and other asks, SGD follow-ups (reported)',
      [...(await intents('dstc11-development-insurance', 1000)), ...test],
    ],
    ['sentence pairs, SGD follow-ups (reported)', [...(await asPairs(pipeline, paraphrases)), ...test]],
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
    const tables = await tablesWithData('repeated requests', [
      () => repeatGoldTables(pipeline),
      async () => (await dataSets(options, pipeline)).map(([title, asked]) => setTable(title, asked)),
    ]);
    await pipeline.close();
    return tables;
  },
};

function setTable(title: string, asked: readonly Asked[]): EvalTable {
  const scored = (score: (one: Asked) => number, least: number): Scored[] =>
    asked.map((one) => {
      const value = score(one);
      return { score: value, decided: value >= least, positive: one.same };
    });
  const overlap = (one: Asked): number => highest(one, wordOverlap);
  const identical = (one: Asked): number =>
    highest(one, (a, b) => (a.toLowerCase() === b.toLowerCase() ? 1 : 0));
  return {
    title: `Repeated requests: ${title}`,
    columns: BINARY_COLUMNS,
    rows: [
      binaryRow(
        'assign',
        scored(({ hasSignal }) => (hasSignal ? 1 : 0), 1),
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
  };
}
