/** Whether texts leave `language/redact` without personal data, and with everything else. */
import { z } from 'zod';
import { redact } from '../../src/reader/personal/redact.ts';
import { shareOf } from './counts.ts';
import { GOLD_PARTS, readGold, type GoldPart } from './gold.ts';
import type { Evaluation, EvalTable, Row } from './report.ts';

/** What must not be shown of a text, and what must. */
const personalTextSchema = z.object({
  lang: z.string(),
  text: z.string(),
  personal: z.array(z.string()),
  keep: z.array(z.string()),
});
export type PersonalText = z.infer<typeof personalTextSchema>;

/** The texts of one part. */
export function personalTexts(part: GoldPart): PersonalText[] {
  return readGold('personal-data', part, personalTextSchema);
}

/** Parts that are shown and must not be, and parts that are not and must be. */
export interface PersonalFaults {
  readonly leaked: readonly string[];
  readonly lost: readonly string[];
}

/** Part by part: a part that also stands elsewhere in what may be shown counts as leaked. */
export function faultsOf({ text, personal, keep }: PersonalText, redacted = redact(text)): PersonalFaults {
  return {
    leaked: personal.filter((part) => redacted.includes(part)),
    lost: keep.filter((part) => !redacted.includes(part)),
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

const COLUMNS = ['texts', 'parts hidden', 'texts clean', 'parts kept', 'texts without any, unchanged'];

function languageTable(part: GoldPart, texts: readonly PersonalText[]): EvalTable {
  const byLanguage = [...Map.groupBy(texts, ({ lang }) => lang)].sort(([x], [y]) => (x < y ? -1 : 1));
  return {
    title: `personal data by language, ${part}`,
    columns: ['language', ...COLUMNS],
    rows: byLanguage.map(([language, own]) => rowOf(language, own)),
  };
}

export const evaluation: Evaluation = {
  name: 'personal-data',
  run() {
    const parts = GOLD_PARTS.map((part) => ({ part, texts: personalTexts(part) }));
    const whole: EvalTable = {
      title: 'personal data',
      columns: ['part', ...COLUMNS],
      rows: parts.map(({ part, texts }) => rowOf(part, texts)),
    };
    return Promise.resolve([whole, ...parts.map(({ part, texts }) => languageTable(part, texts))]);
  },
};
