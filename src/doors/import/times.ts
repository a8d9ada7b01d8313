import { formatInstant, parseInstant, parseTime } from '../../domain/time.ts';

/** What a time may be, for people. */
export const TIME_RULE =
  'must be a date (2026-11-01, midnight UTC), an instant with Z or an offset (2026-11-01T09:30:00+01:00), or ' +
  'seconds or milliseconds since 1970';

/** Seconds from here on, up to the next bound: 1973-03-03 to the year 5138. */
const FIRST_SECONDS = 1e8;
/** Milliseconds from here on: 1973-03-03 to the year 5138, too. */
const FIRST_MILLISECONDS = 1e11;
const PAST_MILLISECONDS = 1e14;
const DIGITS = /^\d{9,14}(?:\.\d+)?$/;

/**
 * Reads a time as people export it, and writes it as ingest takes it; null when it is none. Numbers (and texts of
 * digits) from 100,000,000 on are seconds, from 100,000,000,000 on milliseconds: each means the years 1973 to 5138,
 * so neither can be taken for the other, and a date such as 20261101 is no number of seconds.
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
