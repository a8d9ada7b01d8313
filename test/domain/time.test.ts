import { describe, it } from 'node:test';
import { equal } from 'node:assert/strict';
import fc from 'fast-check';
import {
  bucketStart,
  formatBucket,
  formatInstant,
  nextBucketStart,
  parseInstant,
  parseTime,
} from '../../src/domain/time.ts';

describe('parseInstant', () => {
  const accepted: [text: string, micros: number][] = [
    ['1970-01-01T00:00Z', 0],
    ['1970-01-01T00:00:01Z', 1e6],
    ['1970-01-01T00:00:00.5Z', 500_000],
    ['1970-01-01T00:00:00.000001Z', 1],
    ['1970-01-01T00:00:00.0000019Z', 1],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['2024-02-29T12:00:00Z', Date.UTC(2024, 1, 29, 12) * 1000],
    ['0001-01-01T00:00:00Z', -62_135_596_800e6],
  ];
  for (const [text, micros] of accepted) it(`reads ${text}`, () => equal(parseInstant(text), micros));

  const refused = [
    '',
    '2026-01-01',
    '2026-01-01T00:00',
    '2026-01-01T00:00:00+00:00',
    '2026-01-01t00:00z',
    '2026-02-29T00:00Z',
    '2026-04-31T00:00Z',
    '2026-00-10T00:00Z',
    '2026-13-01T00:00Z',
    '2026-01-00T00:00Z',
    '2026-01-01T24:00Z',
    '2026-01-01T00:60Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00.Z',
    ' 2026-01-01T00:00Z',
    '2026-01-01T00:00Z ',
    '26-01-01T00:00Z',
    '2026-1-1T00:00Z',
  ];
  for (const text of refused) it(`refuses ${JSON.stringify(text)}`, () => equal(parseInstant(text), null));

  it('reads back what formatInstant writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_000_000_000_000_000, max: Number.MAX_SAFE_INTEGER }), (micros) => {
        equal(parseInstant(formatInstant(micros)), micros);
      }),
    );
  });
});

describe('parseTime', () => {
  const noon = Date.UTC(2026, 10, 1, 12) * 1000;
  const accepted: [text: string, micros: number][] = [
    ['2026-11-01T12:00:00Z', noon],
    ['2026-11-01', noon - 43_200e6],
    ['2024-02-29', Date.UTC(2024, 1, 29) * 1000],
    ['2026-11-01T13:00+01:00', noon],
    ['2026-11-01T06:30:00.000001-05:30', noon + 1],
    ['2026-11-01T13:00:00+0100', noon],
    ['2026-11-01 12:00:00Z', noon],
    ['2026-11-01 12:00:00.5+00:00', noon + 500_000],
    ['2026-11-01T00:00-00:00', noon - 43_200e6],
    ['2026-10-31T23:00-13:00', noon],
  ];
  for (const [text, micros] of accepted) it(`reads ${text}`, () => equal(parseTime(text), micros));

  const refused = [
    '',
    '2026-02-29',
    '2026-11',
    '20261101',
    '2026-11-01T12:00:00',
    '2026-11-01 12:00',
    '2026-11-01T12:00:00+24:00',
    '2026-11-01T12:00:00+01:60',
    '2026-11-01T12:00:00+1:00',
    '2026-11-01T12:00:00Z+01:00',
    '2026-11-01T12:00:00 +01:00',
    '2026-11-01T25:00+01:00',
    '2026-11-01Z',
    '01.11.2026',
  ];
  for (const text of refused) it(`refuses ${JSON.stringify(text)}`, () => equal(parseTime(text), null));
});

describe('buckets', () => {
  it('start on Monday for weeks, on the first for months', () => {
    const sunday = Date.UTC(2026, 10, 22, 23, 59) * 1000;
    equal(formatBucket(bucketStart('WEEK', sunday)), '2026-11-16T00:00:00Z');
    equal(formatBucket(bucketStart('MONTH', sunday)), '2026-11-01T00:00:00Z');
    equal(formatBucket(nextBucketStart('MONTH', Date.UTC(2026, 11, 5) * 1000)), '2027-01-01T00:00:00Z');
  });

  it('hold the instants between a start and the next', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -9e15, max: 9e15 }),
        fc.constantFrom('HOUR' as const, 'DAY' as const, 'WEEK' as const, 'MONTH' as const),
        (micros, granularity) => {
          const start = bucketStart(granularity, micros);
          equal(start <= micros, true);
          equal(bucketStart(granularity, start), start);
          equal(nextBucketStart(granularity, start), start);
          const next = nextBucketStart(granularity, start + 1);
          equal(next > micros, true);
          equal(bucketStart(granularity, next - 1), start);
        },
      ),
    );
  });
});
