import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OrderSearch, readWritten, writtenTime } from '../../../src/doors/import/written-dates.ts';

const found = (texts: readonly string[], isSorted = false): unknown => {
  const search = new OrderSearch(isSorted);
  for (const text of texts) {
    const written = readWritten(text);
    if (written !== null) search.add(written);
  }
  return search.found.order ?? search.found.example;
};

describe('written dates', () => {
  it('are instants where they can mean one thing only', () => {
    const open = { order: null };
    equal(writtenTime('1.11.2026 9:30', open), '2026-11-01T09:30:00Z');
    equal(writtenTime('2026/11/1', open), '2026-11-01T00:00:00Z');
    equal(writtenTime('11/1/2026', open), '11/1/2026');
    equal(writtenTime('11/1/2026 9:30 PM', { order: 'month-first' }), '2026-11-01T21:30:00Z');
    equal(writtenTime('11/1/26', { order: 'day-first' }), '2026-01-11T00:00:00Z');
    equal(writtenTime('13/13/2026', { order: 'day-first' }), '13/13/2026');
    for (const text of ['1.2', '1/2/345', '10000/1/1', '1/2/2026 24:00', '1/2/2026 13:00 pm', 'x'.repeat(99)])
      equal(writtenTime(text, { order: 'day-first' }), text);
  });

  it('are in the order that one of them decides', () => {
    equal(found(['1/2/2026', '13/2/2026']), 'day-first');
    equal(found(['1/2/2026', '2/13/2026']), 'month-first');
    equal(found(['1/2/2026', '3/2/2026']), '1/2/2026');
    equal(found(['2/2/2026', '1.2.2026']), null);
    equal(found(['9/11/2026', '1/12/2026'], true), 'day-first');
    equal(found(['9/11/2026', '1/12/2026'], false), '9/11/2026');
  });

  it('are in the time zone that is named, at its summer time, too', () => {
    const berlin = { order: 'day-first', zone: 'Europe/Berlin' } as const;
    deepEqual(
      ['1/7/2026 12:00', '1/12/2026 12:00', '29/3/2026 2:30'].map((text) => writtenTime(text, berlin)),
      ['2026-07-01T10:00:00Z', '2026-12-01T11:00:00Z', '2026-03-29T01:30:00Z'],
    );
  });
});
