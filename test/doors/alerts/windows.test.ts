import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plainBucket } from '../../support/plain-buckets.ts';
import { localBucketAt } from '../../../src/domain/local-time.ts';
import { timeBefore, windowsBetween } from '../../../src/doors/alerts/windows.ts';

const at = (text: string): number => Date.parse(`${text}Z`) * 1000;
const starts = (window: 'HOUR' | 'DAY' | 'WEEK', since: string, until: string): string[] =>
  windowsBetween(window, 'UTC', at(since), at(until)).map(({ start }) =>
    new Date(start / 1000).toISOString().slice(0, 16),
  );

describe('the windows of an evaluation', () => {
  it('are the one that is open, and the one before it for ten minutes', () => {
    deepEqual(starts('DAY', '2026-11-22T14:00', '2026-11-22T14:05'), ['2026-11-22T00:00']);
    deepEqual(starts('DAY', '2026-11-22T00:09', '2026-11-22T00:09:01'), [
      '2026-11-21T00:00',
      '2026-11-22T00:00',
    ]);
    deepEqual(starts('DAY', '2026-11-22T00:10', '2026-11-22T00:11'), ['2026-11-22T00:00']);
  });

  it('are all that were open since the last one', () => {
    deepEqual(starts('HOUR', '2026-11-22T11:30', '2026-11-22T14:05'), [
      '2026-11-22T11:00',
      '2026-11-22T12:00',
      '2026-11-22T13:00',
      '2026-11-22T14:00',
    ]);
  });

  it('are few, however long nobody looked', () => {
    equal(starts('HOUR', '1970-01-01T00:00', '2026-11-22T14:05').length, 49);
    deepEqual(starts('WEEK', '1970-01-01T00:00', '2026-11-22T14:05'), [
      '2026-11-02T00:00',
      '2026-11-09T00:00',
      '2026-11-16T00:00',
    ]);
  });
});

describe('the time before a window', () => {
  const day = localBucketAt('DAY', 'UTC', at('2026-11-22T14:05'));

  it('is four weeks of a day', () => {
    const most = timeBefore('DAY', 'UTC', day);
    deepEqual(most, { start: at('2026-10-25T00:00'), end: at('2026-11-22T00:00'), windows: 28 });
  });

  it('begins with the first conversation', () => {
    deepEqual(timeBefore('DAY', 'UTC', day, at('2026-11-10T17:00')), {
      start: at('2026-11-10T00:00'),
      end: day.start,
      windows: 12,
    });
  });

  it('is too short to compare with in the first days', () => {
    equal(timeBefore('DAY', 'UTC', day, at('2026-11-16T00:00')), null);
    equal(timeBefore('DAY', 'UTC', day, Infinity), null);
    equal(timeBefore('DAY', 'UTC', day, at('2026-11-15T23:00'))?.windows, 7);
  });
});

describe('windows of a time zone', () => {
  const HOUR = 3_600_000_000;
  const CHANGES = [
    ['Europe/Berlin', '2026-03-29T01:00'],
    ['Europe/Berlin', '2026-10-25T01:00'],
    ['America/Havana', '2026-11-01T05:00'],
    ['Australia/Lord_Howe', '2026-10-03T15:30'],
    ['Australia/Lord_Howe', '2026-04-04T15:00'],
    ['Asia/Kolkata', '2026-11-22T14:00'],
    ['UTC', '2026-11-22T14:00'],
  ] as const;

  it('are those that the calendar of the system tells, while clocks change', () => {
    for (const [zone, change] of CHANGES) {
      for (const window of ['HOUR', 'DAY', 'WEEK'] as const) {
        for (let quarter = -150; quarter <= 150; quarter += 1) {
          const instant = at(change) + (quarter * HOUR) / 4;
          const { start, end } = localBucketAt(window, zone, instant);
          equal(
            start,
            plainBucket(window, instant, zone === 'UTC' ? null : zone).start,
            `${window} ${zone} ${quarter}`,
          );
          equal(localBucketAt(window, zone, end).start, end);
          equal(localBucketAt(window, zone, end - 1).start, start);
        }
      }
    }
  });

  it('follow one another without a gap, however long the day is', () => {
    const days = windowsBetween('DAY', 'Europe/Berlin', at('2026-10-23T12:00'), at('2026-10-26T12:00'));
    deepEqual(
      days.map(({ start, end }) => (end - start) / HOUR),
      [24, 24, 25, 24],
    );
    ok(days.every(({ start }, index) => index === 0 || start === days[index - 1]?.end));
  });

  it('are compared with as many of the calendar', () => {
    const monday = localBucketAt('DAY', 'Europe/Berlin', at('2026-10-26T12:00'));
    const most = timeBefore('DAY', 'Europe/Berlin', monday);
    deepEqual(most, { start: at('2026-09-27T22:00'), end: at('2026-10-25T23:00'), windows: 28 });
    deepEqual(timeBefore('DAY', 'Europe/Berlin', monday, at('2026-10-18T22:00')), {
      start: at('2026-10-18T22:00'),
      end: monday.start,
      windows: 7,
    });
    equal(timeBefore('DAY', 'Europe/Berlin', monday, at('2026-10-19T22:00')), null);
  });
});
