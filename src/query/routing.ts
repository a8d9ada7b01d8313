/**
 * Splits ranges into whole buckets, which rollups hold, and the cut ends, which are read from facts.
 *
 * Test: test/query/routing.test.ts.
 */
import type { LocalBucket } from '../domain/local-time.ts';
import { bucketStart, nextBucketStart, type Granularity } from '../domain/time.ts';

/** From `start` up to, not including, `end`: microseconds, ±Infinity where open. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the range that a route's parameters name. */
export function rangeIn(parameters: {
  readonly 'dateRange.start'?: number | undefined;
  readonly 'dateRange.end'?: number | undefined;
}): Range {
  return { start: parameters['dateRange.start'] ?? -Infinity, end: parameters['dateRange.end'] ?? Infinity };
}

/** Whole buckets `[from, to)` for the rollup; null: none. */
export interface Routing {
  readonly rollup: { readonly from: number; readonly to: number } | null;
  /** The rest of the range, for facts. */
  readonly cuts: readonly Range[];
}

/** A routing that names the bucket of each cut. */
export interface BucketRouting extends Routing {
  readonly cuts: readonly LocalBucket[];
}

/**
 * Routes a range. An aligned range needs the rollup alone; a cut bucket needs facts. `ALL` over a bounded range has no
 * bucket in the rollup.
 */
export function route(granularity: Granularity, { start, end }: Range): BucketRouting {
  if (start === -Infinity && end === Infinity) return { rollup: { from: start, to: end }, cuts: [] };
  if (granularity === 'ALL') return { rollup: null, cuts: [{ start, end, bucket: -Infinity }] };
  const from = start === -Infinity ? start : nextBucketStart(granularity, start);
  const to = end === Infinity ? end : bucketStart(granularity, end);
  const parts = from > to ? [{ start, end }] : ends({ start, end }, from, to);
  return {
    rollup: from < to ? { from, to } : null,
    cuts: parts.map((part) => ({ ...part, bucket: bucketStart(granularity, part.start) })),
  };
}

/** Routes to the whole hours or days of a range, if it has any, and its cut ends. */
export function wholeUnits(unit: 'HOUR' | 'DAY', { start, end }: Range): Routing {
  const from = nextBucketStart(unit, start);
  const to = bucketStart(unit, end);
  if (from >= to) return { rollup: null, cuts: [{ start, end }] };
  return { rollup: { from, to }, cuts: ends({ start, end }, from, to) };
}

/** Returns the parts of a range before `from` and after `to`. */
function ends({ start, end }: Range, from: number, to: number): Range[] {
  const parts = [
    { start, end: from },
    { start: to, end },
  ];
  return parts.filter((part) => part.start < part.end);
}
