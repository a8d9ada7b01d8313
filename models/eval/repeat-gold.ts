/**
 * How well repeated requests are told on sessions written and labelled for this repository. What counts is said in
 * test/gold/README.md.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { madeConversation } from './conversations.ts';
import type { Pipeline } from './pipeline.ts';
import {
  BINARY_COLUMNS,
  binaryRow,
  binaryScores,
  decisions,
  type EvalTable,
  type Row,
  type Scored,
} from './report.ts';

const GOLD_DIRECTORY = resolve(import.meta.dirname, '../../test/gold');
const HALVES = ['tuned', 'sealed'] as const;
type Half = (typeof HALVES)[number];

const sessionSchema = z.object({
  lang: z.string(),
  turns: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })),
  /** Places of the turns that ask again. */
  repeats: z.array(z.int()),
});

/** A user turn after the first one. */
type Judged = Scored & { readonly lang: string; readonly isSignal: boolean };

/** Every later user turn of a half, each session in an instance of its own stream. */
async function judge(pipeline: Pipeline, half: Half): Promise<Judged[]> {
  const path = resolve(GOLD_DIRECTORY, half === 'sealed' ? 'repeats.sealed.jsonl' : 'repeats.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n');
  const sessions = lines.filter((line) => line !== '').map((line) => sessionSchema.parse(JSON.parse(line)));
  const { repeated, repetitions } = await pipeline.assign(
    sessions.map(({ turns }, index) =>
      madeConversation(
        String(index),
        turns.map((turn) => ({ ...turn, label: null })),
      ),
    ),
  );
  let start = 0;
  return sessions.flatMap(({ lang, turns, repeats }) => {
    const first = start;
    start += turns.length;
    return turns.flatMap(({ role }, place): Judged[] => {
      if (role !== 'user' || place === 0) return [];
      const decided = repeated[first + place]!;
      const isSignal = repetitions[first + place]!;
      return [{ lang, decided, isSignal, score: decided ? 1 : 0, positive: repeats.includes(place) }];
    });
  });
}

/** Precision, recall and F1 on both halves, and F1 by language. */
export async function repeatGoldTables(pipeline: Pipeline): Promise<EvalTable[]> {
  const halves: Judged[][] = [];
  for (const half of HALVES) halves.push(await judge(pipeline, half));
  return [
    {
      title: 'Repeated requests: gold',
      columns: BINARY_COLUMNS,
      rows: HALVES.flatMap((half, at) => [
        binaryRow(half, halves[at]!),
        binaryRow(`${half}, as a signal`, asSignals(halves[at]!)),
        binaryRow(
          `${half}, English`,
          halves[at]!.filter(({ lang }) => lang === 'en'),
        ),
        binaryRow(
          `${half}, other languages`,
          halves[at]!.filter(({ lang }) => lang !== 'en'),
        ),
      ]),
      notes: ['The AUC is that of the decisions.'],
    },
    {
      title: 'Repeated requests: gold, by language (F1)',
      columns: ['language', ...HALVES, 'repeats', 'turns'],
      rows: languageRows(halves),
    },
  ];
}

/** Those that count as dissatisfaction. */
function asSignals(turns: readonly Judged[]): Scored[] {
  return decisions(
    turns,
    ({ isSignal }) => isSignal,
    ({ positive }) => positive,
  );
}

function languageRows(halves: readonly (readonly Judged[])[]): Row[] {
  const languages = [...new Set(halves.flat().map(({ lang }) => lang))].sort();
  return languages.map((language) => {
    const own = halves.map((turns) => turns.filter(({ lang }) => lang === language));
    const all = own.flat();
    return [
      language,
      ...own.map((turns) => binaryScores(turns).f1),
      all.filter(({ positive }) => positive).length,
      all.length,
    ];
  });
}
