import { SetupError } from '../../src/errors.ts';
import { mean } from './counts.ts';
import { MissingDataSet } from './data.ts';

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
  /** File for a reading sheet, for an evaluation that can write one. */
  readonly sheet?: string;
}

/** For an evaluation over several data sets at once. Throws SetupError when it is given one file. */
export function needsFolder({ file }: EvalOptions): void {
  if (file !== null)
    throw new SetupError(
      `${file} is one file, and this evaluation reads several sets: name their folder with --data`,
    );
}

export type Row = readonly (string | number)[];

/** One table of results. Numbers are printed with three decimals unless they are whole. */
export interface EvalTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** What a reader must know to judge the figures. */
  readonly notes?: readonly string[];
}

/** A measurement by name; `tools/eval/<file>.ts` exports one as `evaluation`. */
export interface Evaluation {
  readonly name: string;
  run(options: EvalOptions): Promise<readonly EvalTable[]>;
}

/**
 * The tables of all parts that have their data. A last table names the data sets that are not there: the gold of this
 * repository is measured without them.
 */
export async function tablesWithData(
  name: string,
  parts: readonly (() => Promise<readonly EvalTable[]>)[],
): Promise<EvalTable[]> {
  const tables: EvalTable[] = [];
  const missing = new Set<string>();
  for (const part of parts) {
    try {
      tables.push(...(await part()));
    } catch (error) {
      if (!(error instanceof MissingDataSet)) throw error;
      missing.add(error.set);
    }
  }
  if (missing.size === 0) return tables;
  const notes = ['Name the folder that holds them with --data.'];
  const rows = [...missing].map((set) => [set]);
  return [
    ...tables,
    { title: `${name}: left out, without their data sets`, columns: ['data set'], rows, notes },
  ];
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
  const count = (counts: (example: Scored) => boolean): number => examples.filter(counts).length;
  const hits = count((example) => example.positive && example.decided);
  const decided = count((example) => example.decided);
  const positives = count((example) => example.positive);
  const precision = decided === 0 ? 0 : hits / decided;
  const recall = positives === 0 ? 0 : hits / positives;
  const f1 = precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { auc: areaUnderCurve(examples), precision, recall, f1, decided, positives, total: examples.length };
}

function areaUnderCurve(examples: readonly Scored[]): number {
  const positives = examples.filter(({ positive }) => positive).length;
  const negatives = examples.length - positives;
  if (positives === 0 || negatives === 0) return Number.NaN;
  const rankSum = ranks(examples.map(({ score }) => score)).reduce(
    (sum, rank, index) => (examples[index]!.positive ? sum + rank + 1 : sum),
    0,
  );
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/** The place of each value in ascending order, from 0; equal values share their mean place. */
export function ranks(values: readonly number[]): number[] {
  const order = values.map((_, index) => index).sort((a, b) => values[a]! - values[b]!);
  const places: number[] = [];
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end < order.length && values[order[end]!] === values[order[start]!]) end += 1;
    for (let at = start; at < end; at += 1) places[order[at]!] = (start + end - 1) / 2;
    start = end;
  }
  return places;
}

/** The columns of `binaryRow`. */
export const BINARY_COLUMNS = ['method', 'AUC', 'F1', 'precision', 'recall', 'said', 'true', 'of'] as const;

/** One method's line in a table with `BINARY_COLUMNS`. */
export function binaryRow(method: string, examples: readonly Scored[]): Row {
  const s = binaryScores(examples);
  return [method, s.auc, s.f1, s.precision, s.recall, s.decided, s.positives, s.total];
}

/** Examples as a method without grades decides them. */
export function decisions<T>(
  examples: readonly T[],
  says: (example: T) => boolean,
  isPositive: (example: T) => boolean,
): Scored[] {
  return examples.map((example) => {
    const decided = says(example);
    return { score: decided ? 1 : 0, decided, positive: isPositive(example) };
  });
}

/** For each method (the second cell): the means of the numbers in `columns` over its rows. */
export function meanRows(
  rows: readonly Row[],
  columns: readonly number[],
  title = 'mean of the sets',
): Row[] {
  return [...Map.groupBy(rows, ([, method]) => method!)].map(([method, own]) => {
    const cells = (rows[0] ?? []).map((_, column) =>
      columns.includes(column) ? mean(own.map((row) => Number(row[column]))) : '',
    );
    return [title, method, ...cells.slice(2)];
  });
}

/** A cell as it is printed. */
export function formatCell(cell: string | number): string {
  if (typeof cell === 'string') return cell;
  if (Number.isNaN(cell)) return '–';
  return Number.isInteger(cell) && Math.abs(cell) > 1 ? String(cell) : cell === 0 ? '0' : cell.toFixed(3);
}
