/**
 * Reads the numbers of an entity or the instance, and those of the period before.
 *
 * Test: test/e2e/dashboard.test.ts.
 */
import { api, type ChangesResponse, type OverviewResponse, type Row } from './api.ts';
import type { Point } from './charts.tsx';
import { beganLate } from './format.ts';
import { datesOf, type Period } from './period.ts';
import { bucketsOf } from './state.ts';
import { clockAt } from './zone.ts';

/** The period before, cut like the current one by GET /v1/changes, and the instance's numbers in it. */
export interface Before {
  readonly changes: ChangesResponse;
  readonly overview: OverviewResponse;
}

/**
 * Reads the period before; null without a comparison or before anything of the period is processed. `limit`: number of
 * changes; default: that of the API.
 */
export async function askBefore(period: Period, signal: AbortSignal, limit?: number): Promise<Before | null> {
  const { range, granularity: timeGranularity, instance: instanceId, compare } = period;
  if (compare === 'none' || range['dateRange.start'] === undefined) return null;
  const changes = await api.changes({ instanceId, ...range, compare, limit }, signal);
  // Nothing was processed since the period began.
  if (changes.before.start === changes.before.end) return null;
  const overview = await api.overview(
    { instanceId, ...rangeOf(changes, period), ...period.signals, timeGranularity },
    signal,
  );
  return { changes, overview };
}

function rangeOf({ before: { start, end } }: ChangesResponse, { segment }: Period) {
  return { 'dateRange.start': start, 'dateRange.end': end, ...segment };
}

/** Returns the day of the first messages in the period before, if it begins too late for a comparison. */
export function lateDayOf(before: Before | null): string | null {
  return before === null ? null : beganLate(before.changes.before, before.overview.trend[0]?.date);
}

/** Returns true if the period before has messages from its beginning on. */
export function isComparable(before: Before | null): before is Before {
  return before !== null && (before.overview.fields.messages ?? 0) > 0 && lateDayOf(before) === null;
}

/**
 * Returns the trend of the period before; null without messages. A trend shows a late beginning, so it needs no
 * `isComparable`.
 */
export function trendBefore(
  before: Before | null,
  points: readonly Point[],
  period: Period,
): readonly Point[] | null {
  if (before === null || before.overview.trend.length === 0) return null;
  const { start, end } = before.changes.before;
  return filled(points, bucketsOf(clockAt(start), clockAt(end), period.granularity));
}

/** The numbers of an entity and of all conversations. */
export interface Compared {
  readonly now: Row['fields'];
  /** Null without a comparison. */
  readonly before: Row['fields'] | null;
  readonly all: OverviewResponse['fields'];
  readonly allBefore: OverviewResponse['fields'] | null;
  readonly points: readonly Point[];
  readonly pointsBefore: readonly Point[] | null;
  /** See `lateDayOf`. */
  readonly lateDay: string | null;
}

/** Reads the numbers and the trend of one row of a grouping; missing buckets are 0. */
export async function askCompared(
  period: Period,
  groupBy: string,
  id: string,
  fields: string,
  signal: AbortSignal,
): Promise<Compared> {
  const base = { instanceId: period.instance, groupBy, ids: id };
  const timeGranularity = period.granularity;
  const metric = groupBy === 'END_USER' ? 'messages' : 'sessions';
  const counted = fields.split(',').includes('sat') ? period.signals : {};
  const askRange = async (range: object) => {
    const [numbers, trend] = await Promise.all([
      api.query({ ...base, ...range, ...counted, fields }, signal),
      api.query({ ...base, ...range, fields: metric, timeGranularity, limit: 10_000 }, signal),
    ]);
    const points = trend.elements.map(({ dimensions, fields: values }) => ({
      date: dimensions.date ?? '',
      value: values[metric] ?? 0,
    }));
    return { numbers: numbers.elements[0]?.fields ?? {}, points };
  };
  const askRangeBefore = async () => {
    const before = await askBefore(period, signal, 1);
    return { before, own: before === null ? null : await askRange(rangeOf(before.changes, period)) };
  };
  const [now, all, { before, own }] = await Promise.all([
    askRange(period.range),
    api.overview(
      { instanceId: period.instance, ...period.range, ...period.signals, timeGranularity: 'MONTH' },
      signal,
    ),
    askRangeBefore(),
  ]);
  const isCompared = isComparable(before);
  return {
    now: now.numbers,
    before: isCompared ? (own?.numbers ?? null) : null,
    all: all.fields,
    allBefore: isCompared ? before.overview.fields : null,
    points: filled(now.points, datesOf(period, now.points[0]?.date, now.points.at(-1)?.date)),
    pointsBefore: trendBefore(before, own?.points ?? [], period),
    lateDay: lateDayOf(before),
  };
}

/** Returns a point for each bucket, 0 without data. */
export function filled(points: readonly Point[], dates: readonly string[]): Point[] {
  // With clock changes, a day may not begin at midnight, and an hour may occur twice.
  const areDays = dates.every((date) => date.includes('T00:00:00'));
  const keyOf = (date: string): string => (areDays ? date.slice(0, 10) : date);
  const values = new Map<string, number>();
  for (const { date, value } of points) values.set(keyOf(date), (values.get(keyOf(date)) ?? 0) + value);
  return dates.map((date) => ({ date, value: values.get(keyOf(date)) ?? 0 }));
}
