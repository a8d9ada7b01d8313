/**
 * How well satisfaction and dissatisfaction are found, against annotators' grades (USS: 1 to 5, several
 * a user turn; mean over 3.5 is satisfied, under 2.5 dissatisfied). No part of USS was trained on.
 */
import { detectSignals, gradeTurn, loadSignalHeads, typeOf, type SignalHeads } from '../enrich/signals.ts';
import { dataSetPath, halfOf, readDialogues } from './data.ts';
import { BINARY_COLUMNS, binaryRow, type EvalTable, type Evaluation, type Scored } from './report.ts';

/** What anyone would write first. */
const KEYWORDS = {
  SAT: /\b(thanks?|thank you|great|perfect|good|excellent|awesome|nice|love)\b/i,
  DSAT: /\b(no|not|wrong|bad|don't|didn't|can't|sorry|instead|terrible|useless)\b/i,
} as const;

export interface GradedTurn {
  readonly id: string;
  readonly text: string;
  /** Mean grade, 1 to 5. */
  readonly grade: number;
}

/** Graded user turns of one half of a data set. */
export async function gradedTurns(path: string, half: 'tune' | 'test'): Promise<GradedTurn[]> {
  const turns: GradedTurn[] = [];
  for await (const { value } of readDialogues(path)) {
    if (halfOf(value.id) !== half) continue;
    for (const turn of value.turns) {
      if (turn.role !== 'user' || turn.sat === undefined || turn.sat.length === 0) continue;
      const grade = turn.sat.reduce((sum, x) => sum + x, 0) / turn.sat.length;
      turns.push({ id: value.id, text: turn.content, grade });
    }
  }
  return turns;
}

const isSatisfied = (turn: GradedTurn): boolean => turn.grade > 3.5;
const isDissatisfied = (turn: GradedTurn): boolean => turn.grade < 2.5;

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
    turns.map((turn) => {
      const decided = says(turn.text);
      return { score: decided ? 1 : 0, decided, positive: isPositive(turn) };
    });
  return {
    title: `signals: ${type} on ${set}`,
    columns: BINARY_COLUMNS,
    rows: [
      binaryRow('this project, graded', graded),
      binaryRow(
        'this project, signals given',
        by((text) => detectSignals(text, heads).some((key) => typeOf(key) === type)),
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
      'Signals are given for precision; the grade is the same evidence at the point of best F1.',
      'Most turns that annotators grade under 2.5 decline an offer ("No, not now"); few complain. Only complaints give a signal.',
    ],
  };
}

export const evaluation: Evaluation = {
  name: 'signals',
  async run({ dataDirectory, file }) {
    const sets = file === null ? ['satisfaction/uss-mwoz', 'satisfaction/uss-sgd'] : [file];
    const heads = loadSignalHeads();
    const tables: EvalTable[] = [];
    for (const set of sets) {
      const turns = await gradedTurns(file ?? dataSetPath(dataDirectory, set), 'test');
      tables.push(table(set, 'SAT', turns, heads), table(set, 'DSAT', turns, heads));
    }
    return tables;
  },
};
