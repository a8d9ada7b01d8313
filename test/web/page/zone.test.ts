import { deepEqual, equal } from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { formatDay, formatInstant } from '../../../src/web/page/client/format.ts';
import { clockAt, clockNow, clockOf, showTimesIn, zoneName } from '../../../src/web/page/client/zone.ts';

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
});
