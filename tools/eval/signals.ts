/**
 * How well satisfaction and dissatisfaction are found, in their context: against our own gold (turns with the signals
 * that a reader hears), and against annotators' grades (USS: 1 to 5, several a user turn; mean over 3.5 is satisfied,
 * under 2.5 dissatisfied). No part of USS was trained on; nobody who writes rules has seen the gold but its tuned part.
 */
import { z } from 'zod';
import { signalsInContext, type SignalContext } from '../../src/reader/conversations/signal-context.ts';
import { roleOf } from '../../src/domain/records.ts';
import type { SignalKey } from '../../src/domain/signal-kinds.ts';
import { findIn } from '../../src/reader/acts/finding.ts';
import { loadHeads, type Heads } from '../../src/reader/acts/heads.ts';
import { typeOf } from '../../src/reader/acts/signals.ts';
import { mean } from './counts.ts';
import { collect, dataSetPath, halfOf, readDialogues, readIntents, type Dialogue } from './data.ts';
import { GOLD_PARTS, readGold } from './gold.ts';
import { tablesWithData, type EvalTable, type Evaluation, type Row } from './report.ts';

type SignalType = 'SAT' | 'DSAT';

/** What anyone would write first. */
const KEYWORDS = {
  SAT: /\b(thanks?|thank you|great|perfect|good|excellent|awesome|nice|love)\b/i,
  DSAT: /\b(no|not|wrong|bad|don't|didn't|can't|sorry|instead|terrible|useless)\b/i,
} as const;

const goldSchema = z.looseObject({
  lang: z.string(),
  assistant: z.string().nullable(),
  user: z.string(),
  signals: z.array(z.string()),
  type: z.enum(['SAT', 'DSAT']).nullable(),
});
type GoldTurn = z.infer<typeof goldSchema>;

/** The signals of a turn, with nothing before it but the assistant's. */
function signalsOf({ assistant, user }: GoldTurn, heads: Heads): SignalKey[] {
  const latestAct =
    assistant === null ? null : (findIn({ role: 'assistant', content: assistant }, heads).act ?? null);
  const { signals } = findIn({ role: 'user', content: user }, heads);
  return signalsInContext(signals, { latestAct, hasUserTurn: assistant !== null });
}

function goldRow(name: string, turns: readonly GoldTurn[], heads: Heads): Row {
  let right = 0;
  let rightKind = 0;
  let falseAlarms = 0;
  for (const turn of turns) {
    const keys = signalsOf(turn, heads);
    const type = keys.length === 0 ? null : typeOf(keys[0]!);
    if (type === turn.type) right += 1;
    if (type === turn.type && (type === null || keys.some((key) => turn.signals.includes(key))))
      rightKind += 1;
    if (turn.type === null && type !== null) falseAlarms += 1;
  }
  const plain = turns.filter(({ type }) => type === null).length;
  const share = (count: number, of: number): number => (of === 0 ? 0 : count / of);
  return [
    name,
    turns.length,
    share(right, turns.length),
    share(rightKind, turns.length),
    share(falseAlarms, plain),
  ];
}

const GOLD_COLUMNS = ['turns', 'count', 'type right', 'and kind', 'null taken for a signal'] as const;

function goldTables(heads: Heads): EvalTable[] {
  const parts = GOLD_PARTS.map((part) => ({ part, turns: readGold('signals', part, goldSchema) }));
  const byLanguage = (turns: readonly GoldTurn[]): Row[] =>
    [...Map.groupBy(turns, ({ lang }) => lang)].map(([lang, of]) => goldRow(lang, of, heads));
  return [
    {
      title: 'signals: gold',
      columns: GOLD_COLUMNS,
      rows: parts.map(({ part, turns }) => goldRow(part, turns, heads)),
    },
    ...parts
      .filter(({ part }) => part !== 'tuned')
      .map(({ part, turns }) => ({
        title: `signals: gold by language, ${part}`,
        columns: GOLD_COLUMNS,
        rows: byLanguage(turns),
      })),
  ];
}

interface GradedTurn {
  readonly text: string;
  /** Mean grade, 1 to 5. */
  readonly grade: number;
  readonly types: ReadonlySet<SignalType>;
}

interface GradedSession {
  readonly turns: readonly GradedTurn[];
  /** Mean grade of the session; null: none. */
  readonly overall: number | null;
}

/** A session as the worker would see it. */
function graded(dialogue: Dialogue, heads: Heads): GradedSession {
  const context: SignalContext = { latestAct: null, hasUserTurn: false };
  const turns: GradedTurn[] = [];
  for (const { role, content, sat = [] } of dialogue.turns) {
    const found = findIn({ role: roleOf(role), content }, heads);
    if (role !== 'user') {
      context.latestAct = found.act ?? null;
      continue;
    }
    const types = new Set(signalsInContext(found.signals, context).map(typeOf));
    context.hasUserTurn = true;
    if (sat.length > 0) turns.push({ text: content, grade: mean(sat), types });
  }
  const overall = z.array(z.number()).safeParse(dialogue['overall']);
  return { turns, overall: overall.success && overall.data.length > 0 ? mean(overall.data) : null };
}

const isTrue = {
  SAT: ({ grade }: GradedTurn): boolean => grade > 3.5,
  DSAT: ({ grade }: GradedTurn): boolean => grade < 2.5,
} as const;

function turnRow(
  name: string,
  type: SignalType,
  turns: readonly GradedTurn[],
  says: (turn: GradedTurn) => boolean,
): Row {
  const flagged = turns.filter(says);
  const hits = flagged.filter(isTrue[type]).length;
  const positives = turns.filter(isTrue[type]).length;
  const precision = flagged.length === 0 ? 0 : hits / flagged.length;
  const base = positives / turns.length;
  return [name, precision, hits / positives, precision / base, base, flagged.length, turns.length];
}

/** Graded sessions of the half of a data set that nothing was tuned on. */
async function gradedSessions(path: string, heads: Heads): Promise<GradedSession[]> {
  const sessions: GradedSession[] = [];
  for await (const dialogue of readDialogues(path))
    if (halfOf(dialogue.id) === 'test') sessions.push(graded(dialogue, heads));
  return sessions;
}

function ratedTables(set: string, sessions: readonly GradedSession[]): EvalTable[] {
  const turns = sessions.flatMap((session) => session.turns);
  const rows = (['SAT', 'DSAT'] as const).flatMap((type) => [
    turnRow(`${type}, this project`, type, turns, ({ types }) => types.has(type)),
    turnRow(`${type}, key words`, type, turns, ({ text }) => KEYWORDS[type].test(text)),
  ]);
  const share = (says: (session: GradedSession) => boolean): number =>
    sessions.filter(says).length / sessions.length;
  const hasDsat = (session: GradedSession): boolean => session.turns.some(({ types }) => types.has('DSAT'));
  return [
    {
      title: `signals: turns of ${set}`,
      columns: ['method', 'precision', 'recall', 'lift', 'base rate', 'said', 'of'],
      rows,
      notes: [
        'Of the turns graded under 2.5 few complain outright: most turn down, correct or replace an offer.',
      ],
    },
    {
      title: `signals: sessions of ${set}`,
      columns: ['share of sessions', 'value'],
      rows: [
        ['with a DSAT signal', share(hasDsat)],
        ['graded under 2.5 as a whole', share(({ overall }) => overall !== null && overall < 2.5)],
        ['graded under 3 as a whole', share(({ overall }) => overall !== null && overall < 3)],
        ['with a turn graded under 2.5', share((session) => session.turns.some(isTrue.DSAT))],
        [
          'graded under 2.5, of those with a DSAT signal',
          sessions.filter((session) => hasDsat(session) && (session.overall ?? 5) < 2.5).length /
            Math.max(1, sessions.filter(hasDsat).length),
        ],
      ],
    },
  ];
}

/** Requests with few complaints among them; banking77 and NLU++ hold some ("I am not happy with your service"). */
const REQUEST_SETS = [
  'intents/banking77',
  'intents/clinc150-5domains',
  'intents/snips-train',
  'intents/multidogo-fastfood-media-software',
  'intents/nlupp',
  'intents/dstc11-development-insurance',
] as const;

/** How many of a thousand ordinary requests, made after an answer, are taken for dissatisfaction. */
async function falseAlarms(dataDirectory: string, heads: Heads): Promise<EvalTable> {
  const rows: Row[] = [];
  for (const set of REQUEST_SETS) {
    const requests = await collect(readIntents(dataSetPath(dataDirectory, set)));
    const perThousand = (says: (text: string) => boolean): number =>
      (1000 * requests.filter(({ text }) => says(text)).length) / requests.length;
    const isDissatisfied = (text: string): boolean =>
      signalsInContext(findIn({ role: 'user', content: text }, heads).signals, {
        latestAct: 'answered',
        hasUserTurn: true,
      }).some((key) => typeOf(key) === 'DSAT');
    rows.push([
      set,
      requests.length,
      perThousand(isDissatisfied),
      perThousand((text) => KEYWORDS.DSAT.test(text)),
    ]);
  }
  return {
    title: 'signals: requests of a thousand that give a DSAT signal',
    columns: ['set', 'requests', 'this project', 'key words'],
    rows,
    notes: ['No label says that they are not dissatisfied. Fewer is better.'],
  };
}

export const evaluation: Evaluation = {
  name: 'signals',
  async run({ dataDirectory, file }) {
    const heads = loadHeads();
    const ratedIn = async (set: string, path?: string): Promise<EvalTable[]> =>
      ratedTables(set, await gradedSessions(path ?? dataSetPath(dataDirectory, set), heads));
    if (file !== null) return ratedIn(file, file);
    return tablesWithData('signals', [
      async () => goldTables(heads),
      () => ratedIn('satisfaction/uss-mwoz'),
      () => ratedIn('satisfaction/uss-sgd'),
      async () => [await falseAlarms(dataDirectory, heads)],
    ]);
  },
};
