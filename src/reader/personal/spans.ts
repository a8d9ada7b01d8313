/** Collects the parts of a text that hold personal data. */

export type PersonalKind = 'name' | 'contact' | 'number' | 'address' | 'secret' | 'date' | 'known';

/** From `start` up to `end`, UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: PersonalKind;
}

/** Spans by their start, those that meet as one. */
export function mergedSpans(spans: readonly Span[]): Span[] {
  const merged: { start: number; end: number; kind: PersonalKind }[] = [];
  for (const span of spans.toSorted((x, y) => x.start - y.start || y.end - x.end)) {
    const last = merged.at(-1);
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  return merged;
}
