/** The numbers of one entity or of all, beside those of the period before. */
import { api, type OverviewResponse, type Row } from './api.ts';
import type { Point } from './charts.tsx';
import { datesOf, type Period } from './period.ts';
import { bucketsOf } from './state.ts';
import { clockAt } from './zone.ts';

export interface Span {
  readonly start: string;
  readonly end: string;
}

/** The period before, cut where this one is, as GET /v1/changes has it; null: nothing is compared. */
export async function askBefore(period: Period, signal: AbortSignal): Promise<Span | null> {
  const { instance, compare, range } = period;
  if (compare === 'none' || range['dateRange.start'] === undefined) return null;
  const { before } = await api.changes({ instanceId: instance, ...range, compare, limit: 1 }, signal);
  return before;
}

export function rangeOfSpan({ start, end }: Span) {
  return { 'dateRange.start': start, 'dateRange.end': end };
}

/** Numbers of an entity, and of all conversations beside them. */
export interface Compared {
  readonly now: Row['fields'];
  /** Null: nothing is compared. */
  readonly before: Row['fields'] | null;
  readonly all: OverviewResponse['fields'];
  readonly allBefore: OverviewResponse['fields'] | null;
  readonly points: readonly Point[];
  readonly pointsBefore: readonly Point[] | null;
}

/** What a grouping says of one id, with its trend; nothing said is 0. */
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
  const askRange = (range: object) =>
    Promise.all([
      api.query({ ...base, ...range, fields }, signal),
      api.query({ ...base, ...range, fields: metric, timeGranularity, limit: 10_000 }, signal),
      api.overview({ instanceId: period.instance, ...range, timeGranularity: 'MONTH' }, signal),
    ]);
  const askRangeBefore = async () => {
    const before = await askBefore(period, signal);
    return before === null ? null : { span: before, found: await askRange(rangeOfSpan(before)) };
  };
  const [[now, trend, all], earlier] = await Promise.all([askRange(period.range), askRangeBefore()]);
  const rows = (found: typeof trend) =>
    found.elements.map(({ dimensions, fields }) => ({
      date: dimensions.date ?? '',
      value: fields[metric] ?? 0,
    }));
  const points = rows(trend);
  // A period without a message is nothing to compare with.
  const before = (earlier?.found[2].fields.messages ?? 0) > 0 ? earlier : null;
  return {
    now: now.elements[0]?.fields ?? {},
    before: before === null ? null : (before.found[0].elements[0]?.fields ?? {}),
    all: all.fields,
    allBefore: before?.found[2].fields ?? null,
    points: filled(points, datesOf(period, points[0]?.date, points.at(-1)?.date)),
    pointsBefore:
      before === null
        ? null
        : filled(
            rows(before.found[1]),
            bucketsOf(clockAt(before.span.start), clockAt(before.span.end), period.granularity),
          ),
  };
}

/** A point for each bucket: 0 where nothing happened. */
export function filled(points: readonly Point[], dates: readonly string[]): Point[] {
  const values = new Map(points.map(({ date, value }) => [date, value]));
  return dates.map((date) => ({ date, value: values.get(date) ?? 0 }));
}
