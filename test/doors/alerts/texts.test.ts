import { equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { textOf, times } from '../../../src/doors/alerts/texts.ts';
import { localBucketAt } from '../../../src/domain/local-time.ts';
import { HOUR_MICROS as HOUR } from '../../../src/domain/time.ts';
import { COUNT, entity, firing, NOW, rule, TOPIC } from './builders.ts';

const RISING = { kind: 'rising', groupBy: 'TOPIC', window: 'DAY', factor: 2, atLeast: 5 } as const;
const TODAY = 'Period: Sunday, 22 November 2026, UTC.';

describe('the text of a count', () => {
  it('says how often, when, and what the alert is set to', () => {
    equal(
      textOf(firing()),
      `‘Cancel order’ came up in 42 conversations today; the alert is set to 40. ${TODAY}`,
    );
  });

  it('says whose conversations count', () => {
    const segment = { plan: ['team', 'pro'], beta: true };
    equal(
      textOf(firing({ condition: { ...COUNT, segment } })),
      '‘Cancel order’ came up in 42 conversations today; the alert is set to 40. Only conversations with beta ‘true’ ' +
        `and plan ‘pro’ or ‘team’ count. ${TODAY}`,
    );
  });

  it('has the singular for one', () => {
    equal(
      textOf(firing({ condition: { ...COUNT, atLeast: 1 }, value: 1, bound: 1 })),
      `‘Cancel order’ came up in 1 conversation today; the alert is set to 1. ${TODAY}`,
    );
  });

  it('says what it is about when that is no topic', () => {
    const gap = { condition: { ...COUNT, groupBy: 'GAP', window: 'HOUR' } } as const;
    equal(
      textOf(
        firing({ ...gap, value: 1200, entity: entity({ groupBy: 'GAP', name: 'Cannot track\n parcels' }) }),
      ),
      'The gap ‘Cannot track parcels’ came up in 1,200 conversations this hour; the alert is set to 40. Period: ' +
        'Sunday, 22 November 2026, 14:00 to 15:00, UTC.',
    );
    const signal = { condition: { ...COUNT, groupBy: 'CSAT_DSAT', window: 'WEEK' } } as const;
    equal(
      textOf(firing({ ...signal, entity: entity({ groupBy: 'CSAT_DSAT', name: 'Complaint' }) })),
      'The signal ‘Complaint’ came up in 42 conversations this week; the alert is set to 40. Period: Monday, ' +
        '16 November 2026 to Sunday, 22 November 2026, UTC.',
    );
  });

  it('names a window that is over by its date', () => {
    const over = (window: 'HOUR' | 'DAY' | 'WEEK', at: string): string =>
      textOf(
        firing({
          condition: { ...COUNT, window },
          isOpen: false,
          span: localBucketAt(window, 'UTC', Date.parse(at) * 1000),
        }),
      ).split(';')[0] ?? '';
    equal(over('DAY', '2026-11-21T10:00Z'), '‘Cancel order’ came up in 42 conversations on 21 November');
    equal(
      over('HOUR', '2026-11-21T23:10Z'),
      '‘Cancel order’ came up in 42 conversations between 23:00 and 00:00',
    );
    equal(
      over('WEEK', '2026-12-30T10:00Z'),
      '‘Cancel order’ came up in 42 conversations in the week from 28 December to 3 January',
    );
  });
});

describe('the text in a time zone', () => {
  it('tells the time by its clocks, and names it', () => {
    const windowText = (window: 'HOUR' | 'DAY' | 'WEEK', at: string, isOpen: boolean): string => {
      const zoned = rule({ condition: { ...COUNT, window }, timeZone: 'Europe/Berlin' });
      const span = localBucketAt(window, 'Europe/Berlin', Date.parse(at) * 1000);
      return textOf({ ...firing({ window, isOpen, span }), rule: zoned });
    };
    const headline = '‘Cancel order’ came up in 42 conversations';
    equal(
      windowText('DAY', '2026-10-24T22:30Z', true),
      `${headline} today; the alert is set to 40. Period: Sunday, 25 October 2026, Europe/Berlin.`,
    );
    // The hour that comes twice: once before clocks are put back, and once after.
    for (const at of ['2026-10-25T00:30Z', '2026-10-25T01:30Z'])
      ok(
        windowText('HOUR', at, false).startsWith(`${headline} between 02:00 and 0`),
        windowText('HOUR', at, false),
      );
    equal(
      windowText('WEEK', '2026-10-25T22:59Z', false),
      `${headline} in the week from 19 October to 25 October; the alert is set to 40. ` +
        'Period: Monday, 19 October 2026 to Sunday, 25 October 2026, Europe/Berlin.',
    );
  });
});

describe('the text of what rises', () => {
  const before = { start: 0, end: 0, sessions: 380, windows: 28 };

  it('compares with an average day', () => {
    equal(
      textOf(firing({ condition: RISING, before })),
      '‘Cancel order’ came up in 42 conversations today, 3.1 times as many as on an average day of the last four ' +
        `weeks. ${TODAY}`,
    );
  });

  it('compares with what there is', () => {
    const headline = (parts: object): string =>
      /, ([^,]*)\. Period/.exec(textOf(firing({ condition: RISING, ...parts })))?.[1] ?? '';
    equal(
      headline({ before: { ...before, sessions: 210, windows: 10 } }),
      'twice as many as on an average day of the last ten days',
    );
    equal(
      headline({ before: { ...before, sessions: 13, windows: 13 } }),
      '42 times as many as on an average day of the last 13 days',
    );
    equal(
      headline({ before: { ...before, sessions: 49, windows: 7 } }),
      '6 times as many as on an average day of the last week',
    );
    const hour = { ...RISING, window: 'HOUR' } as const;
    equal(
      headline({ condition: hour, before: { ...before, sessions: 168, windows: 168 } }),
      '42 times as many as in an average hour of the last seven days',
    );
    equal(
      headline({ condition: hour, before: { ...before, sessions: 24, windows: 24 } }),
      '42 times as many as in an average hour of the last day',
    );
    const week = { ...RISING, window: 'WEEK' } as const;
    equal(
      headline({ condition: week, before: { ...before, sessions: 80, windows: 8 } }),
      '4.2 times as many as in an average week of the last eight weeks',
    );
  });

  it('never says more digits than it knows', () => {
    equal(times(2.04), 'twice');
    equal(times(2.06), '2.1 times');
    equal(times(12.345), '12.3 times');
    equal(times(3), '3 times');
  });
});

describe('the other texts', () => {
  it('tell of a new topic before when there was none of it', () => {
    const condition = { kind: 'new_topic', atLeast: 3 } as const;
    const start = Date.parse('2026-11-16T09:00Z') * 1000;
    equal(
      textOf(firing({ condition, window: null, value: 3, bound: 3, span: { start, end: start + HOUR } })),
      'People ask about something new: ‘Cancel order’ has come up in 3 conversations, and in none before Monday, ' +
        '16 November 2026 (UTC).',
    );
  });

  it('tell of a new value what differs most, with the direction', () => {
    const condition = { kind: 'new_value', segmentKey: 'app\nversion', minSessions: 30 } as const;
    const compared = { segmentKey: 'app\nversion', value: '3.2', against: '3.1', sessions: 120 };
    const one = { id: TOPIC, share: 0.4, shareAgainst: 0.024 };
    const found = [
      { ...one, groupBy: 'GAP', name: 'Cancel\n order', difference: 'more' },
      { ...one, groupBy: 'TOPIC', name: 'Refund', difference: 'never', share: 0 },
      { ...one, groupBy: 'CSAT_DSAT', name: 'Thanks', difference: 'only', shareAgainst: 0 },
      { ...one, groupBy: 'TOPIC', name: 'Hotel', difference: 'less' },
    ] as const;
    const textWith = (count: number): string =>
      textOf(
        firing({
          condition,
          window: null,
          entity: null,
          compared: { ...compared, sessionsAgainst: 1300, found: found.slice(0, count) },
        }),
      );
    equal(
      textWith(1),
      'app version ‘3.2’ is new and differs from ‘3.1’: on the same days, the gap ‘Cancel order’ comes up more often ' +
        '(40\u00a0% of conversations against 2.4\u00a0%). It has 120 conversations there, and ‘3.1’ has 1,300.',
    );
    equal(
      textWith(4),
      'app version ‘3.2’ is new and differs from ‘3.1’: on the same days, the gap ‘Cancel order’ comes up more often ' +
        '(40\u00a0% of conversations against 2.4\u00a0%), the topic ‘Refund’ comes up less often ' +
        '(0\u00a0% of conversations against 2.4\u00a0%), the signal ‘Thanks’ comes up more often ' +
        '(40\u00a0% of conversations against 0\u00a0%) and 1 other differs, too. ' +
        'It has 120 conversations there, and ‘3.1’ has 1,300.',
    );
  });

  it('tell of dissatisfaction as a share of how many', () => {
    const condition = { kind: 'dsat_share', window: 'DAY', above: 0.2, minSessions: 50 } as const;
    equal(
      textOf(firing({ condition, entity: null, value: 0.2139, bound: 0.2, sessions: 1200 })),
      '21.4\u00a0% of 1,200 conversations today had a signal of dissatisfaction; the alert is set to more than ' +
        `20\u00a0%. ${TODAY}`,
    );
    const all = textOf(firing({ condition, entity: null, value: 1, bound: 0.2, sessions: 60 }));
    equal(all.split(';')[0], 'All 60 conversations today had a signal of dissatisfaction');
    equal(
      textOf(firing({ condition, entity: null, value: 1, bound: 0, sessions: 1 })),
      'The only conversation today had a signal of dissatisfaction; the alert is set to more than ' +
        `0\u00a0%. ${TODAY}`,
    );
  });

  it('name what is held back, as many as one reads', () => {
    const some = (count: number, groupBy: 'TOPIC' | 'GAP' = 'TOPIC') =>
      Array.from({ length: count }, (_, index) => entity({ name: `t${index}`, groupBy }));
    const headline = (count: number, parts: Parameters<typeof firing>[0] = {}): string =>
      textOf(firing({ entity: null, heldBack: some(count), value: count, bound: 20, ...parts }));
    equal(
      headline(9),
      '9 more topics met the condition of this alert today: ‘t0’, ‘t1’, ‘t2’, ‘t3’, ‘t4’ and 4 others. ' +
        `It says no more about this day. ${TODAY}`,
    );
    const gaps = {
      condition: { ...COUNT, groupBy: 'GAP', window: 'HOUR' },
      heldBack: some(1, 'GAP'),
    } as const;
    equal(
      headline(1, gaps).split(' Period')[0],
      '1 more gap met the condition of this alert this hour: ‘t0’. It says no more about this hour.',
    );
    const fresh = { condition: { kind: 'new_topic', atLeast: 3 }, window: null } as const;
    equal(
      headline(6, fresh),
      '6 more topics met the condition of this alert: ‘t0’, ‘t1’, ‘t2’, ‘t3’, ‘t4’ and another one. ' +
        'It says no more about this day.',
    );
  });

  it('are as long ago as the clock of the test says', () => {
    equal(new Date(NOW).toISOString(), '2026-11-22T14:05:00.000Z');
  });
});
