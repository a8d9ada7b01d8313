import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  changeOf,
  counted,
  excessOf,
  languageName,
  beganLate,
  nameFrom,
  standstillOf,
  formatCount,
  formatInstant,
  formatLift,
  formatNet,
  formatPoints,
  formatSeconds,
  formatShare,
  formatSpan,
  formatTicks,
  tellingOf,
  tellingWords,
  tooFew,
} from '../../../src/web/page/client/format.ts';

describe('what the page writes', () => {
  it('says where a change rests on too few conversations', () => {
    deepEqual(
      [
        { now: 2, before: 19 },
        { now: 40, before: 1 },
        { now: 3, before: 3 },
        { now: 20, before: 400 },
      ].map(tooFew),
      [
        '2 conversations: too few to tell',
        '1 conversation before: too few to tell',
        '3 conversations: too few to tell',
        '',
      ],
    );
  });

  it('says how much a rate of a number of conversations tells', () => {
    deepEqual([undefined, 0, 19, 20, 99, 100].map(tellingOf), [
      'none',
      'none',
      'none',
      'little',
      'little',
      'enough',
    ]);
    deepEqual([[100], [40, 120], [2, 40]].map(tellingWords), [
      '',
      'Pale rates are of fewer than 100 conversations, and may differ by chance.',
      'Rates of fewer than 20 conversations are left out: too few to tell. ' +
        'Pale rates are of fewer than 100 conversations, and may differ by chance.',
    ]);
  });

  it('counts no dissatisfaction beyond the average where it says nothing', () => {
    const excesses = [
      [8, 4.04],
      [8, -2.6],
      [4, 3.9],
      [60, 1.4],
    ].map(([sessions, excessDissatisfied]) => excessOf({ sessions, excessDissatisfied }));
    deepEqual([...excesses, excessOf({})], [4, -3, 0, 0, 0]);
  });

  it('are numbers that people read', () => {
    deepEqual(
      [formatCount(12_345), formatCount(0), formatCount(null), formatCount(undefined)],
      ['12,345', '0', '–', '–'],
    );
    deepEqual([0, 0.0004, 0.034, 0.5, 1].map(formatShare), ['0 %', '< 0.1 %', '3.4 %', '50 %', '100 %']);
    deepEqual([12.4, 3.14, 0.01, -3.26, -120, null].map(formatNet), [
      '+12',
      '+3.1',
      '0',
      '−3.3',
      '−120',
      '–',
    ]);
    deepEqual([0.004, 0.42, 9.96, 99, 100, 5970, 400_000].map(formatSeconds), [
      '0.1 s',
      '0.4 s',
      '10 s',
      '99 s',
      '2 min',
      '2 h',
      '5 days',
    ]);
  });

  it('are in the singular where there is one', () => {
    deepEqual(
      [0, 1, 2].map((count) => counted(count, 'day')),
      ['0 days', '1 day', '2 days'],
    );
    deepEqual([1, -1, -0.96, 1.1, 0].map(formatPoints), [
      '+1 point',
      '−1 point',
      '−1 point',
      '+1.1 points',
      '0 points',
    ]);
  });

  it('are changes against the period before', () => {
    deepEqual(changeOf(120, 100), { text: '+20 %', direction: 1 });
    deepEqual(changeOf(99, 100), { text: '−1 %', direction: -1 });
    deepEqual(changeOf(100, 100), { text: '0 %', direction: 0 });
    deepEqual(changeOf(5, 0), { text: 'new', direction: 1 });
    deepEqual(changeOf(49, 1), { text: '+48', direction: 1 });
    deepEqual(changeOf(93, 5), { text: '+88', direction: 1 });
    deepEqual(changeOf(45, 5), { text: '+40', direction: 1 });
    deepEqual(changeOf(190, 20), { text: '+850 %', direction: 1 });
    deepEqual(changeOf(2, 10), { text: '−8', direction: -1 });
    deepEqual(changeOf(3, 3), { text: '0 %', direction: 0 });
    equal(changeOf(0, 0), null);
  });

  it('are times in UTC, and names of languages', () => {
    equal(formatInstant('2026-11-21T09:30:59.999Z'), '21 Nov 2026, 09:30');
    equal(formatInstant('soon'), 'soon');
    deepEqual([languageName('de'), languageName(null)], ['German', 'Unknown']);
  });

  it('are multiples of the average, of three conversations or more', () => {
    deepEqual([formatLift(28.31, 2), formatLift(28.31, 3), formatLift(null, 9)], ['–', '28.3 ×', '–']);
  });

  it('are times on the axis of a day, and else days', () => {
    const day = ['2026-11-28T14:00:00Z', '2026-11-29T01:00:00Z', '2026-11-29T13:00:00Z'];
    deepEqual(formatTicks(day), ['14:00', '01:00', '13:00']);
    deepEqual(formatTicks([day[0]!, '2026-11-29T14:00:00Z']), ['28 Nov 2026', '29 Nov 2026']);
    deepEqual(formatTicks([day[0]!]), ['28 Nov 2026']);
    deepEqual(formatTicks([]), []);
  });

  it('name the last day of a span, which ends with it or within it', () => {
    const start = '2026-11-16T00:00:00.000Z';
    equal(formatSpan({ start, end: '2026-11-23T00:00:00.000Z' }), '16 Nov 2026 to 22 Nov 2026');
    equal(formatSpan({ start, end: '2026-11-22T10:00:00.000Z' }), '16 Nov 2026 to 22 Nov 2026');
    equal(formatSpan({ start, end: '2026-11-17T00:00:00.000Z' }), '16 Nov 2026');
  });

  it('makes a name of a request: its beginning, whole words, no numbers of orders', () => {
    equal(nameFrom('  Where is my\norder 48866?! '), 'Where is my order');
    equal(nameFrom('Can I get 2 of them?'), 'Can I get 2 of them');
    equal(nameFrom('注文をキャンセルしたいです。'), '注文をキャンセルしたいです');
    const long = nameFrom(`I would like to know ${'very '.repeat(20)}much`);
    equal(long.length <= 60 && long.endsWith('very'), true, long);
    equal(nameFrom('x'.repeat(100)).length, 60);
  });
});

describe('what is said beside the numbers', () => {
  it('names the day on which the period before begins to have messages, if that is late', () => {
    const before = { start: '2026-10-01T00:00:00Z', end: '2026-10-29T00:00:00Z' };
    equal(beganLate(before, '2026-10-02T00:00:00Z'), null);
    equal(beganLate(before, '2026-10-15T00:00:00Z'), '2026-10-15T00:00:00Z');
    equal(beganLate(before, undefined), null);
    const day = { start: '2026-10-01T00:00:00Z', end: '2026-10-02T00:00:00Z' };
    equal(beganLate(day, '2026-10-01T08:00:00Z'), null);
  });

  it('says why the numbers stand still, the gravest reason first, and nothing of what a reader cannot see', () => {
    const standstill = (...reasons: string[]): string => standstillOf(reasons.map((reason) => ({ reason })));
    equal(standstill(), '');
    equal(standstill('disk_nearly_full', 'dead_letters'), '');
    match(standstill('worker_behind'), /still being counted/);
    match(standstill('worker_behind', 'worker_stuck'), /the worker does not run/);
    match(standstill('worker_behind', 'rebuild_needed'), /npm run rebuild/);
  });
});
