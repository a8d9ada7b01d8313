/**
 * Reads the periods that a model asks for, all in UTC.
 *
 * Test: test/doors/mcp/period.test.ts.
 */
import { formatInstant, parseTime } from '../../domain/time.ts';
import type { QueryString } from './reading.ts';
import { refused } from './tool.ts';

type Buckets = 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';

/** A time range. */
export interface Period {
  /** UTC, inclusive; null: from the first message. */
  readonly start: string | null;
  /** UTC, exclusive; null: to the last message. */
  readonly end: string | null;
  /** Buckets of a trend, at most a few dozen. */
  readonly buckets: Buckets;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const UNITS = { h: HOUR_MS, d: DAY_MS, w: WEEK_MS } as const;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const SPAN = /^(\d{1,4})([hdw])$/;

/**
 * Parses `24h`, `7d`, `4w`, `all`, `START/END`, `START/` or one day. A span ends with the current hour (for hours) or
 * day, UTC. Instants are dates or ISO 8601; a date as END is included.
 *
 * @throws AppError VALIDATION_ERROR
 */
export function readPeriod(text: string, nowMs: number): Period {
  const given = text.trim();
  if (given === 'all') return { start: null, end: null, buckets: 'MONTH' };
  const span = SPAN.exec(given);
  const range = span === null ? rangeOf(given, nowMs) : spanOf(span, nowMs);
  if (range === null) {
    throw refused('period', 'must be like 24h, 7d, 4w, all, 2026-11-01 or 2026-11-01/2026-11-07 (UTC)');
  }
  const [start, end] = range;
  if (start >= end) throw refused('period', 'must begin before it ends');
  return { start: instant(start), end: instant(end), buckets: bucketsOf(end - start) };
}

/**
 * Returns the period of equal length, shifted back by whole weeks, and cut where now cuts the period; null if there is
 * none.
 */
export function periodBefore({ start, end, buckets }: Period, nowMs: number): Period | null {
  if (start === null || end === null) return null;
  const from = Date.parse(start);
  const cut = Math.min(Date.parse(end), Math.ceil(nowMs / HOUR_MS) * HOUR_MS);
  const shift = Math.ceil((Date.parse(end) - from) / WEEK_MS) * WEEK_MS;
  if (cut <= from) return null;
  return { start: instant(from - shift), end: instant(cut - shift), buckets };
}

/** Converts the period to parameters of a route. */
export function rangeParameters({ start, end }: Pick<Period, 'start' | 'end'>): QueryString {
  return {
    ...(start === null ? {} : { 'dateRange.start': start }),
    ...(end === null ? {} : { 'dateRange.end': end }),
  };
}

/** Describes the period. */
export function periodText({ start, end }: Pick<Period, 'start' | 'end'>): string {
  if (start === null && end === null) return 'all time';
  return `${short(start ?? 'the first message')} to ${short(end ?? 'the last message')} (UTC, end exclusive)`;
}

function short(at: string): string {
  return at.replace(/T00:00:00\.000Z$/, '').replace(/:00\.000Z$/, 'Z');
}

function spanOf([, count, unit]: RegExpExecArray, nowMs: number): [number, number] | null {
  const grain = unit === 'h' ? HOUR_MS : DAY_MS;
  const end = (Math.floor(nowMs / grain) + 1) * grain;
  const start = end - Number(count) * UNITS[unit as keyof typeof UNITS];
  return Number(count) > 0 ? [start, end] : null;
}

function rangeOf(text: string, nowMs: number): [number, number] | null {
  const [from = '', to, ...more] = text.split('/').map((part) => part.trim());
  const start = timeOf(from);
  if (start === null || more.length > 0) return null;
  if (to === undefined) return DATE.test(from) ? [start, start + DAY_MS] : null;
  if (to === '') return [start, (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS];
  const end = timeOf(to);
  if (end === null) return null;
  return [start, DATE.test(to) ? end + DAY_MS : end];
}

function timeOf(text: string): number | null {
  const micros = parseTime(text);
  return micros === null ? null : micros / 1000;
}

function instant(ms: number): string {
  return formatInstant(Math.round(ms * 1000));
}

function bucketsOf(lengthMs: number): Buckets {
  if (lengthMs <= 2 * DAY_MS) return 'HOUR';
  if (lengthMs <= 31 * DAY_MS) return 'DAY';
  return lengthMs <= 60 * WEEK_MS ? 'WEEK' : 'MONTH';
}
