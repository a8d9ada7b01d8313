/** How well admissions of inability are found, on the half of each data set that nothing was tuned on. */
import { detectGap, gradeGap } from '../../src/reader/acts/gaps.ts';
import { loadHead, type Head } from '../../src/reader/acts/heads.ts';
import { abilityTables, gapGoldTables } from './gap-gold.ts';
import { shareOf } from './counts.ts';
import { collect, dataSetPath, halfOf, readDialogues, type Dialogue } from './data.ts';
import {
  BINARY_COLUMNS,
  binaryRow,
  decisions,
  tablesWithData,
  type Evaluation,
  type EvalTable,
  type Scored,
} from './report.ts';

/** What anyone would write first. */
const KEYWORDS =
  /\b(sorry|unfortunately|unable|can't|cannot|couldn't|could not|don't know|don't have)\b|抱歉|无法|没有|不能/iu;

/** An assistant turn and whether it admits inability; null: the labels do not say. */
export interface GapExample {
  readonly id: string;
  readonly text: string;
  readonly gap: boolean;
}

const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

function byActs(act: string): (dialogue: Dialogue) => GapExample[] {
  return (dialogue) => {
    const acts = dialogue.labels?.['turn_acts'];
    if (!Array.isArray(acts)) return [];
    return dialogue.turns.flatMap((turn, i) => {
      if (turn.role !== 'assistant') return [];
      const gap = strings(acts[i]).some((label) => label === act || label.startsWith(`${act}-`));
      return [{ id: dialogue.id, text: turn.content, gap }];
    });
  };
}

const MISSING = new Set([
  'completely off topic',
  'order a coffee drink wrong results',
  'order a coffee drink no results',
  'do you have x NO',
]);

/** In a gap-like scenario the first answer is the gap; what follows it is not labelled. */
function byScenario(dialogue: Dialogue): GapExample[] {
  const gap = MISSING.has(String(dialogue.labels?.['scenario']));
  const answers = dialogue.turns.filter((turn) => turn.role === 'assistant');
  return (gap ? answers.slice(0, 1) : answers).map((turn) => ({ id: dialogue.id, text: turn.content, gap }));
}

/** The label is of the last turn; only "does not know" is a gap, refusals on principle are the contrast. */
function byTone(dialogue: Dialogue): GapExample[] {
  const last = dialogue.turns.at(-1);
  if (last?.role !== 'assistant') return [];
  return [{ id: dialogue.id, text: last.content, gap: dialogue.labels?.['tone'] === 'dontknow' }];
}

export const GAP_SETS = [
  { set: 'dialogues/sgd-train', examplesOf: byActs('NOTIFY_FAILURE'), what: 'SGD, the action failed' },
  {
    set: 'dialogues/crosswoz-zh',
    examplesOf: byActs('NoOffer'),
    what: 'CrossWOZ (Chinese), nothing to offer',
  },
  {
    set: 'dialogues/taskmaster4-coffee',
    examplesOf: byScenario,
    what: 'Taskmaster-4, not to be had or off topic',
  },
  {
    set: 'gaps/chatgpt-refusals',
    examplesOf: byTone,
    what: 'ChatGPT refusals, "does not know" against the rest',
  },
] as const;

/** Labelled assistant turns of one data set, one half. */
export async function gapExamples(
  path: string,
  examplesOf: (dialogue: Dialogue) => GapExample[],
  half: 'tune' | 'test',
): Promise<GapExample[]> {
  const examples: GapExample[] = [];
  for await (const dialogue of readDialogues(path))
    if (halfOf(dialogue.id) === half) examples.push(...examplesOf(dialogue));
  return examples;
}

export const evaluation: Evaluation = {
  name: 'gaps',
  async run(options) {
    const { dataDirectory, file } = options;
    const head = loadHead('gap');
    const sets = GAP_SETS.filter(({ set }) => file === null || file.includes(set.split('/')[1] ?? set));
    return tablesWithData('gaps', [
      ...sets.map(({ set, examplesOf, what }) => async () => {
        const path = file ?? dataSetPath(dataDirectory, set);
        return [setTable(what, await gapExamples(path, examplesOf, 'test'), head)];
      }),
      async () => [await falseAlarms(dataDirectory, head)],
      async () => gapGoldTables((text) => detectGap(text, head)?.type ?? null),
      () => abilityTables(options),
    ]);
  },
};

function setTable(what: string, examples: readonly GapExample[], head: Head): EvalTable {
  const by = (says: (example: GapExample) => boolean): Scored[] =>
    decisions(examples, says, ({ gap }) => gap);
  return {
    title: `gaps: ${what}`,
    columns: BINARY_COLUMNS,
    rows: [
      binaryRow(
        'this project',
        examples.map(({ text, gap }): Scored => ({
          score: gradeGap(text, head),
          decided: detectGap(text, head) !== null,
          positive: gap,
        })),
      ),
      binaryRow(
        'key words',
        by(({ text }) => KEYWORDS.test(text)),
      ),
      binaryRow(
        'trivial: always',
        by(() => true),
      ),
    ],
  };
}

/** How often each tone of reply is taken for a gap. */
async function falseAlarms(dataDirectory: string, head: Head): Promise<EvalTable> {
  const dialogues = await collect(readDialogues(dataSetPath(dataDirectory, 'gaps/chatgpt-refusals')));
  const replies = dialogues
    .filter(({ id }) => halfOf(id) === 'test')
    .map(({ turns, labels }) => ({ text: turns.at(-1)?.content ?? '', tone: String(labels?.['tone']) }));
  const tones = [...Map.groupBy(replies, ({ tone }) => tone)].sort((a, b) => b[1].length - a[1].length);
  return {
    title: 'gaps: share of each kind of ChatGPT reply taken for a gap (only "dontknow" is one)',
    columns: ['reply', 'replies', 'this project', 'key words'],
    rows: tones.map(([tone, own]) => [
      tone,
      own.length,
      shareOf(own.map(({ text }) => detectGap(text, head) !== null)),
      shareOf(own.map(({ text }) => KEYWORDS.test(text))),
    ]),
  };
}
