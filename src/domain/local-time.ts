/**
 * Hours, days, weeks and months of a time zone. Buckets follow the zone's calendar: a day has 23 hours where clocks go
 * forward.
 *
 * Test: test/domain/local-time.test.ts, test/view-laws.test.ts.
 */
import { DateTime, IANAZone } from 'luxon';
import { DATE, HOUR_MICROS, type Granularity } from './time.ts';

/** A counted span: from `start` up to, not including, `end`, in microseconds. */
export interface LocalBucket {
  readonly start: number;
  readonly end: number;
  /** Start of the whole bucket; a range may cover only a part of it. */
  readonly bucket: number;
}

/** Returns true for a name of the IANA database ("Europe/Berlin"). */
export function isTimeZone(name: string): boolean {
  return IANAZone.isValidZone(name);
}

/** Returns the first instant of a `YYYY-MM-DD` day in a zone, microseconds; null if the text is no valid date. */
export function startOfDate(text: string, zone: string): number | null {
  if (!DATE.test(text)) return null;
  const date = DateTime.fromISO(text, { zone });
  return date.isValid ? toMicros(dayStart(date)) : null;
}

/** Returns the buckets of a bounded range, oldest first; null if there are more than `most`. */
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

/** Returns the whole bucket that holds an instant. */
export function localBucketAt(
  granularity: Exclude<Granularity, 'ALL'>,
  zone: string,
  at: number,
): { readonly start: number; readonly end: number } {
  let start = bucketStart(granularity, DateTime.fromMillis(Math.floor(at / 1000), { zone }));
  let end = nextBucketStart(granularity, start);
  // When clocks go back by half an hour, luxon puts the start of an hour into the hour before.
  while (toMicros(end) <= at) [start, end] = [end, nextBucketStart(granularity, end)];
  return { start: toMicros(start), end: toMicros(end) };
}

/** Returns the start of the bucket `count` buckets before the one that holds an instant. */
export function localBucketsEarlier(
  granularity: Exclude<Granularity, 'ALL'>,
  zone: string,
  at: number,
  count: number,
): number {
  const start = DateTime.fromMillis(localBucketAt(granularity, zone, at).start / 1000, { zone });
  // Counts from noon, so that a clock change cannot shift the date.
  const within = granularity === 'HOUR' ? start : start.set({ hour: 12 });
  return localBucketAt(granularity, zone, toMicros(within.minus({ [`${UNIT[granularity]}s`]: count }))).start;
}

/** Returns the same local time `weeks` weeks earlier; a null zone is UTC. */
export function weeksEarlier(at: number, weeks: number, zone: string | null): number {
  const back = weeks * 7 * 24 * HOUR_MICROS;
  if (zone === null) return at - back;
  const ms = Math.floor(at / 1000);
  return toMicros(DateTime.fromMillis(ms, { zone }).minus({ weeks })) + (at - ms * 1000);
}

/** Returns the local time of an instant as if it were UTC. */
export function wallClock(at: number, zone: string): Date {
  const ms = Math.floor(at / 1000);
  return new Date(ms + DateTime.fromMillis(ms, { zone }).offset * 60_000);
}

/** Returns the label of a bucket in answers: `YYYY-MM-DDTHH:MM:SS+HH:MM`. */
export function formatLocalBucket(start: number, zone: string): string {
  return DateTime.fromMillis(start / 1000, { zone }).toFormat("yyyy-MM-dd'T'HH:mm:ssZZ");
}

/** Returns true if the zone's hours start with UTC hours in each month of the range and at the start of the next. */
export function hasWholeHours(
  zone: string,
  range: { readonly start: number; readonly end: number },
): boolean {
  const months = localBuckets('MONTH', zone, { ...range, end: range.end + MONTH_MICROS }, MOST_MONTHS) ?? [];
  return months.length > 0 && months.every(({ bucket }) => bucket % HOUR_MICROS === 0);
}

/** 200 years. */
const MOST_MONTHS = 2400;

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
  // Counts from noon, so that a clock change cannot shift the date.
  return dayStart(start.set({ hour: 12 }).plus({ [`${UNIT[granularity]}s`]: 1 }));
}

/** Minutes; no zone changes its clocks by less. */
const STEP = 30;

/** Returns the first instant of the day: a day has two midnights where clocks go back at midnight. */
function dayStart(at: DateTime): DateTime {
  let start = at.startOf('day');
  for (;;) {
    const earlier = start.minus({ minutes: STEP });
    if (earlier.toISODate() !== start.toISODate()) return start;
    start = earlier;
  }
}

/**
 * Returns the instant of a local time, microseconds. `localMs`: the same date and time read as UTC, milliseconds. A
 * time that the clocks skip moves forward by the gap; an ambiguous one gives either instant.
 */
export function instantOfLocal(localMs: number, zone: string): number {
  return toMicros(DateTime.fromMillis(localMs, { zone: 'utc' }).setZone(zone, { keepLocalTime: true }));
}

function toMicros(at: DateTime): number {
  return at.toMillis() * 1000;
}
