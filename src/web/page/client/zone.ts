/**
 * The time zone of the instance that the page shows. Buckets are shown by the clock of the zone: what the page computes
 * with is that clock's text with a Z, as if it were UTC. Covered by test/web/page/zone.test.ts.
 */

let format = formatOf('UTC');
let named = 'UTC';

/** Of the instance that is shown. */
export function showTimesIn(zone: string): void {
  if (zone === named) return;
  format = formatOf(zone);
  named = zone;
}

export function zoneName(): string {
  return named;
}

/** The clock at an instant, as `2026-11-21T09:30:00Z`; the text itself where it is no instant. */
export function clockAt(instant: string | number): string {
  const ms = typeof instant === 'number' ? instant : Date.parse(instant);
  return Number.isNaN(ms) ? String(instant) : `${format.format(ms).replace(' ', 'T')}Z`;
}

/** The clock at this moment, milliseconds as if it were UTC. */
export function clockNow(): number {
  return Date.parse(clockAt(Date.now()));
}

/** The clock of a bucket, whose offset stands behind it. */
export function clockOf(bucket: string): string {
  return bucket.replace(/[+-]\d{2}:\d{2}$/, 'Z');
}

const DAY_MS = 86_400_000;
const MIDNIGHT = 'T00:00:00.000Z';

export interface AskedRange {
  readonly 'dateRange.start'?: string;
  readonly 'dateRange.end'?: string;
}

/** Days are asked for as dates, which the service reads in the zone; the last 24 hours as instants. */
export function asked({ start, end }: { readonly start: string; readonly end: string }): AskedRange {
  if (start.endsWith(MIDNIGHT) && end.endsWith(MIDNIGHT))
    return { 'dateRange.start': start.slice(0, 10), 'dateRange.end': end.slice(0, 10) };
  const ends = Date.now() + (Date.parse(end) - clockNow());
  const hour = DAY_MS / 24;
  const until = Math.round(ends / (hour / 4)) * (hour / 4);
  return {
    'dateRange.start': new Date(until - DAY_MS).toISOString(),
    'dateRange.end': new Date(until).toISOString(),
  };
}

// Sweden writes dates as ISO 8601 does.
function formatOf(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
}
