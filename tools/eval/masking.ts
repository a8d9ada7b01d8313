/** How much of what is personal is masked before texts are stored, and how much else with it: by characters. */
import { z } from 'zod';
import { personalValues } from '../../src/reader/personal/personal-values.ts';
import { MASKED_KINDS, type MaskedKind } from '../../src/domain/placeholders.ts';
import { readGold, type GoldPart } from './gold.ts';
import type { Evaluation, EvalTable, Row } from './report.ts';

const maskedTextSchema = z.object({
  lang: z.string(),
  /** What is personal stands in it as "{KIND|value}". */
  marked: z.string(),
});

/** A text, and what of it is personal. */
export interface MaskedText {
  readonly lang: string;
  readonly text: string;
  readonly personal: readonly { readonly start: number; readonly end: number; readonly kind: MaskedKind }[];
}

const MARKED = new RegExp(String.raw`\{(${MASKED_KINDS.join('|')})\|([^}]*)\}`, 'gu');

/** Rules were mended on the first; the second was written when they stood. */
const PARTS = ['tuned', 'sealed'] as const satisfies readonly GoldPart[];
type MaskedPart = (typeof PARTS)[number];

export function maskedTexts(part: MaskedPart): MaskedText[] {
  return readGold('masking', part, maskedTextSchema).map(({ lang, marked }) => {
    const personal: MaskedText['personal'][number][] = [];
    let text = '';
    let end = 0;
    for (const { 0: whole, 1: kind, 2: value = '', index } of marked.matchAll(MARKED)) {
      text += marked.slice(end, index);
      personal.push({ start: text.length, end: text.length + value.length, kind: kind as MaskedKind });
      text += value;
      end = index + whole.length;
    }
    return { lang, text: text + marked.slice(end), personal };
  });
}

/** Characters are UTF-16 units. */
export interface MaskingScores {
  readonly texts: number;
  /** Characters that are personal, and those of them that are masked. */
  readonly personal: number;
  readonly hidden: number;
  /** Characters that are masked. */
  readonly masked: number;
  /** Personal values, and those with the placeholder of their kind. */
  readonly values: number;
  readonly named: number;
  /** Texts without personal data, and those of them that stay as they are. */
  readonly harmless: number;
  readonly kept: number;
}

export function masksOf(texts: readonly MaskedText[]): MaskingScores {
  const scores = { personal: 0, hidden: 0, masked: 0, values: 0, named: 0, harmless: 0, kept: 0 };
  for (const { text, personal } of texts) {
    const { values } = personalValues(text, []);
    const overlap = (a: { start: number; end: number }, b: { start: number; end: number }): number =>
      Math.max(0, Math.min(a.end, b.end) - Math.max(a.start, b.start));
    for (const part of personal) {
      scores.personal += part.end - part.start;
      for (const value of values) scores.hidden += overlap(part, value);
      scores.named += values.some(({ kind, ...at }) => kind === part.kind && overlap(part, at) > 0) ? 1 : 0;
    }
    scores.values += personal.length;
    for (const { start, end } of values) scores.masked += end - start;
    if (personal.length > 0) continue;
    scores.harmless += 1;
    if (values.length === 0) scores.kept += 1;
  }
  return { texts: texts.length, ...scores };
}

function rowOf(name: string, texts: readonly MaskedText[]): Row {
  const { texts: count, personal, hidden, masked, values, named, harmless, kept } = masksOf(texts);
  return [name, count, hidden / personal, hidden / masked, named / values, kept / harmless];
}

const COLUMNS = ['texts', 'recall', 'precision', 'kinds', 'texts without any, unchanged'];

export const evaluation: Evaluation = {
  name: 'masking',
  run() {
    const parts = PARTS.map((part) => ({ part, texts: maskedTexts(part) }));
    const whole: EvalTable = {
      title: 'masking',
      columns: ['part', ...COLUMNS],
      rows: parts.map(({ part, texts }) => rowOf(part, texts)),
      notes: [
        'recall: of the characters that are personal, those that are masked.',
        'precision: of the characters that are masked, those that are personal.',
        'kinds: of the personal values, those with a placeholder of their kind.',
      ],
    };
    return Promise.resolve([whole, ...parts.map(({ part, texts }) => languageTable(part, texts))]);
  },
};

function languageTable(part: MaskedPart, texts: readonly MaskedText[]): EvalTable {
  const byLanguage = [...Map.groupBy(texts, ({ lang }) => lang)].sort(([x], [y]) => (x < y ? -1 : 1));
  return {
    title: `masking by language, ${part}`,
    columns: ['language', ...COLUMNS],
    rows: byLanguage.map(([language, own]) => rowOf(language, own)),
  };
}
