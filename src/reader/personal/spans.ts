/**
 * The spans of personal data in a text.
 *
 * Test: test/reader/personal/redact.test.ts.
 */

/** The kind of personal data. `known`: a word that the session knows, or a placeholder. */
export type PersonalKind = 'name' | 'contact' | 'number' | 'address' | 'secret' | 'date' | 'known';

/** A range of UTF-16 units, `end` exclusive, with its kind. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: PersonalKind;
}

/** Sorts spans by their start and merges overlapping ones. */
export function mergedSpans(spans: readonly Span[]): Span[] {
  const merged: { start: number; end: number; kind: PersonalKind }[] = [];
  for (const span of spans.toSorted((x, y) => x.start - y.start || y.end - x.end)) {
    const last = merged.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  return merged;
}
