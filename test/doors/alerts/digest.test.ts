import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDigest, type Digest } from '../../../src/doors/alerts/digest.ts';
import { htmlOf, textOfLine } from '../../../src/doors/alerts/html.ts';
import { linkToSpan } from '../../../src/doors/alerts/body.ts';
import { digestContent, sectionsOf } from '../../../src/doors/alerts/digest-words.ts';
import type { Figures, FixedFigures } from '../../../src/doors/alerts/figures.ts';
import { localBucketAt } from '../../../src/domain/local-time.ts';
import { type Span } from '../../../src/doors/alerts/windows.ts';
import { entity, INSTANCE, NOW, rule } from './builders.ts';

const NOTHING: Digest = {
  span: localBucketAt('WEEK', 'UTC', NOW * 1000),
  segment: [],
  timeZone: 'UTC',
  until: null,
  sessions: { now: 0, before: 0 },
  users: { now: 0, before: 0 },
  dissatisfied: { now: 0, before: 0 },
  topics: [],
  newTopics: [],
  rising: [],
  falling: [],
  fixed: [],
  known: [],
  gaps: [],
  dissatisfaction: [],
  repeatedRequests: [],
  others: {
    topics: 0,
    newTopics: 0,
    rising: 0,
    falling: 0,
    fixed: 0,
    gaps: 0,
    dissatisfaction: 0,
    repeatedRequests: 0,
  },
};

const WEEK = 'Monday, 16 November 2026 to Sunday, 22 November 2026, UTC.';

function digestLines(parts: Partial<Digest>): readonly string[] {
  return sectionsOf({ ...NOTHING, ...parts }).flatMap(({ title, lines }) =>
    title === undefined ? lines.map(textOfLine) : [],
  );
}

describe('a digest', () => {
  it('says how many there were, and compares with the week before', () => {
    deepEqual(
      digestLines({
        sessions: { now: 1204, before: 1075 },
        users: { now: 830, before: 874 },
        dissatisfied: { now: 99, before: 81 },
      }),
      [
        WEEK,
        'There were 1,204 conversations (12\u00a0% more than in the week before) with 830 users (5\u00a0% fewer).',
        '99 of the 1,204 conversations (8.2\u00a0%) had a signal of dissatisfaction, against 7.5\u00a0% in the week before.',
      ],
    );
  });

  it('is grammatical with one, with none, and without a week before', () => {
    deepEqual(digestLines({ sessions: { now: 1, before: 0 }, users: { now: 1, before: 0 } }), [
      WEEK,
      'There was 1 conversation with 1 user.',
      'The conversation had no signal of dissatisfaction.',
    ]);
    deepEqual(digestLines({ sessions: { now: 3, before: 3 }, dissatisfied: { now: 3, before: 0 } }), [
      WEEK,
      'There were 3 conversations (as many as in the week before).',
      '3 of the 3 conversations (100\u00a0%) had a signal of dissatisfaction, against 0\u00a0% in the week before.',
    ]);
    equal(
      digestLines({ sessions: { now: 1001, before: 1000 }, users: { now: 999, before: 1000 } })[1],
      'There were 1,001 conversations (about as many as in the week before) with 999 users (about as many).',
    );
    deepEqual(digestLines({}), [WEEK, 'There were no conversations.']);
    deepEqual(digestLines({ sessions: { now: 0, before: 1 } }), [
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
      topics: [
        { ...entity(), sessionsBefore: 12 },
        { ...entity({ name: 'Track\nparcel', sessions: 1 }), sessionsBefore: 0 },
      ],
      rising: [{ ...changed, sessions: 40, sessionsBefore: 12, weeksBefore: { sessions: 76, weeks: 8 } }],
      falling: [
        { ...changed, sessions: 0, sessionsBefore: 1200 },
        { ...changed, groupBy: 'GAP', sessions: 4, sessionsBefore: 60 },
      ],
      gaps: [entity({ groupBy: 'GAP', name: 'Refund date', gapType: 'KNOWLEDGE', sessions: 3 })],
      dissatisfaction: [entity({ groupBy: 'CSAT_DSAT', name: 'Complaint', sessions: 2 })],
      others: { ...NOTHING.others, topics: 6, gaps: 1 },
    };
    const message = { instance: 'Shop', position: 7, at: NOW };
    equal(
      digestContent(rule({ condition: { kind: 'digest' } }), digest, message).text,
      `Shop, ${WEEK}
There were 50 conversations (25\u00a0% more than in the week before) with 9 users (as many).
0 of the 50 conversations (0\u00a0%) had a signal of dissatisfaction, against 0\u00a0% in the week before.

More often than in the week before
- ‘Track parcel’: 40 conversations, 12 in the week before, 9.5 in an average week of the last eight weeks

Less often than in the week before
- ‘Track parcel’: no conversations, 1,200 in the week before
- The gap ‘Track parcel’: 4 conversations, 60 in the week before

Most discussed
- ‘Cancel order’: 42 conversations, 12 in the week before
- ‘Track parcel’: 1 conversation, none in the week before
- and 6 other topics

What the assistant could not do (ability) or did not know (knowledge)
- ‘Refund date’ (knowledge): 3 conversations
- and 1 other gap

Signals of dissatisfaction
- ‘Complaint’: 2 conversations`,
    );
  });

  it('counts where per cent would say more than there is', () => {
    equal(
      digestLines({ sessions: { now: 19, before: 2 }, users: { now: 4, before: 1 } })[1],
      'There were 19 conversations (17 more than in the week before) with 4 users (3 more).',
    );
  });

  it('says of a week that is not over up to when its numbers are, and of one to come that it has not begun', () => {
    deepEqual(digestLines({ until: NOW * 1000, sessions: { now: 1, before: 0 } }).slice(0, 2), [
      WEEK,
      'The week is not over. These are its numbers up to Sunday, 22 November 2026, 14:05; they are compared with the ' +
        'same part of the week before.',
    ]);
    deepEqual(digestLines({ until: NOTHING.span.start }), [WEEK, 'This week has not begun.']);
  });

  it('says whose conversations count, and leads to them', () => {
    const segment = [
      { name: 'environment', values: ['test'], isLeftOut: true },
      { name: 'plan', values: ['pro', 'team'] },
    ] as const;
    const whose = 'Only conversations with plan ‘pro’ or ‘team’ and without environment ‘test’ count.';
    deepEqual(digestLines({ segment }), [WEEK, whose, 'There were no conversations.']);
    deepEqual(digestLines({ segment, sessions: { now: 3, before: 3 } }).slice(0, 2), [WEEK, whose]);
    equal(
      linkToSpan(INSTANCE, NOTHING.span, 'UTC', segment),
      `/?instance=${INSTANCE}&range=2026-11-16%2F2026-11-22` +
        '&segment.environment%21=test&segment.plan=pro&segment.plan=team',
    );
  });

  it('leads to its week, in days of its time zone', () => {
    const link = linkToSpan(INSTANCE, NOTHING.span, 'UTC', []);
    equal(link, `/?instance=${INSTANCE}&range=2026-11-16%2F2026-11-22`);
    const span = localBucketAt('WEEK', 'Pacific/Kiritimati', NOW * 1000);
    equal(
      linkToSpan(INSTANCE, span, 'Pacific/Kiritimati', []),
      link.replace('16%', '23%').replace('22', '29'),
    );
  });

  /** Figures of an instance with 42 conversations in each span; `of`: those of a topic in it. */
  const figures = (of: (span: Span) => number, sessions: (span: Span) => number = () => 42): Figures => ({
    position: 7,
    of() {
      return this;
    },
    entities: async ({ groupBy, span }) => {
      const count = groupBy === 'TOPIC' ? of(span) : 0;
      return count === 0 ? [] : [entity({ sessions: count })];
    },
    sessions: async (span) => sessions(span),
    processedAt: async () => 0,
    firstDay: async ({ start }) => start,
    users: async () => 9,
    changes: async (span, before) => {
      const [sessions, sessionsBefore] = [of(span), of(before)];
      const isReal = before.end - before.start > WEEK_LONG && sessions > sessionsBefore;
      return isReal ? [{ ...entity({ sessions }), sessionsBefore, rises: true }] : [];
    },
    precision: async () => null,
    quotes: async () => [],
    values: async () => ({ firstAt: null, values: [] }),
    valuesByDay: async () => [],
    differences: async () => null,
    effects: async () => [],
  });
  const { start } = NOTHING.span;
  const WEEK_LONG = 7 * 86_400_000_000;

  it('calls no topic new in the first week of an instance', async () => {
    const fresh = (before: number): Figures =>
      figures(
        (span) => (span.start === start ? 42 : 0),
        (span) => (span.start === -Infinity ? before : 42),
      );
    deepEqual((await readDigest(fresh(0), [], NOTHING.span, 'UTC')).newTopics, []);
    deepEqual((await readDigest(fresh(1), [], NOTHING.span, 'UTC')).newTopics, [entity()]);
  });

  it('tells what rises against the eight weeks before, though one week before proves nothing', async () => {
    const few = (now: number, before: number): Figures =>
      figures(
        (span) => (span.start === start ? now : before),
        (span) => (span.end - span.start > WEEK_LONG ? 140 : span.start === start ? 28 : 17),
      );
    const { id, name, groupBy } = entity();
    const { topics, rising } = await readDigest(few(11, 1), [], NOTHING.span, 'UTC');
    const weeksBefore = { sessions: 1, weeks: 8 };
    deepEqual(rising, [{ groupBy, id, name, sessions: 11, sessionsBefore: 1, weeksBefore }]);
    deepEqual(topics, [{ ...entity({ sessions: 11 }), sessionsBefore: 1 }]);
    deepEqual((await readDigest(few(2, 1), [], NOTHING.span, 'UTC')).rising, []);
    deepEqual((await readDigest(few(11, 11), [], NOTHING.span, 'UTC')).rising, []);
  });

  it('compares a week that is not over with as much of the week before', async () => {
    const spans: Span[] = [];
    const watched = figures(
      () => 0,
      (span) => {
        spans.push(span);
        return 1;
      },
    );
    const { until } = await readDigest(watched, [], NOTHING.span, 'UTC', NOW * 1000);
    equal(until, NOW * 1000);
    deepEqual(spans[1], { start: start - WEEK_LONG, end: NOW * 1000 - WEEK_LONG });
    equal((await readDigest(watched, [], NOTHING.span, 'UTC', NOTHING.span.end)).until, null);
  });

  it('tells of what is fixed what is news this week, with links to it', async () => {
    const side = (share: number, from: string, to: string): FixedFigures['before'] => ({
      start: `2026-${from}T00:00:00.000Z`,
      end: `2026-${to}T00:00:00.000Z`,
      sessions: share * 1000,
      of: 1000,
      share,
    });
    const helped: FixedFigures = {
      groupBy: 'GAP',
      id: entity().id,
      name: 'Cancel orders',
      verdict: 'HELPED',
      fixedAt: '2026-11-01T12:00:00.000Z',
      release: null,
      before: side(0.061, '09-06', '11-01'),
      after: side(0.006, '11-02', '11-16'),
      again: null,
    };
    const back: FixedFigures = {
      ...helped,
      id: INSTANCE,
      groupBy: 'REPEATED_REQUEST',
      name: 'Where is my parcel?',
      verdict: 'CAME_BACK',
      fixedAt: null,
      release: { name: 'version', value: '3.2' },
      again: side(0.058, '11-09', '11-23'),
    };
    const early = { ...helped, id: 'x', fixedAt: '2026-11-23T00:00:00.000Z', verdict: 'TOO_EARLY' } as const;
    const old = { ...helped, id: 'y' };
    const told: Figures = {
      ...figures(() => 0),
      effects: async (_, until) =>
        until === start
          ? [{ ...helped, verdict: 'TOO_EARLY' }, { ...back, verdict: 'HELPED' }, old]
          : [helped, back, early, old],
    };
    const digest = await readDigest(told, [], NOTHING.span, 'UTC');
    deepEqual(
      digest.fixed.map(({ id }) => id),
      [helped.id, back.id],
    );
    deepEqual(
      digest.known.map(({ id }) => id),
      [helped.id, back.id, old.id],
    );
    // Other lines about them say that they are fixed.
    const gaps = [helped, back, { ...helped, id: 'z' }].map(({ id }) =>
      entity({ groupBy: 'GAP', gapType: 'TOOL', id }),
    );
    deepEqual(sectionsOf({ ...digest, gaps }).at(-1)?.lines, [
      '‘Cancel order’ (ability): 42 conversations; marked as fixed since 1 November',
      '‘Cancel order’ (ability): 42 conversations; marked as fixed in version ‘3.2’, came back',
      '‘Cancel order’ (ability): 42 conversations',
    ]);
    const section = sectionsOf(digest, null, INSTANCE).find(({ title }) => title === 'What was fixed');
    deepEqual(section?.lines.map(textOfLine), [
      'The gap ‘Cancel orders’, fixed since 1 November, comes up less often: in 0.6\u00a0% of conversations in the weeks ' +
        'after, 6.1\u00a0% before',
      'The repeated request ‘Where is my parcel?’, fixed in version ‘3.2’, came back: in 5.8\u00a0% of conversations from ' +
        '9 November to 22 November, 0.6\u00a0% in the weeks after the change',
    ]);
    const [line] = section?.lines ?? [];
    const link = `/?instance=${INSTANCE}&range=2026-11-16%2F2026-11-22&view=gap&id=${entity().id}`;
    ok(typeof line === 'object' && line.link === link, JSON.stringify(line));
    const html = htmlOf({
      title: 'A week',
      sections: sectionsOf(digest, null, INSTANCE),
      link: '/',
      publicUrl: 'https://undertone.example',
    });
    ok(html.includes(`href="https://undertone.example${link.replaceAll('&', '&amp;')}"`), html);
    ok(
      !htmlOf({ title: 'A week', sections: sectionsOf(digest, null, INSTANCE), link: '/' }).includes('href'),
    );
  });

  it('tells beside what people checked how sure it is, in figures and words', async () => {
    const precision = { share: 0.925, low: 0.84, high: 0.97, checked: 40 };
    const asked: string[] = [];
    const checked: Figures = {
      ...figures(() => 12),
      precision: async (groupBy, id) => {
        asked.push(`${groupBy} ${id}`);
        return groupBy === 'TOPIC' ? precision : null;
      },
      entities: async ({ span }) => [entity({ sessions: span.start === start ? 12 : 1 })],
    };
    const digest = await readDigest(checked, [], NOTHING.span, 'UTC');
    deepEqual(digest.topics, [{ ...entity({ sessions: 12 }), sessionsBefore: 1, precision }]);
    deepEqual(digest.gaps, [entity({ sessions: 12 })]);
    deepEqual([...new Set(asked)].toSorted(), [
      `GAP ${entity().id}`,
      `REPEATED_REQUEST ${entity().id}`,
      `TOPIC ${entity().id}`,
    ]);
    const lines = sectionsOf(digest).flatMap(({ lines }) => lines);
    const name = `‘${entity().name}’`;
    ok(
      lines.includes(
        `${name}: 12 conversations, 1 in the week before (84\u00a0% to 97\u00a0% of all that count are right)`,
      ),
    );
    const known = { ...precision, low: 1, high: 1 };
    const [, list] = sectionsOf({
      ...NOTHING,
      sessions: { now: 12, before: 0 },
      topics: [{ ...entity({ sessions: 12 }), sessionsBefore: 0, precision: known }],
    });
    deepEqual(list?.lines, [`${name}: 12 conversations (100\u00a0% of all that count are right)`]);
  });

  it('says how many of a list it leaves out', async () => {
    const many = { ...figures(() => 0), entities: async () => Array.from({ length: 8 }, () => entity()) };
    const { topics, gaps, others } = await readDigest(many, [], NOTHING.span, 'UTC');
    deepEqual([topics.length, gaps.length, others.topics, others.gaps], [5, 3, 3, 5]);
  });
});
