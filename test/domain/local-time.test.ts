import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatLocalBucket,
  hasWholeHours,
  isTimeZone,
  localBuckets,
  startOfDate,
  type LocalBucket,
} from '../../src/domain/local-time.ts';

const HOUR = 3_600_000_000;
const micros = (text: string): number => Date.parse(text) * 1000;
const hoursOf = (buckets: readonly LocalBucket[] | null): number[] =>
  (buckets ?? []).map(({ start, end }) => (end - start) / HOUR);

/** Zones with a change at midnight, half hours, a change of half an hour, and a day that never was. */
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'UTC',
];

describe('local time', () => {
  it('has days of 23 and 25 hours where clocks change', () => {
    const spring = { start: micros('2026-03-27T23:00Z'), end: micros('2026-03-29T22:00Z') };
    deepEqual(hoursOf(localBuckets('DAY', 'Europe/Berlin', spring, 10)), [24, 23]);
    const autumn = { start: micros('2026-10-24T22:00Z'), end: micros('2026-10-26T23:00Z') };
    deepEqual(hoursOf(localBuckets('DAY', 'Europe/Berlin', autumn, 10)), [25, 24]);
  });

  it('begins a day where it first begins, if clocks are put back at midnight', () => {
    const around = { start: micros('2025-11-01T12:00Z'), end: micros('2025-11-04T12:00Z') };
    const starts = (localBuckets('DAY', 'America/Havana', around, 10) ?? []).map(({ bucket }) =>
      new Date(bucket / 1000).toISOString(),
    );
    deepEqual(starts, [
      '2025-11-01T04:00:00.000Z',
      '2025-11-02T04:00:00.000Z',
      '2025-11-03T05:00:00.000Z',
      '2025-11-04T05:00:00.000Z',
    ]);
  });

  it('puts each instant into the bucket whose calendar day the system tells, with no gap and no overlap', () => {
    for (const zone of ZONES) {
      const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
      for (const [start, end] of [
        ['2011-12-20T07:11Z', '2012-01-05T01:00Z'],
        ['2026-03-01T00:00Z', '2026-04-10T13:00Z'],
        ['2026-09-25T05:00Z', '2026-11-10T00:30Z'],
      ] as const) {
        const range = { start: micros(start), end: micros(end) };
        const buckets = localBuckets('DAY', zone, range, 100) ?? [];
        equal(buckets[0]?.start, range.start);
        equal(buckets.at(-1)?.end, range.end);
        for (const [index, bucket] of buckets.entries()) {
          if (index > 0) equal(bucket.start, buckets[index - 1]?.end);
          const name = day.format(bucket.start / 1000);
          equal(day.format((bucket.end - HOUR / 60) / 1000), name, `${zone} ${name}`);
          if (index > 0) equal(day.format(bucket.start / 1000 - 60_000) < name, true, `${zone} ${name}`);
          equal(formatLocalBucket(bucket.bucket, zone).slice(0, 10), name);
        }
      }
    }
  });

  it('has weeks from Monday, months, and hours of zones with half hours', () => {
    const range = { start: micros('2026-01-30T12:00Z'), end: micros('2026-04-03T12:00Z') };
    const names = (granularity: 'WEEK' | 'MONTH' | 'HOUR', zone: string, to = range.end): string[] =>
      (localBuckets(granularity, zone, { ...range, end: to }, 10_000) ?? []).map(({ bucket }) =>
        formatLocalBucket(bucket, zone),
      );
    deepEqual(names('MONTH', 'Europe/Berlin'), [
      '2026-01-01T00:00:00+01:00',
      '2026-02-01T00:00:00+01:00',
      '2026-03-01T00:00:00+01:00',
      '2026-04-01T00:00:00+02:00',
    ]);
    deepEqual(names('WEEK', 'Europe/Berlin').slice(-2), [
      '2026-03-23T00:00:00+01:00',
      '2026-03-30T00:00:00+02:00',
    ]);
    deepEqual(names('HOUR', 'Asia/Kolkata', micros('2026-01-30T14:00Z')), [
      '2026-01-30T17:00:00+05:30',
      '2026-01-30T18:00:00+05:30',
      '2026-01-30T19:00:00+05:30',
    ]);
  });

  it('reads a date as its first instant there, and refuses what is none', () => {
    equal(startOfDate('2026-11-01', 'Europe/Berlin'), micros('2026-10-31T23:00Z'));
    equal(startOfDate('2026-02-30', 'Europe/Berlin'), null);
    equal(startOfDate('2026-11-01T00:00Z', 'Europe/Berlin'), null);
    deepEqual(['Europe/Berlin', 'UTC', 'Mars/Olympus', ''].map(isTimeZone), [true, true, false, false]);
  });

  it('knows whether hours begin with those of UTC, in a month whose end differs, too', () => {
    const april = { start: micros('2026-04-10T00:00Z'), end: micros('2026-04-12T00:00Z') };
    equal(hasWholeHours('Australia/Lord_Howe', april), false);
    equal(hasWholeHours('Europe/Berlin', april), true);
    equal(hasWholeHours('Asia/Kathmandu', april), false);
    const twice = { start: micros('2026-04-04T15:10Z'), end: micros('2026-04-04T18:00Z') };
    const buckets = localBuckets('HOUR', 'Australia/Lord_Howe', twice, 10) ?? [];
    equal(
      buckets.every(({ start, end }) => start < end),
      true,
    );
  });

  it('gives up on more buckets than it may', () => {
    const range = { start: micros('2026-01-01T00:00Z'), end: micros('2026-03-01T00:00Z') };
    equal(localBuckets('DAY', 'Europe/Berlin', range, 59), null);
    equal(localBuckets('DAY', 'Europe/Berlin', range, 60)?.length, 60);
  });
});
