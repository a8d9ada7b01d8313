/**
 * How well gaps are told on assistant turns written and labelled for this repository: whether there is one, of which
 * type, and how many groups one missing ability becomes. What counts is said in test/gold/README.md.
 */
import { z } from 'zod';
import type { GapRow, GapType } from '../../src/domain/facts.ts';
import { madeConversation, userTurn } from './conversations.ts';
import { shareOf } from './counts.ts';
import { GOLD_PARTS, readGold, type GoldPart } from './gold.ts';
import { loadPipeline, type Pipeline } from './pipeline.ts';
import { BINARY_COLUMNS, binaryRow, type EvalOptions, type EvalTable, type Row } from './report.ts';

const gapType = z.enum(['TOOL', 'KNOWLEDGE']);
const turnSchema = z.object({
  lang: z.string(),
  user: z.string(),
  assistant: z.string(),
  gap: gapType.nullable(),
  why: z.string().optional(),
});
const exchangeSchema = z.object({ lang: z.string(), user: z.string(), assistant: z.string() });
const abilitySchema = z.object({
  ability: z.string(),
  type: gapType,
  exchanges: z.array(exchangeSchema),
});

type GoldTurn = z.infer<typeof turnSchema>;
type Ability = z.infer<typeof abilitySchema>;

/** Assistant turns with and without gaps. */
export function readGapGold(part: GoldPart): GoldTurn[] {
  return readGold('gaps', part, turnSchema);
}

/** What a detector finds in an assistant turn. */
export type Detector = (content: string) => GapType | null;

/** Gap or not, its type, and the turns that only sound like one. */
export function gapGoldTables(detect: Detector): EvalTable[] {
  const parts = GOLD_PARTS.map((part) => ({
    part,
    turns: readGapGold(part).map((turn) => ({ ...turn, found: detect(turn.assistant) })),
  }));
  return [
    {
      title: 'gaps: gold, a gap or not',
      columns: BINARY_COLUMNS,
      rows: parts.flatMap(({ part, turns }) => [
        binaryRow(part, turns.map(asScored)),
        binaryRow(`${part}, English`, turns.filter(({ lang }) => lang === 'en').map(asScored)),
        binaryRow(`${part}, other languages`, turns.filter(({ lang }) => lang !== 'en').map(asScored)),
      ]),
    },
    {
      title: 'gaps: gold, by language (F1) and type right of the gaps found',
      columns: ['language', ...GOLD_PARTS, 'turns'],
      rows: languageRows(parts.map(({ turns }) => turns)),
      notes: parts.map(({ part, turns }) => {
        const found = turns.filter(({ gap, found: type }) => gap !== null && type !== null);
        return `type right, ${part}: ${shareOf(found.map(({ gap, found: type }) => gap === type)).toFixed(3)}`;
      }),
    },
    {
      title: 'gaps: gold, share of what is no gap that is taken for one',
      columns: ['what it is', ...GOLD_PARTS, 'turns'],
      rows: falseGapRows(parts.map(({ turns }) => turns)),
    },
  ];
}

type JudgedTurn = GoldTurn & { readonly found: GapType | null };

function asScored({ gap, found }: JudgedTurn): { score: number; decided: boolean; positive: boolean } {
  return { score: found === null ? 0 : 1, decided: found !== null, positive: gap !== null };
}

function languageRows(parts: readonly (readonly JudgedTurn[])[]): Row[] {
  const languages = [...new Set(parts.flat().map(({ lang }) => lang))].sort();
  return languages.map((language) => {
    const own = parts.map((turns) => turns.filter(({ lang }) => lang === language));
    const f1 = own.map((turns) => Number(binaryRow('', turns.map(asScored))[2]));
    return [language, ...f1, own.flat().length];
  });
}

function falseGapRows(parts: readonly (readonly JudgedTurn[])[]): Row[] {
  const reasons = [...new Set(parts.flat().flatMap(({ why }) => why ?? []))].sort();
  const rowOf = (title: string, isOne: (turn: JudgedTurn) => boolean): Row => {
    const own = parts.map((turns) => turns.filter((turn) => turn.gap === null && isOne(turn)));
    return [
      title,
      ...own.map((turns) => shareOf(turns.map(({ found }) => found !== null))),
      own.flat().length,
    ];
  };
  const REFUSALS = ['policy refusal', 'clarifying question'];
  return [
    rowOf('all', () => true),
    rowOf('policy refusals and questions back', ({ why }) => REFUSALS.includes(why ?? '')),
    ...reasons.map((reason) => rowOf(reason, ({ why }) => why === reason)),
  ];
}

/** The groups that the abilities of a part become in one instance. */
interface GroupedAbilities {
  readonly abilities: readonly Ability[];
  /** Of each ability the group of each exchange; null: no gap was found. */
  readonly groups: readonly (readonly (number | null)[])[];
  readonly rows: ReadonlyMap<number, GapRow>;
}

/** How many groups one missing ability becomes, and how often different ones share a group. */
export async function abilityTables(options: EvalOptions): Promise<EvalTable[]> {
  const pipeline = await loadPipeline(options);
  const tables: EvalTable[] = [];
  for (const part of GOLD_PARTS) {
    const grouped = await groupAbilities(pipeline, readGold('abilities', part, abilitySchema));
    tables.push(abilityTable(part, grouped));
  }
  await pipeline.close();
  return tables;
}

async function groupAbilities(pipeline: Pipeline, abilities: readonly Ability[]): Promise<GroupedAbilities> {
  const most = Math.max(...abilities.map(({ exchanges }) => exchanges.length));
  // In turn, one of each ability, so that no group grows alone.
  const order = Array.from({ length: most }, (_, turn) =>
    abilities.flatMap(({ exchanges }, ability) => (turn < exchanges.length ? [{ ability, turn }] : [])),
  ).flat();
  const { gaps, gapRows } = await pipeline.assign(
    order.map(({ ability, turn }) => {
      const { user, assistant } = abilities[ability]!.exchanges[turn]!;
      return madeConversation(`${ability}-${turn}`, [
        userTurn(user),
        { role: 'assistant', content: assistant, label: null },
      ]);
    }),
  );
  const groups = abilities.map(({ exchanges }) => exchanges.map((): number | null => null));
  order.forEach(({ ability, turn }, place) => {
    groups[ability]![turn] = gaps[2 * place + 1] ?? null;
  });
  return { abilities, groups, rows: gapRows };
}

function abilityTable(part: GoldPart, { abilities, groups, rows }: GroupedAbilities): EvalTable {
  const known = groups.map((own) => own.filter((group) => group !== null));
  const countOf = (own: readonly number[]): number => new Set(own).size;
  const shared = known.flatMap((own, at) =>
    known.slice(at + 1).flatMap((other) => own.flatMap((a) => other.map((b) => a === b))),
  );
  const isTuned = part === 'tuned';
  const mean = known.reduce((sum, own) => sum + countOf(own), 0) / Math.max(1, known.length);
  return {
    title: `gaps: gold abilities, ${part}: ten wordings each, one stream`,
    columns: ['ability', 'gaps found', 'of', 'groups', 'names'],
    rows: isTuned
      ? abilities.map(({ ability, exchanges }, at) => [
          ability,
          known[at]!.length,
          exchanges.length,
          countOf(known[at]!),
          [...new Set(known[at])].map((group) => rows.get(group)?.name ?? '').join(' · '),
        ])
      : [['all', known.flat().length, groups.flat().length, mean, '']],
    notes: [
      `groups per ability: ${mean.toFixed(2)} (goal: at most 1.5)`,
      `pairs of different abilities in one group: ${shareOf(shared).toFixed(4)}`,
    ],
  };
}
