import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTime } from '../../../src/domain/time.ts';
import { periodsOf } from '../../../src/query/changes/changes-reader.ts';

const at = (text: string): number => parseTime(text) ?? Number.NaN;
const dayOf = (micros: number): string => new Date(micros / 1000).toISOString().slice(0, 10);

function before(start: string, end: string, compare: 'previous' | 'year', until = '2030-01-01'): string[] {
  const periods = periodsOf({ start: at(start), end: at(end) }, compare, at(until));
  return [periods.period.start, periods.period.end, periods.before.start, periods.before.end].map(dayOf);
}

describe('the period before', () => {
  it('is as long and has the same weekdays', () => {
    // Thursday to Thursday.
    deepEqual(before('2026-11-05', '2026-11-12', 'previous').slice(2), ['2026-10-29', '2026-11-05']);
    // One Saturday: the Saturday before.
    deepEqual(before('2026-11-07', '2026-11-08', 'previous').slice(2), ['2026-10-31', '2026-11-01']);
    // Thirty days take five weeks.
    deepEqual(before('2026-10-01', '2026-10-31', 'previous').slice(2), ['2026-08-27', '2026-09-26']);
    deepEqual(before('2026-11-05', '2026-11-12', 'year').slice(2), ['2025-11-06', '2025-11-13']);
    // 516 days take 74 weeks.
    deepEqual(before('2025-01-01', '2026-06-01', 'year').slice(2), ['2023-08-02', '2024-12-30']);
  });

  it('ends where as much of the week has passed, while the period goes on', () => {
    deepEqual(before('2026-11-02', '2026-11-09', 'previous', '2026-11-05'), [
      '2026-11-02',
      '2026-11-05',
      '2026-10-26',
      '2026-10-29',
    ]);
    // Nothing of it has begun.
    deepEqual(before('2026-11-09', '2026-11-16', 'previous', '2026-11-05').slice(0, 2), [
      '2026-11-09',
      '2026-11-09',
    ]);
  });
});
