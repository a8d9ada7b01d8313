import { deepEqual } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionSchema } from '../../../src/doors/alerts/rule.ts';
import { conditionWords, deliveryWords } from '../../../src/web/page/client/alert-words.ts';

const ID = '018f4f7e-7b9a-7c3d-9c61-1d2f3a4b5c6d';

/** As the service answers it, defaults filled in. */
function words(condition: unknown): string {
  return conditionWords(conditionSchema.parse(condition));
}

describe('what an alert waits for, in words', () => {
  it('is a sentence for each kind, in the singular where there is one', () => {
    deepEqual(
      [
        { kind: 'count', groupBy: 'TOPIC', window: 'HOUR', atLeast: 1 },
        { kind: 'count', groupBy: 'CSAT_DSAT', signalType: 'DSAT', window: 'DAY', atLeast: 1200 },
        { kind: 'count', groupBy: 'GAP', window: 'WEEK', atLeast: 5, ids: [ID] },
        { kind: 'rising', groupBy: 'TOPIC', window: 'DAY', factor: 2.5, atLeast: 10, ids: [ID, ID] },
        { kind: 'rising', groupBy: 'GAP', window: 'HOUR' },
        { kind: 'new_topic' },
        { kind: 'new_value', segmentKey: 'version' },
        { kind: 'dsat_share', window: 'DAY', above: 0.2 },
        { kind: 'digest' },
      ].map(words),
      [
        'A topic comes up in 1 conversation or more within an hour',
        'A signal of dissatisfaction comes up in 1,200 conversations or more within a day',
        'A chosen gap comes up in 5 conversations or more within a week',
        'One of 2 chosen topics comes up 2.5 times as often as on an average day of the last four weeks, and in ' +
          '10 conversations or more',
        'A gap comes up twice as often as in an average hour of the last seven days, and in 5 conversations or more',
        'A new topic comes up in 3 conversations',
        'A value of version is new, and its conversations differ, once it and the value before have ' +
          '30 conversations on the same days',
        'More than 20 % of the conversations within a day have a signal of dissatisfaction, and there are at least 50 conversations',
        'A week is over: a digest of it',
      ],
    );
  });
});

describe('where the messages of an alert go, in words', () => {
  it('is an address of the web, or how many people at which domains', () => {
    deepEqual(
      (
        [
          ['https://example.com/…', 'undertone'],
          ['https://hooks.slack.com/…', 'slack'],
          ['mailto:…@example.com', 'email'],
          ['mailto:…@example.com,…@example.com,…@example.org', 'email'],
        ] as const
      ).map(([url, format]) => deliveryWords({ url, format, quotes: false })),
      [
        'Posted to https://example.com/…',
        'Posted to https://hooks.slack.com/… in the format of Slack',
        'Sent by e-mail to 1 person at example.com',
        'Sent by e-mail to 3 people at example.com and example.org',
      ],
    );
  });
});
