/**
 * Parses and formats instants, and computes UTC buckets. Instants are whole microseconds since 1970-01-01 UTC in a
 * double, exact until the year 2255.
 *
 * Test: test/domain/time.test.ts.
 */

export const GRANULARITIES = ['ALL', 'HOUR', 'DAY', 'WEEK', 'MONTH'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

const INSTANT = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?Z$/;

/**
 * Reads a UTC ISO-8601 instant ending in `Z`; seconds and fraction are optional, digits past the microsecond are cut
 * off. Returns microseconds, or null for malformed text and for dates that do not exist.
 */
export function parseInstant(text: string): number | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  date.setUTCHours(hour, minute, second);
  return date.getTime() * 1000 + Number((match[7] ?? '').slice(0, 6).padEnd(6, '0'));
}

/** A date as text: `YYYY-MM-DD`. */
export const DATE = /^\d{4}-\d{2}-\d{2}$/;
const WITH_OFFSET = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}[\d:.]*)(?:Z|([+-])(\d{2}):?(\d{2}))$/;

/**
 * Reads an instant as people write it: as `parseInstant`, or with an offset (`+01:00`, `-0530`) for `Z`, or a space for
 * `T`, or a date alone, which means its midnight in UTC. Returns microseconds, or null. A time without `Z` or offset
 * gives null, because its zone is unknown.
 */
export function parseTime(text: string): number | null {
  if (DATE.test(text)) return parseInstant(`${text}T00:00Z`);
  const match = WITH_OFFSET.exec(text);
  if (match === null) return null;
  const [, date, time, sign, hours = '0', minutes = '0'] = match;
  const at = parseInstant(`${date}T${time}Z`);
  if (at === null || Number(hours) > 23 || Number(minutes) > 59) return null;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000_000;
  return sign === '-' ? at + offset : at - offset;
}

/** Formats microseconds as `YYYY-MM-DDTHH:MM:SS.mmmZ`, with six digits where needed. */
export function formatInstant(micros: number): string {
  const ms = Math.floor(micros / 1000);
  const rest = micros - ms * 1000;
  const text = new Date(ms).toISOString();
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}

export const HOUR_MICROS = 3_600_000_000;
export const DAY_MICROS = 24 * HOUR_MICROS;
/** Weeks start on Monday; 1970-01-01 was a Thursday. */
const FIRST_MONDAY = 4 * DAY_MICROS;

/** Returns the start of the UTC bucket that holds an instant. `ALL` has one bucket, from -Infinity. Keeps ±Infinity. */
export function bucketStart(granularity: Granularity, at: number): number {
  if (!Number.isFinite(at)) return at;
  switch (granularity) {
    case 'HOUR':
      return Math.floor(at / HOUR_MICROS) * HOUR_MICROS;
    case 'DAY':
      return Math.floor(at / DAY_MICROS) * DAY_MICROS;
    case 'WEEK':
      return Math.floor((at - FIRST_MONDAY) / (7 * DAY_MICROS)) * 7 * DAY_MICROS + FIRST_MONDAY;
    case 'MONTH':
      return monthStart(at, 0);
    case 'ALL':
      return -Infinity;
    default:
      return granularity satisfies never;
  }
}

/** Returns the instant itself if a bucket starts there, else the start of the next bucket. */
export function nextBucketStart(granularity: Granularity, at: number): number {
  const start = bucketStart(granularity, at);
  if (start === at || granularity === 'ALL') return granularity === 'ALL' ? Infinity : at;
  switch (granularity) {
    case 'HOUR':
      return start + HOUR_MICROS;
    case 'DAY':
      return start + DAY_MICROS;
    case 'WEEK':
      return start + 7 * DAY_MICROS;
    case 'MONTH':
      return monthStart(at, 1);
    default:
      return granularity satisfies never;
  }
}

function monthStart(at: number, monthsLater: number): number {
  const date = new Date(Math.floor(at / 1000));
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), date.getUTCMonth() + monthsLater, 1);
  return start.getTime() * 1000;
}

/** Returns the label of a bucket in answers: `YYYY-MM-DDTHH:00:00Z`. */
export function formatBucket(start: number): string {
  return `${new Date(start / 1000).toISOString().slice(0, 13)}:00:00Z`;
}
