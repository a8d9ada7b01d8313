import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mostBefore, timeBefore, windowAt, windowsBetween } from '../../src/alerts/windows.ts';

const at = (text: string): number => Date.parse(`${text}Z`) * 1000;
const starts = (window: 'HOUR' | 'DAY' | 'WEEK', since: string, until: string): string[] =>
  windowsBetween(window, at(since), at(until)).map(({ start }) =>
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
  const day = windowAt('DAY', at('2026-11-22T14:05'));

  it('is four weeks of a day', () => {
    const { start, end, windows } = mostBefore('DAY', day);
    deepEqual([start, end, windows], [at('2026-10-25T00:00'), at('2026-11-22T00:00'), 28]);
  });

  it('begins with the first conversation', () => {
    deepEqual(timeBefore('DAY', day, at('2026-11-10T17:00')), {
      start: at('2026-11-10T00:00'),
      end: day.start,
      windows: 12,
    });
  });

  it('is too short to compare with in the first days', () => {
    equal(timeBefore('DAY', day, at('2026-11-16T00:00')), null);
    equal(timeBefore('DAY', day, Infinity), null);
    equal(timeBefore('DAY', day, at('2026-11-15T23:00'))?.windows, 7);
  });
});
