import { deepEqual, equal } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { digestContent, readDigest, sectionsOf, type Digest } from '../../src/alerts/digest.ts';
import type { Figures } from '../../src/alerts/figures.ts';
import { windowAt } from '../../src/alerts/windows.ts';
import { entity, NOW, rule } from './builders.ts';

const NOTHING: Digest = {
  span: windowAt('WEEK', 'UTC', NOW * 1000),
  timeZone: 'UTC',
  sessions: { now: 0, before: 0 },
  users: { now: 0, before: 0 },
  dissatisfied: { now: 0, before: 0 },
  topics: [],
  newTopics: [],
  rising: [],
  falling: [],
  gaps: [],
  dissatisfaction: [],
  repeatedRequests: [],
};

const WEEK = 'Monday, 16 November 2026 to Sunday, 22 November 2026, UTC.';

function said(parts: Partial<Digest>): readonly string[] {
  return sectionsOf({ ...NOTHING, ...parts }).flatMap(({ title, lines }) =>
    title === undefined ? lines : [],
  );
}

describe('a digest', () => {
  it('says how many there were, and compares with the week before', () => {
    deepEqual(
      said({
        sessions: { now: 1204, before: 1075 },
        users: { now: 830, before: 874 },
        dissatisfied: { now: 99, before: 81 },
      }),
      [
        WEEK,
        'There were 1,204 conversations (12\u00a0% more than in the week before) with 830 users (5\u00a0% fewer).',
        '8.2\u00a0% of them had a signal of dissatisfaction, against 7.5\u00a0% in the week before.',
      ],
    );
  });

  it('is grammatical with one, with none, and without a week before', () => {
    deepEqual(said({ sessions: { now: 1, before: 0 }, users: { now: 1, before: 0 } }), [
      WEEK,
      'There was 1 conversation with 1 user.',
      'It had no signal of dissatisfaction.',
    ]);
    deepEqual(said({ sessions: { now: 3, before: 3 }, dissatisfied: { now: 3, before: 0 } }), [
      WEEK,
      'There were 3 conversations (as many as in the week before).',
      '100\u00a0% of them had a signal of dissatisfaction, against 0\u00a0% in the week before.',
    ]);
    equal(
      said({ sessions: { now: 1001, before: 1000 }, users: { now: 999, before: 1000 } })[1],
      'There were 1,001 conversations (about as many as in the week before) with 999 users (about as many).',
    );
    deepEqual(said({}), [WEEK, 'There were no conversations.']);
    deepEqual(said({ sessions: { now: 0, before: 1 } }), [
      WEEK,
      'There were no conversations. In the week before, there was 1 conversation.',
    ]);
  });

  it('lists what the conversations were about, and leaves out what is empty', () => {
    const changed = { groupBy: 'TOPIC', id: entity().id, name: 'Track parcel' } as const;
    const digest: Digest = {
      ...NOTHING,
      sessions: { now: 50, before: 40 },
      users: { now: 9, before: 9 },
      topics: [entity(), entity({ name: 'Track\nparcel', sessions: 1 })],
      rising: [{ ...changed, sessions: 40, sessionsBefore: 12 }],
      falling: [
        { ...changed, sessions: 0, sessionsBefore: 1200 },
        { ...changed, groupBy: 'GAP', sessions: 4, sessionsBefore: 60 },
      ],
      dissatisfaction: [entity({ groupBy: 'CSAT_DSAT', name: 'Complaint', sessions: 2 })],
    };
    equal(
      digestContent(rule({ condition: { kind: 'digest' } }), digest, 7, NOW).text,
      `${WEEK}
There were 50 conversations (25\u00a0% more than in the week before) with 9 users (as many).
0\u00a0% of them had a signal of dissatisfaction, against 0\u00a0% in the week before.

Most discussed
- ‘Cancel order’: 42 conversations
- ‘Track parcel’: 1 conversation

More often than in the week before
- ‘Track parcel’: 40 conversations, 12 in the week before

Less often than in the week before
- ‘Track parcel’: no conversations, 1,200 in the week before
- The gap ‘Track parcel’: 4 conversations, 60 in the week before

Signals of dissatisfaction
- ‘Complaint’: 2 conversations`,
    );
  });

  it('calls no topic new in the first week of an instance', async () => {
    const figures = (sessionsBefore: number): Figures => ({
      position: 7,
      entities: async ({ groupBy, window }) => (groupBy === 'TOPIC' && window !== null ? [entity()] : []),
      sessions: async ({ start }) => (start === -Infinity ? sessionsBefore : 42),
      processedAt: async () => 0,
      firstDay: async () => Infinity,
      users: async () => 9,
      changes: async () => [],
      quotes: async () => [],
    });
    deepEqual((await readDigest(figures(0), NOTHING.span, 'UTC')).newTopics, []);
    deepEqual((await readDigest(figures(1), NOTHING.span, 'UTC')).newTopics, [entity()]);
  });
});
