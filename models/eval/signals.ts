/**
 * How well satisfaction and dissatisfaction are found, against annotators' grades (USS: 1 to 5, several
 * a user turn; mean over 3.5 is satisfied, under 2.5 dissatisfied). No part of USS was trained on.
 */
import { loadHeads } from '../../src/enrich/heads.ts';
import { detectSignals, gradeTurn, typeOf, type SignalHeads } from '../../src/enrich/signals.ts';
import { mean } from './counts.ts';
import { collect, dataSetPath, halfOf, readDialogues, readIntents } from './data.ts';
import {
  BINARY_COLUMNS,
  binaryRow,
  decisions,
  type EvalTable,
  type Evaluation,
  type Row,
  type Scored,
} from './report.ts';

/** What anyone would write first. */
const KEYWORDS = {
  SAT: /\b(thanks?|thank you|great|perfect|good|excellent|awesome|nice|love)\b/i,
  DSAT: /\b(no|not|wrong|bad|don't|didn't|can't|sorry|instead|terrible|useless)\b/i,
} as const;

interface GradedTurn {
  readonly text: string;
  /** Mean grade, 1 to 5. */
  readonly grade: number;
}

/** Graded user turns of the half of a data set that nothing was tuned on. */
async function gradedTurns(path: string): Promise<GradedTurn[]> {
  const turns: GradedTurn[] = [];
  for await (const dialogue of readDialogues(path)) {
    if (halfOf(dialogue.id) !== 'test') continue;
    for (const { role, content, sat = [] } of dialogue.turns)
      if (role === 'user' && sat.length > 0) turns.push({ text: content, grade: mean(sat) });
  }
  return turns;
}

const isSatisfied = (turn: GradedTurn): boolean => turn.grade > 3.5;
const isDissatisfied = (turn: GradedTurn): boolean => turn.grade < 2.5;

function gives(text: string, type: 'SAT' | 'DSAT', heads: SignalHeads): boolean {
  return detectSignals(text, heads).some((key) => typeOf(key) === type);
}

function table(
  set: string,
  type: 'SAT' | 'DSAT',
  turns: readonly GradedTurn[],
  heads: SignalHeads,
): EvalTable {
  const isPositive = type === 'SAT' ? isSatisfied : isDissatisfied;
  const graded = turns.map((turn): Scored => {
    const grades = gradeTurn(turn.text, heads);
    const { score, likely } = type === 'SAT' ? grades.sat : grades.dsat;
    return { score, decided: likely, positive: isPositive(turn) };
  });
  const by = (says: (text: string) => boolean): Scored[] =>
    decisions(turns, ({ text }) => says(text), isPositive);
  return {
    title: `signals: ${type} on ${set}`,
    columns: BINARY_COLUMNS,
    rows: [
      binaryRow('this project, graded', graded),
      binaryRow(
        'this project, signals given',
        by((text) => gives(text, type, heads)),
      ),
      binaryRow(
        'key words',
        by((text) => KEYWORDS[type].test(text)),
      ),
      binaryRow(
        'trivial: always',
        by(() => true),
      ),
    ],
    notes: [
      'The grade is the same evidence as a number; signals are what the service stores.',
      'Of the turns graded under 2.5 few complain outright: most turn down, correct or replace what was offered.',
    ],
  };
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

/** How many of a thousand ordinary requests are taken for dissatisfaction. */
async function falseAlarms(dataDirectory: string, heads: SignalHeads): Promise<EvalTable> {
  const rows: Row[] = [];
  for (const set of REQUEST_SETS) {
    const requests = await collect(readIntents(dataSetPath(dataDirectory, set)));
    const perThousand = (says: (text: string) => boolean): number =>
      (1000 * requests.filter(({ text }) => says(text)).length) / requests.length;
    rows.push([
      set,
      requests.length,
      perThousand((text) => gives(text, 'DSAT', heads)),
      perThousand((text) => KEYWORDS.DSAT.test(text)),
    ]);
  }
  return {
    title: 'signals: requests of a thousand that give a DSAT signal',
    columns: ['set', 'requests', 'this project, signals given', 'key words'],
    rows,
    notes: ['Their wording was seen in training as not dissatisfied; no label says so. Fewer is better.'],
  };
}

export const evaluation: Evaluation = {
  name: 'signals',
  async run({ dataDirectory, file }) {
    const sets = file === null ? ['satisfaction/uss-mwoz', 'satisfaction/uss-sgd'] : [file];
    const heads = loadHeads();
    const tables: EvalTable[] = [];
    for (const set of sets) {
      const turns = await gradedTurns(file ?? dataSetPath(dataDirectory, set));
      tables.push(table(set, 'SAT', turns, heads), table(set, 'DSAT', turns, heads));
    }
    if (file === null) tables.push(await falseAlarms(dataDirectory, heads));
    return tables;
  },
};
