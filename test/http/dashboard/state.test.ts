import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bucketsOf,
  rangeOf,
  readState,
  START,
  writeState,
  type PageState,
} from '../../../src/http/dashboard/client/state.ts';

const ID = '0192f0a0-0000-7000-8000-00000000000a';

describe('the state of the page', () => {
  it('is in its URL, and reads back as it was written', () => {
    equal(writeState(START), '');
    deepEqual(readState(''), START);
    const state: PageState = {
      instance: ID,
      range: '7d',
      compare: 'year',
      view: 'topic',
      id: ID,
      session: ID,
      filters: { gap: ID, language: 'de' },
    };
    deepEqual(readState(writeState(state)), state);
  });

  it('leaves out what nobody knows', () => {
    const search = `?range=9y&compare=x&view=topic&id=../x&session=1&topic=x&language=%3Cb%3E&instance=${ID}&other=1`;
    deepEqual(readState(search), { ...START, instance: ID });
  });
});

describe('a range', () => {
  const noon = Date.UTC(2026, 10, 22, 12, 30);

  it('ends with the current hour or day', () => {
    deepEqual(rangeOf('24h', noon), {
      start: '2026-11-21T13:00:00.000Z',
      end: '2026-11-22T13:00:00.000Z',
      granularity: 'HOUR',
    });
    deepEqual(rangeOf('7d', noon), {
      start: '2026-11-16T00:00:00.000Z',
      end: '2026-11-23T00:00:00.000Z',
      granularity: 'DAY',
    });
    equal(rangeOf('365d', noon)?.granularity, 'WEEK');
    equal(rangeOf('all', noon), null);
  });

  it('has every bucket, in UTC, weeks from Monday', () => {
    deepEqual(bucketsOf('2026-11-21T22:30:00Z', '2026-11-22T01:00:00Z', 'HOUR'), [
      '2026-11-21T22:00:00Z',
      '2026-11-21T23:00:00Z',
      '2026-11-22T00:00:00Z',
    ]);
    deepEqual(bucketsOf('2026-02-27T00:00:00Z', '2026-03-02T00:00:00Z', 'DAY').length, 3);
    deepEqual(bucketsOf('2026-11-18T00:00:00Z', '2026-11-24T00:00:00Z', 'WEEK'), [
      '2026-11-16T00:00:00Z',
      '2026-11-23T00:00:00Z',
    ]);
    deepEqual(bucketsOf('2026-01-31T00:00:00Z', '2026-03-01T00:00:00Z', 'MONTH'), [
      '2026-01-01T00:00:00Z',
      '2026-02-01T00:00:00Z',
    ]);
    deepEqual(bucketsOf('2026-01-31T00:00:00Z', '2026-01-01T00:00:00Z', 'DAY'), []);
  });
});
