/**
 * How well repeated requests are told on sessions written and labelled for this repository. What counts is said in
 * test/gold/README.md.
 */
import { z } from 'zod';
import { madeConversation } from './conversations.ts';
import { GOLD_PARTS, readGold, type GoldPart } from './gold.ts';
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

const sessionSchema = z.object({
  lang: z.string(),
  turns: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.string() })),
  /** Places of the turns that ask again. */
  repeats: z.array(z.int()),
});

/** A user turn after the first one. */
type Judged = Scored & { readonly lang: string; readonly isSignal: boolean };

/** Every later user turn of a part, each session in an instance of its own stream. */
async function judge(pipeline: Pipeline, part: GoldPart): Promise<Judged[]> {
  const sessions = readGold('repeats', part, sessionSchema);
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

/** Precision, recall and F1 on each part, and F1 by language. */
export async function repeatGoldTables(pipeline: Pipeline): Promise<EvalTable[]> {
  const parts: Judged[][] = [];
  for (const part of GOLD_PARTS) parts.push(await judge(pipeline, part));
  return [
    {
      title: 'Repeated requests: gold',
      columns: BINARY_COLUMNS,
      rows: GOLD_PARTS.flatMap((part, at) => [
        binaryRow(part, parts[at]!),
        binaryRow(`${part}, as a signal`, asSignals(parts[at]!)),
        binaryRow(
          `${part}, English`,
          parts[at]!.filter(({ lang }) => lang === 'en'),
        ),
        binaryRow(
          `${part}, other languages`,
          parts[at]!.filter(({ lang }) => lang !== 'en'),
        ),
      ]),
      notes: ['The AUC is that of the decisions.'],
    },
    {
      title: 'Repeated requests: gold, by language (F1)',
      columns: ['language', ...GOLD_PARTS, 'repeats', 'turns'],
      rows: languageRows(parts),
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

function languageRows(parts: readonly (readonly Judged[])[]): Row[] {
  const languages = [...new Set(parts.flat().map(({ lang }) => lang))].sort();
  return languages.map((language) => {
    const own = parts.map((turns) => turns.filter(({ lang }) => lang === language));
    const all = own.flat();
    return [
      language,
      ...own.map((turns) => binaryScores(turns).f1),
      all.filter(({ positive }) => positive).length,
      all.length,
    ];
  });
}
