/**
 * The time zone of the page's instance. The page computes with local time written as if it were UTC, with a Z.
 *
 * Test: test/web/page/zone.test.ts.
 */

let format = formatOf('UTC');
let named = 'UTC';

/** Sets the zone of the shown instance. */
export function showTimesIn(zone: string): void {
  if (zone === named) return;
  format = formatOf(zone);
  named = zone;
}

export function zoneName(): string {
  return named;
}

/** Returns the local time of an instant as `2026-11-21T09:30:00Z`; returns other text unchanged. */
export function clockAt(instant: string | number): string {
  const ms = typeof instant === 'number' ? instant : Date.parse(instant);
  return Number.isNaN(ms) ? String(instant) : `${format.format(ms).replace(' ', 'T')}Z`;
}

/** Returns the instant at which a day (`2026-11-21`) begins there, or the first after it where clocks skip midnight. */
export function startOfDay(day: string): string {
  const midnight = Date.parse(day);
  const offsetAt = (ms: number): number => Date.parse(clockAt(ms)) - ms;
  // The second step corrects for clocks that change in between.
  const start = midnight - offsetAt(midnight - offsetAt(midnight));
  return new Date(start).toISOString();
}

/** Returns the current local time, milliseconds as if it were UTC. */
export function clockNow(): number {
  return Date.parse(clockAt(Date.now()));
}

/** Returns the local time of a bucket, whose text ends in an offset. */
export function clockOf(bucket: string): string {
  return bucket.replace(/[+-]\d{2}:\d{2}$/, 'Z');
}

const DAY_MS = 86_400_000;
const MIDNIGHT = 'T00:00:00.000Z';

export interface AskedRange {
  readonly 'dateRange.start'?: string;
  readonly 'dateRange.end'?: string;
}

/** Sends days as dates, which the service reads in its zone, and the last 24 hours as instants. */
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

// Swedish dates have the format of ISO 8601.
function formatOf(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
}
