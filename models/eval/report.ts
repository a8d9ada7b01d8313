import { SetupError } from '../../src/errors.ts';
import { halfOf } from './data.ts';

/** What an evaluation is given. */
export interface EvalOptions {
  /** Folder of the data sets. */
  readonly dataDirectory: string;
  /** One file to measure on instead of the evaluation's own data sets. */
  readonly file: string | null;
  /** Folder of the models. */
  readonly modelsDirectory: string;
  /** Name in `modelsDirectory`, or a folder. */
  readonly model: string;
}

/** For an evaluation over several data sets at once. Throws SetupError when it is given one file. */
export function needsFolder({ file }: EvalOptions): void {
  if (file !== null)
    throw new SetupError(
      `${file} is one file, and this evaluation reads several sets: name their folder with --data`,
    );
}

/** One table of results. Numbers are printed with three decimals unless they are whole. */
export interface EvalTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** What a reader must know to judge the figures. */
  readonly notes?: readonly string[];
}

/** A measurement by name; `models/eval/<file>.ts` exports one as `evaluation`. */
export interface Evaluation {
  readonly name: string;
  run(options: EvalOptions): Promise<readonly EvalTable[]>;
}

/** A scored example: what was said of it and what is true. */
export interface Scored {
  /** Higher means more likely positive; any real number. */
  readonly score: number;
  /** The decision that the method takes. */
  readonly decided: boolean;
  readonly positive: boolean;
}

export interface BinaryScores {
  /** Area under the ROC curve, ties counted half; NaN without both classes. */
  readonly auc: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  readonly decided: number;
  readonly positives: number;
  readonly total: number;
}

/** Scores of a two-class method. Precision without a single positive decision is 0. */
export function binaryScores(examples: readonly Scored[]): BinaryScores {
  let hits = 0;
  let decided = 0;
  let positives = 0;
  for (const example of examples) {
    if (example.positive) positives += 1;
    if (example.decided) decided += 1;
    if (example.decided && example.positive) hits += 1;
  }
  const precision = decided === 0 ? 0 : hits / decided;
  const recall = positives === 0 ? 0 : hits / positives;
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { auc: areaUnderCurve(examples), precision, recall, f1, decided, positives, total: examples.length };
}

function areaUnderCurve(examples: readonly Scored[]): number {
  const sorted = [...examples].sort((a, b) => a.score - b.score);
  let rankSum = 0;
  let positives = 0;
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (end < sorted.length && sorted[end]?.score === sorted[start]?.score) end += 1;
    const meanRank = (start + end + 1) / 2;
    for (let i = start; i < end; i++) {
      if (sorted[i]?.positive !== true) continue;
      rankSum += meanRank;
      positives += 1;
    }
    start = end;
  }
  const negatives = sorted.length - positives;
  if (positives === 0 || negatives === 0) return Number.NaN;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** The columns of `binaryRow`. */
export const BINARY_COLUMNS = ['method', 'AUC', 'F1', 'precision', 'recall', 'said', 'true', 'of'] as const;

/** One method's line in a table with `BINARY_COLUMNS`. */
export function binaryRow(method: string, examples: readonly Scored[]): (string | number)[] {
  const s = binaryScores(examples);
  return [method, s.auc, s.f1, s.precision, s.recall, s.decided, s.positives, s.total];
}

/** Only the half that nothing was tuned on, by the key of the example's conversation. */
export function reportedHalf<T>(examples: readonly T[], keyOf: (example: T) => string): T[] {
  return examples.filter((example) => halfOf(keyOf(example)) === 'test');
}

/** A cell as it is printed. */
export function formatCell(cell: string | number): string {
  if (typeof cell === 'string') return cell;
  if (Number.isNaN(cell)) return '–';
  return Number.isInteger(cell) && Math.abs(cell) > 1 ? String(cell) : cell === 0 ? '0' : cell.toFixed(3);
}
