import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addressOf,
  asDays,
  bucketsFor,
  bucketsOf,
  changed,
  comparisonsFor,
  earlierOf,
  rangeOf,
  readState,
  START,
  writeState,
  type PageState,
  type RangeName,
} from '../../../src/web/page/client/state.ts';

const ID = '0192f0a0-0000-7000-8000-00000000000a';

describe('the state of the page', () => {
  it('is in its URL, and reads back as it was written', () => {
    equal(writeState(START), '');
    deepEqual(readState(''), START);
    const state: PageState = {
      instance: ID,
      range: '7d',
      compare: 'year',
      buckets: 'hour',
      view: 'topic',
      id: ID,
      order: 'worst',
      session: ID,
      filters: {
        mood: 'dissatisfied',
        cluster: ID,
        gap: ID,
        user: ID,
        language: 'de',
        outcome: 'gave_up',
        text: '100 % & more',
      },
      segment: [
        ['plan', 'pro'],
        ['app version', '3.2 & later'],
        ['plan', 'team'],
      ],
      signals: 'given',
      attribute: '',
      value: '',
      against: '',
      at: 'check',
    };
    deepEqual(readState(writeState(state)), state);
    const pair = { ...START, attribute: 'app version', value: '3.2 & later', against: '3.1' };
    deepEqual(readState(writeState(pair)), pair);
    // They are the overview's alone, and a link shows no attributes.
    deepEqual(readState(`${writeState(pair)}&view=users`), { ...START, view: 'users' });
    deepEqual(changed(pair, { view: 'users' }), { ...START, view: 'users' });
    equal(addressOf(pair), '?view=overview');
    // The page of an entity has a table of the attribute.
    const topic = { ...START, view: 'topic', id: ID, attribute: 'app version' } as const;
    deepEqual(changed(pair, { view: 'topic', id: ID }), topic);
    deepEqual(readState(writeState(topic)), topic);
  });

  it('leaves out what nobody knows', () => {
    const search = `?buckets=second&text=%20&range=9y&compare=x&view=topic&id=../x&session=1&topic=x&language=%3Cb%3E&outcome=done&signals=GIVEN&mood=x&order=y&instance=${ID}&other=1&segment.=x&segment.plan=%20`;
    deepEqual(readState(search), { ...START, instance: ID });
  });
});

describe('filters', () => {
  it('are those that a view has: another view drops the rest', () => {
    const filters = { topic: ID, signal: ID, text: 'refund' };
    const state = changed({ ...START, view: 'conversations' }, { filters });
    deepEqual(state.filters, filters);
    deepEqual(changed(state, { view: 'users' }).filters, { topic: ID });
    deepEqual(changed(state, { view: 'overview' }).filters, {});
    equal(changed({ ...state, order: 'worst' }, { view: 'overview' }).order, 'usual');
    deepEqual(
      changed({ ...state, order: 'worst' }, { view: 'users', filters: { mood: 'satisfied' } }).order,
      'worst',
    );
    // The page of a topic chooses by its own.
    deepEqual(changed(state, { view: 'topic', id: ID }).filters, { signal: ID, text: 'refund' });
    deepEqual(readState(`?view=overview&topic=${ID}`).filters, {});
  });

  it('are off when they are empty', () => {
    const state = changed({ ...START, view: 'conversations' }, { filters: { text: '', language: 'de' } });
    equal(writeState(state), '?view=conversations&language=de');
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

  it('may be a week from Monday to Sunday, a month, or any days, the last included', () => {
    const days = (name: RangeName): readonly string[] => {
      const { start, end } = rangeOf(name, noon)!;
      return [start.slice(0, 10), end.slice(0, 10)];
    };
    // A Sunday: the week ends with it.
    deepEqual(days('this-week'), ['2026-11-16', '2026-11-23']);
    deepEqual(days('last-week'), ['2026-11-09', '2026-11-16']);
    deepEqual(days('this-month'), ['2026-11-01', '2026-11-23']);
    deepEqual(days('last-month'), ['2026-10-01', '2026-11-01']);
    deepEqual(days('2026-11-01/2026-11-07'), ['2026-11-01', '2026-11-08']);
    equal(rangeOf('2026-11-07/2026-11-07', noon)?.granularity, 'HOUR');
    equal(rangeOf('2026-01-01/2026-11-07', noon)?.granularity, 'WEEK');
    deepEqual(asDays('last-week', noon), ['2026-11-09', '2026-11-15']);
    for (const range of [
      '2026-11-08/2026-11-07',
      '2026-02-30/2026-03-01',
      '2026-13-01/2026-13-02',
      'last-year',
    ])
      equal(readState(`?range=${range}`).range, START.range, range);
    for (const range of ['2026-11-01/2026-11-07', 'last-month'])
      equal(readState(`?range=${encodeURIComponent(range)}`).range, range);
  });

  it('is compared with whole weeks earlier, which are the period before only where they end as it begins', () => {
    const names = (range: RangeName): readonly string[] =>
      (['previous', 'year'] as const).map((compare) => earlierOf(range, compare, noon).name);
    deepEqual(names('28d'), ['period before', 'year before']);
    deepEqual(names('last-week'), ['period before', 'year before']);
    deepEqual(names('24h'), ['week before', 'year before']);
    deepEqual(names('2026-11-10/2026-11-20'), ['2 weeks before', 'year before']);
    deepEqual(names('last-month'), ['5 weeks before', 'year before']);
    equal(earlierOf('2026-11-10/2026-11-20', 'previous', noon).weeks, 2);
    equal(earlierOf('365d', 'year', noon).weeks, 53);
  });

  it('is shown in buckets that fit it', () => {
    deepEqual(bucketsFor('24h'), ['auto', 'hour', 'day']);
    deepEqual(bucketsFor('28d'), ['auto', 'hour', 'day', 'week']);
    deepEqual(bucketsFor('last-month'), ['auto', 'hour', 'day', 'week', 'month']);
    equal(changed({ ...START, range: '365d', buckets: 'month' }, { range: 'last-week' }).buckets, 'auto');
    deepEqual(bucketsFor('365d'), ['auto', 'day', 'week', 'month']);
    deepEqual(bucketsFor('all'), ['auto', 'week', 'month']);
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

  it('compares the whole history with nothing', () => {
    deepEqual(comparisonsFor('all'), ['none']);
    deepEqual(comparisonsFor('24h'), ['previous', 'year', 'none']);
  });
});
