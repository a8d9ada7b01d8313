/**
 * Reads times as exports write them.
 *
 * Test: test/doors/import/mapper.test.ts.
 */
import { formatInstant, parseInstant, parseTime } from '../../domain/time.ts';

/** The rule for people, in faults. */
export const TIME_RULE =
  'must be a date (2026-11-01, midnight UTC), an instant with Z or an offset (2026-11-01T09:30:00+01:00), or ' +
  'seconds or milliseconds since 1970';

/** Smallest number that is seconds: 1973-03-03. The range ends at FIRST_MILLISECONDS, year 5138. */
const FIRST_SECONDS = 1e8;
/** Smallest number that is milliseconds: also 1973-03-03. The range ends at PAST_MILLISECONDS, year 5138. */
const FIRST_MILLISECONDS = 1e11;
const PAST_MILLISECONDS = 1e14;
const DIGITS = /^\d{9,14}(?:\.\d+)?$/;

/**
 * Converts a time to the form that ingest accepts; null if it is none. Numbers (and texts of digits) from 10⁸ are
 * seconds and from 10¹¹ milliseconds. Both ranges cover the years 1973 to 5138, so they cannot be confused, and a date
 * such as 20261101 is outside of both.
 */
export function readTime(value: unknown): string | null {
  if (typeof value === 'number') return ofEpoch(value);
  if (typeof value !== 'string') return null;
  if (parseInstant(value) !== null) return value;
  const at = parseTime(value);
  if (at !== null) return formatInstant(at);
  return DIGITS.test(value) ? ofEpoch(Number(value)) : null;
}

function ofEpoch(value: number): string | null {
  if (!(value >= FIRST_SECONDS && value < PAST_MILLISECONDS)) return null;
  return formatInstant(Math.round(value * (value < FIRST_MILLISECONDS ? 1e6 : 1e3)));
}

/**
 * Converts `2026-03-01 09:30:00.123`, which databases write for UTC, to an instant; returns other numbers and texts
 * unchanged.
 */
export function utcTime(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value === '') return undefined;
  const [, day, time] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?UTC)?$/.exec(value) ?? [];
  if (day === undefined || time === undefined) return zoned(value);
  return `${day}T${time.length === 5 ? `${time}:00` : time.slice(0, 15)}Z`;
}

/** Converts offsets such as `+00` to ISO form. */
function zoned(value: string): string {
  const [, day, time, offset] =
    /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?) ?([+-]\d{2}(?::?\d{2})?)$/.exec(value) ?? [];
  if (day === undefined || time === undefined || offset === undefined) return value;
  const digits = offset.replace(':', '');
  return `${day}T${time.slice(0, 15)}${digits.slice(0, 3)}:${digits.slice(3) || '00'}`;
}
