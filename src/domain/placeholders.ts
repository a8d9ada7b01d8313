/**
 * Placeholders for masked values in texts: "[EMAIL_1]".
 *
 * Test: test/reader/personal/personal-values.test.ts.
 */

/** Kinds of masked value. */
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

/** A personal value in a text, from `start` up to, not including, `end`, in UTF-16 units. */
export interface PersonalValue {
  readonly start: number;
  readonly end: number;
  readonly kind: MaskedKind;
  /** The normalized value: equal keys mean the same value in another spelling. */
  readonly key: string;
}

/**
 * Returns the personal values of a text in order, without overlaps, and the hashed words of the names in it. `known`:
 * the `names` of earlier texts. `persons`: spans of persons that a model found.
 */
export type ReadPersonalValues = (
  text: string,
  known: readonly number[],
  persons?: readonly { readonly start: number; readonly end: number }[],
) => { readonly values: readonly PersonalValue[]; readonly names: readonly number[] };

/** Returns the placeholder of a value. `number`: 1 to 999,999; equal for equal values of a kind in a session. */
export function placeholderOf(kind: MaskedKind, number: number): string {
  return `[${kind}_${number}]`;
}

const PLACEHOLDER = new RegExp(String.raw`\[(?:${MASKED_KINDS.join('|')})_[1-9]\d{0,5}\]`, 'gu');

/** Returns the spans of the placeholders, in order. */
export function placeholdersIn(text: string): { readonly start: number; readonly end: number }[] {
  if (!text.includes('[')) return [];
  return [...text.matchAll(PLACEHOLDER)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
  }));
}
