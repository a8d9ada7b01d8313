/**
 * What stands in a text in place of a masked value: "[EMAIL_1]". Where a text is shown, it counts as hidden, so that it
 * names no topic and no session. Covered by test/text/redact/personal-values.test.ts.
 */
import type { Reading } from './reading.ts';

/** What a masked value is. */
export const MASKED_KINDS = [
  'EMAIL',
  'PHONE',
  'CARD',
  'IBAN',
  'ID',
  'IP',
  'LINK',
  'HANDLE',
  'NAME',
  'ADDRESS',
  'BIRTHDATE',
  'SECRET',
] as const;
export type MaskedKind = (typeof MASKED_KINDS)[number];

/** The placeholder of a value; `number`: which one of its kind it is in its session, from 1 on; null: uncounted. */
export function placeholderOf(kind: MaskedKind, number: number | null): string {
  return number === null ? `[${kind}]` : `[${kind}_${number}]`;
}

const PLACEHOLDER = new RegExp(String.raw`\[(?:${MASKED_KINDS.join('|')})(?:_[1-9]\d{0,4})?\]`, 'gu');

/** The places of the placeholders in a text, in order. */
export function placeholdersIn(text: string): { readonly start: number; readonly end: number }[] {
  if (!text.includes('[')) return [];
  return [...text.matchAll(PLACEHOLDER)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
  }));
}

/** Marks placeholders as personal. */
export function findPlaceholders({ text, spans }: Reading): void {
  for (const place of placeholdersIn(text)) spans.push({ ...place, kind: 'known' });
}
