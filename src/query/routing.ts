import type { LocalBucket } from '../domain/local-time.ts';
import { bucketStart, nextBucketStart, type Granularity } from '../domain/time.ts';

/** From `start` up to, not including, `end`: microseconds, ±Infinity where it is open. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** How a range is read: whole buckets `[from, to)` from the rollup, the rest from facts. */
export interface Routing {
  readonly rollup: { readonly from: number; readonly to: number } | null;
  /** Parts of the range that no whole bucket of the rollup covers. */
  readonly cuts: readonly Range[];
}

/** The same, with the start of the bucket that each part belongs to. */
export interface BucketRouting extends Routing {
  readonly cuts: readonly LocalBucket[];
}

/**
 * Splits a range: an aligned one reads the rollup alone; a bucket that the range cuts is read from facts; `ALL` over a
 * bounded range has no bucket in the rollup.
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

/** The whole days of a range, if it has any, and what is left at its ends. */
export function wholeDays({ start, end }: Range): Routing {
  const from = nextBucketStart('DAY', start);
  const to = bucketStart('DAY', end);
  if (from >= to) return { rollup: null, cuts: [{ start, end }] };
  return { rollup: { from, to }, cuts: ends({ start, end }, from, to) };
}

/** What a range has before `from` and after `to`. */
function ends({ start, end }: Range, from: number, to: number): Range[] {
  const parts = [
    { start, end: from },
    { start: to, end },
  ];
  return parts.filter((part) => part.start < part.end);
}
