/** Whether texts leave `language/redact` without personal data, and with everything else. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { redact } from '../../src/language/redact/redact.ts';
import { shareOf } from './counts.ts';
import type { Evaluation, EvalTable, Row } from './report.ts';

const GOLD = resolve(import.meta.dirname, '../../test/gold');

/** What must not be shown of a text, and what must. */
export const personalTextSchema = z.object({
  lang: z.string(),
  text: z.string(),
  personal: z.array(z.string()),
  keep: z.array(z.string()),
});
export type PersonalText = z.infer<typeof personalTextSchema>;

/** The texts of a gold file; none when it is not there. */
export function personalTexts(file: string): PersonalText[] {
  const path = join(GOLD, file);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => personalTextSchema.parse(JSON.parse(line)));
}

/** Parts that are shown and must not be, and parts that are not and must be. */
export interface PersonalFaults {
  readonly leaked: readonly string[];
  readonly lost: readonly string[];
}

/** Part by part: a part that also stands elsewhere in what may be shown counts as leaked. */
export function faultsOf({ text, personal, keep }: PersonalText, shown = redact(text)): PersonalFaults {
  return {
    leaked: personal.filter((part) => shown.includes(part)),
    lost: keep.filter((part) => !shown.includes(part)),
  };
}

function rowOf(name: string, texts: readonly PersonalText[]): Row {
  const judged = texts.map((text) => ({ ...text, ...faultsOf(text) }));
  const parts = judged.reduce((sum, { personal }) => sum + personal.length, 0);
  const leaked = judged.reduce((sum, own) => sum + own.leaked.length, 0);
  const kept = judged.reduce((sum, { keep }) => sum + keep.length, 0);
  const lost = judged.reduce((sum, own) => sum + own.lost.length, 0);
  const holding = judged.filter(({ personal }) => personal.length > 0);
  const free = judged.filter(({ personal }) => personal.length === 0);
  return [
    name,
    texts.length,
    parts === 0 ? Number.NaN : 1 - leaked / parts,
    holding.length === 0 ? Number.NaN : shareOf(holding.map((own) => own.leaked.length === 0)),
    kept === 0 ? Number.NaN : 1 - lost / kept,
    free.length === 0 ? Number.NaN : shareOf(free.map(({ text }) => redact(text) === text)),
  ];
}

function tableOf(half: string, texts: readonly PersonalText[]): EvalTable {
  const byLanguage = [...Map.groupBy(texts, ({ lang }) => lang)].sort(([x], [y]) => (x < y ? -1 : 1));
  return {
    title: `personal data, ${half} half`,
    columns: [
      'language',
      'texts',
      'parts hidden',
      'texts clean',
      'parts kept',
      'texts without any, unchanged',
    ],
    rows: [rowOf('all', texts), ...byLanguage.map(([language, own]) => rowOf(language, own))],
  };
}

export const evaluation: Evaluation = {
  name: 'personal-data',
  run() {
    const tables: EvalTable[] = [];
    for (const [half, file] of [
      ['tuned', 'personal-data.jsonl'],
      ['sealed', 'personal-data.sealed.jsonl'],
    ] as const) {
      const texts = personalTexts(file);
      if (texts.length > 0) tables.push(tableOf(half, texts));
    }
    return Promise.resolve(tables);
  },
};
