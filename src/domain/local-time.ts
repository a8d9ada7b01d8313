/** Days, weeks and months of a time zone. Covered by test/domain/local-time.test.ts and test/view-laws.test.ts. */
import { DateTime, IANAZone } from 'luxon';
import type { Granularity } from './time.ts';

/** What is counted together: from `start` up to, not including, `end`, in microseconds. */
export interface LocalBucket {
  readonly start: number;
  readonly end: number;
  /** Where the whole bucket begins, of which a range may hold a part. */
  readonly bucket: number;
}

/** Whether it names a time zone, as the IANA database does ("Europe/Berlin"). */
export function isTimeZone(name: string): boolean {
  return IANAZone.isValidZone(name);
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The first instant of a day in a zone, microseconds; null: the text is no date of the calendar. */
export function startOfDate(text: string, zone: string): number | null {
  if (!DATE.test(text)) return null;
  const date = DateTime.fromISO(text, { zone });
  return date.isValid ? toMicros(dayStart(date)) : null;
}

/**
 * The buckets of a bounded range, oldest first; null: they are more than `most`. A bucket is as long as its calendar
 * says: a day has 23 hours where clocks are put forward.
 */
export function localBuckets(
  granularity: Exclude<Granularity, 'ALL'>,
  zone: string,
  range: { readonly start: number; readonly end: number },
  most: number,
): readonly LocalBucket[] | null {
  const found: LocalBucket[] = [];
  let from = bucketStart(granularity, DateTime.fromMillis(Math.floor(range.start / 1000), { zone }));
  while (toMicros(from) < range.end) {
    if (found.length === most) return null;
    const next = nextBucketStart(granularity, from);
    const start = Math.max(range.start, toMicros(from));
    const end = Math.min(range.end, toMicros(next));
    if (start < end) found.push({ start, end, bucket: toMicros(from) });
    from = next;
  }
  return found;
}

/** The whole bucket of a zone that holds an instant. */
export function localBucketAt(
  granularity: Exclude<Granularity, 'ALL'>,
  zone: string,
  at: number,
): { readonly start: number; readonly end: number } {
  let start = bucketStart(granularity, DateTime.fromMillis(Math.floor(at / 1000), { zone }));
  let end = nextBucketStart(granularity, start);
  // Where clocks are put back by half an hour, an hour seems to begin in the one before.
  while (toMicros(end) <= at) [start, end] = [end, nextBucketStart(granularity, end)];
  return { start: toMicros(start), end: toMicros(end) };
}

/** Where the bucket begins that is so many before the one that holds an instant. */
export function localBucketsEarlier(
  granularity: Exclude<Granularity, 'ALL'>,
  zone: string,
  at: number,
  count: number,
): number {
  const start = DateTime.fromMillis(localBucketAt(granularity, zone, at).start / 1000, { zone });
  // From noon, so that no change of clocks leads to another day.
  const within = granularity === 'HOUR' ? start : start.set({ hour: 12 });
  return localBucketAt(granularity, zone, toMicros(within.minus({ [`${UNIT[granularity]}s`]: count }))).start;
}

/** The same time of day so many weeks earlier, in a zone; null: UTC. */
export function weeksEarlier(at: number, weeks: number, zone: string | null): number {
  const back = weeks * 7 * 24 * HOUR_MICROS;
  if (zone === null) return at - back;
  const ms = Math.floor(at / 1000);
  return toMicros(DateTime.fromMillis(ms, { zone }).minus({ weeks })) + (at - ms * 1000);
}

/** What clocks of a zone show at an instant, as if it were UTC. */
export function wallClock(at: number, zone: string): Date {
  const ms = Math.floor(at / 1000);
  return new Date(ms + DateTime.fromMillis(ms, { zone }).offset * 60_000);
}

/** The name of a bucket in answers: `YYYY-MM-DDTHH:MM:00+HH:MM`. */
export function formatLocalBucket(start: number, zone: string): string {
  return DateTime.fromMillis(start / 1000, { zone }).toFormat("yyyy-MM-dd'T'HH:mm:ssZZ");
}

/** Whether hours of the zone begin where hours of UTC do, in every month of a range, and at the start of the next. */
export function hasWholeHours(
  zone: string,
  range: { readonly start: number; readonly end: number },
): boolean {
  const months = localBuckets('MONTH', zone, { ...range, end: range.end + MONTH_MICROS }, MOST_MONTHS) ?? [];
  return months.length > 0 && months.every(({ bucket }) => bucket % HOUR_MICROS === 0);
}

/** Two hundred years. */
const MOST_MONTHS = 2400;

const HOUR_MICROS = 3_600_000_000;
const MONTH_MICROS = 31 * 24 * HOUR_MICROS;
const UNIT = { HOUR: 'hour', DAY: 'day', WEEK: 'week', MONTH: 'month' } as const;

function bucketStart(granularity: Exclude<Granularity, 'ALL'>, at: DateTime): DateTime {
  return granularity === 'HOUR' ? at.startOf('hour') : dayStart(at.startOf(UNIT[granularity]));
}

function nextBucketStart(granularity: Exclude<Granularity, 'ALL'>, start: DateTime): DateTime {
  if (granularity === 'HOUR') {
    const next = start.plus({ hours: 1 }).startOf('hour');
    return next > start ? next : start.plus({ hours: 1 });
  }
  // From noon, so that no change of clocks leads to another day.
  return dayStart(start.set({ hour: 12 }).plus({ [`${UNIT[granularity]}s`]: 1 }));
}

/** Clocks change by as little as that, minutes. */
const STEP = 30;

/** The first instant of the day: where clocks are put back at midnight, the day has two. */
function dayStart(at: DateTime): DateTime {
  let start = at.startOf('day');
  for (;;) {
    const earlier = start.minus({ minutes: STEP });
    if (earlier.toISODate() !== start.toISODate()) return start;
    start = earlier;
  }
}

/**
 * The instant of a time of day in a zone, microseconds. `localMs`: the same date and time in UTC, milliseconds. A time
 * that clocks leave out is as much later; one that comes twice is either.
 */
export function instantOfLocal(localMs: number, zone: string): number {
  return toMicros(DateTime.fromMillis(localMs, { zone: 'utc' }).setZone(zone, { keepLocalTime: true }));
}

function toMicros(at: DateTime): number {
  return at.toMillis() * 1000;
}
