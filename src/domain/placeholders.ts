/** What stands in a text in place of a masked value: "[EMAIL_1]". Covered by test/reader/personal/personal-values.test.ts. */

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

/** A personal value in a text: from `start` up to `end`, UTF-16 units. */
export interface PersonalValue {
  readonly start: number;
  readonly end: number;
  readonly kind: MaskedKind;
  /** The value without what spellings differ in: equal ones are the same value. */
  readonly key: string;
}

/**
 * The personal values of a text, in order, none of which overlap. `known`: the words of names, as hashes, that texts
 * before it gave as `names`. `persons`: where else names of persons stand, as a model finds them.
 */
export type ReadPersonalValues = (
  text: string,
  known: readonly number[],
  persons?: readonly { readonly start: number; readonly end: number }[],
) => { readonly values: readonly PersonalValue[]; readonly names: readonly number[] };

/** The placeholder of a value; `number`: the same for equal values of its kind in its session, 1 to 999,999. */
export function placeholderOf(kind: MaskedKind, number: number): string {
  return `[${kind}_${number}]`;
}

const PLACEHOLDER = new RegExp(String.raw`\[(?:${MASKED_KINDS.join('|')})_[1-9]\d{0,5}\]`, 'gu');

/** The places of the placeholders in a text, in order. */
export function placeholdersIn(text: string): { readonly start: number; readonly end: number }[] {
  if (!text.includes('[')) return [];
  return [...text.matchAll(PLACEHOLDER)].map(({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
  }));
}
