import { bucketStart, formatBucket, type Granularity } from '../../src/domain/time.ts';

/** Where the bucket of an instant begins, microseconds, and what it is called. */
interface PlainBucket {
  readonly start: number;
  readonly name: string;
}

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 96 * QUARTER_MS;
const known = new Map<string, PlainBucket>();
const formats = new Map<string, Intl.DateTimeFormat>();

/** By the calendar that the system tells, quarter by quarter of an hour: the reference for buckets of time zones. */
export function plainBucket(granularity: Granularity, at: number, zone: string | null): PlainBucket {
  if (zone === null || granularity === 'ALL') {
    const start = bucketStart(granularity, at);
    return { start, name: granularity === 'ALL' ? '' : formatBucket(start) };
  }
  const quarter = Math.floor(at / 1000 / QUARTER_MS) * QUARTER_MS;
  const key = `${granularity} ${zone} ${quarter}`;
  const found = known.get(key) ?? named(startOf(granularity, quarter, zone), zone);
  known.set(key, found);
  return found;
}

/** The first quarter of an hour that belongs to the same bucket. */
function startOf(granularity: Granularity, quarter: number, zone: string): number {
  const own = bucketName(granularity, quarter, zone);
  let start = quarter;
  while (bucketName(granularity, start - QUARTER_MS, zone) === own) start -= QUARTER_MS;
  return start;
}

/** Different for different buckets. */
function bucketName(granularity: Granularity, ms: number, zone: string): string {
  const local = localTime(ms, zone);
  if (granularity === 'MONTH') return local.slice(0, 7);
  if (granularity === 'DAY') return local.slice(0, 10);
  // An hour that comes twice is two.
  if (granularity === 'HOUR') return `${local.slice(0, 13)} ${offsetOf(ms, zone)}`;
  const day = Date.parse(`${local.slice(0, 10)}T00:00Z`) / DAY_MS;
  return String(Math.floor((day + 3) / 7));
}

function named(ms: number, zone: string): PlainBucket {
  const offset = offsetOf(ms, zone);
  const sign = offset < 0 ? '-' : '+';
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return { start: ms * 1000, name: `${localTime(ms, zone)}${sign}${two(hours)}:${two(minutes)}` };
}

/** Minutes before UTC. */
function offsetOf(ms: number, zone: string): number {
  return (Date.parse(`${localTime(ms, zone)}Z`) - ms) / 60_000;
}

function localTime(ms: number, zone: string): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(zone, format);
  return format.format(ms).replace(' ', 'T');
}
