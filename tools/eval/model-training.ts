/** What a model has seen in training. Covered by test/tools/eval/model-training.test.ts. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { findModel } from '../../src/reader/embedding/model-location.ts';
import { knownMean } from './counts.ts';
import type { EvalOptions, Row } from './report.ts';

const trainingSchema = z.looseObject({ sets: z.array(z.string()) });

/** The sets that the model's training.json names; null without one. */
export function trainedOn(
  options: Pick<EvalOptions, 'model' | 'modelsDirectory'>,
): ReadonlySet<string> | null {
  const path = join(findModel(options), 'training.json');
  if (!existsSync(path)) return null;
  return new Set(trainingSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).sets);
}

const SEEN = ' (seen)';

/** The title of a set, marked when the model was trained on it. `seen`: null when the model does not say. */
export function markedTitle(title: string, set: string, seen: ReadonlySet<string> | null): string {
  return seen?.has(set) === true ? title + SEEN : title;
}

/** Means of the numbers in `columns`, over all sets and, where only some are seen, over the unseen ones. */
export function meansBySeen(
  rows: readonly Row[],
  columns: readonly number[],
  {
    titleColumn = 0,
    of = knownMean,
    name = 'mean',
  }: {
    readonly titleColumn?: number;
    readonly of?: (values: readonly number[]) => number;
    readonly name?: string;
  } = {},
): Row[] {
  const unseen = rows.filter((row) => !String(row[titleColumn]).endsWith(SEEN));
  const line = (title: string, own: readonly Row[]): Row =>
    (rows[0] ?? []).map((cell, column) => {
      if (column < titleColumn) return cell;
      if (column === titleColumn) return title;
      return columns.includes(column) ? of(own.map((row) => Number(row[column]))) : '';
    });
  const isSplit = unseen.length > 0 && unseen.length < rows.length;
  return [line(name, rows), ...(isSplit ? [line(`${name}, unseen`, unseen)] : [])];
}
