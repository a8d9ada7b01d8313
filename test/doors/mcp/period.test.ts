import { deepEqual, equal, throws } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { periodBefore, periodText, readPeriod } from '../../../src/doors/mcp/period.ts';

/** A Sunday. */
const NOW = Date.parse('2026-11-22T17:23:45.678Z');

describe('a period', () => {
  it('is a span that ends with today or this hour, days, instants, or all time', () => {
    const rows: readonly (readonly [
      text: string,
      start: string | null,
      end: string | null,
      buckets: string,
    ])[] = [
      ['7d', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z', 'DAY'],
      [' 24h ', '2026-11-21T18:00:00.000Z', '2026-11-22T18:00:00.000Z', 'HOUR'],
      ['12w', '2026-08-31T00:00:00.000Z', '2026-11-23T00:00:00.000Z', 'WEEK'],
      ['730d', '2024-11-23T00:00:00.000Z', '2026-11-23T00:00:00.000Z', 'MONTH'],
      ['2026-11-03', '2026-11-03T00:00:00.000Z', '2026-11-04T00:00:00.000Z', 'HOUR'],
      ['2026-11-01/2026-11-07', '2026-11-01T00:00:00.000Z', '2026-11-08T00:00:00.000Z', 'DAY'],
      ['2026-11-01T06:00Z/2026-11-01T12:30Z', '2026-11-01T06:00:00.000Z', '2026-11-01T12:30:00.000Z', 'HOUR'],
      ['2026-11-20/', '2026-11-20T00:00:00.000Z', '2026-11-22T18:00:00.000Z', 'DAY'],
      ['all', null, null, 'MONTH'],
    ];
    for (const [text, start, end, buckets] of rows)
      deepEqual(readPeriod(text, NOW), { start, end, buckets }, text);
  });

  it('is refused with what it may be', () => {
    for (const text of [
      '',
      '7',
      'd',
      '0d',
      '7 days',
      'yesterday',
      '2026-02-30',
      '/2026-11-01',
      'a/b/c',
      '-7d',
      '2026-11-01T09:00/',
    ])
      throws(() => readPeriod(text, NOW), {
        code: 'VALIDATION_ERROR',
        message: /The argument period must be like 24h/,
      });
    throws(() => readPeriod('2026-11-02/2026-11-01T00:00Z', NOW), /must begin before it ends/);
    throws(() => readPeriod('99999w', NOW), { code: 'VALIDATION_ERROR' });
  });

  it('is compared with whole weeks earlier, as far as it is over', () => {
    deepEqual(periodBefore(readPeriod('7d', NOW), NOW), {
      start: '2026-11-09T00:00:00.000Z',
      end: '2026-11-15T18:00:00.000Z',
      buckets: 'DAY',
    });
    deepEqual(periodBefore(readPeriod('2026-11-01/2026-11-10', NOW), NOW), {
      start: '2026-10-18T00:00:00.000Z',
      end: '2026-10-28T00:00:00.000Z',
      buckets: 'DAY',
    });
    equal(periodBefore(readPeriod('all', NOW), NOW), null);
    equal(periodBefore(readPeriod('2027-01-01', NOW), NOW), null);
  });

  it('is told without what is clear', () => {
    equal(periodText(readPeriod('7d', NOW)), '2026-11-16 to 2026-11-23 (UTC, end exclusive)');
    equal(periodText(readPeriod('24h', NOW)), '2026-11-21T18:00Z to 2026-11-22T18:00Z (UTC, end exclusive)');
    equal(periodText(readPeriod('all', NOW)), 'all time');
  });
});
