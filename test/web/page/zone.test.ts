import { deepEqual, equal } from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { formatDay, formatInstant } from '../../../src/web/page/client/format.ts';
import {
  clockAt,
  clockNow,
  clockOf,
  showTimesIn,
  startOfDay,
  zoneName,
} from '../../../src/web/page/client/zone.ts';

describe('the clock of the page', () => {
  after(() => showTimesIn('UTC'));

  it('is that of the time zone of the instance, on both sides of a change of clocks', () => {
    showTimesIn('Europe/Berlin');
    equal(zoneName(), 'Europe/Berlin');
    equal(clockAt('2026-11-21T23:30:00.000Z'), '2026-11-22T00:30:00Z');
    equal(clockAt('2026-06-21T21:59:59.000Z'), '2026-06-21T23:59:59Z');
    equal(formatInstant('2026-11-21T23:30:00.000Z'), '22 Nov 2026, 00:30');
    equal(formatDay('2026-11-21T23:30:00.000Z'), '22 Nov 2026');
    showTimesIn('Asia/Kolkata');
    equal(formatInstant('2026-11-21T23:30:00.000Z'), '22 Nov 2026, 05:00');
    const ahead = clockNow() - Date.now();
    equal(Math.round(ahead / 60_000), 330);
  });

  it('is told of buckets by what stands before their offset', () => {
    deepEqual(
      ['2026-11-01T00:00:00+01:00', '2026-11-01T00:00:00-05:00', '2026-11-01T00:00:00Z'].map(clockOf),
      ['2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z'],
    );
    equal(clockAt('nothing'), 'nothing');
  });

  it('says when a day begins, also in the days of a change of clocks', () => {
    const starts = (zone: string, days: readonly string[]): readonly string[] => {
      showTimesIn(zone);
      return days.map((day) => startOfDay(day).slice(0, 16));
    };
    deepEqual(starts('UTC', ['2026-05-20']), ['2026-05-20T00:00']);
    deepEqual(starts('Europe/Berlin', ['2026-03-29', '2026-03-30', '2026-10-25', '2026-10-26']), [
      '2026-03-28T23:00',
      '2026-03-29T22:00',
      '2026-10-24T22:00',
      '2026-10-25T23:00',
    ]);
    deepEqual(starts('Pacific/Kiritimati', ['2026-05-20']), ['2026-05-19T10:00']);
    deepEqual(starts('America/Los_Angeles', ['2026-03-08', '2026-11-02']), [
      '2026-03-08T08:00',
      '2026-11-02T08:00',
    ]);
    // Clocks skip from midnight to one.
    deepEqual(starts('Africa/Cairo', ['2026-04-24']), ['2026-04-23T22:00']);
  });
});
