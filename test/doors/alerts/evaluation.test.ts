import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluate, MOST_IN_WINDOW, type Firing, type Moment } from '../../../src/doors/alerts/evaluation.ts';
import type { Rule } from '../../../src/doors/alerts/rule.ts';
import { DAY_MICROS as DAY, HOUR_MICROS as HOUR } from '../../../src/domain/time.ts';
import { COUNT, NOW, rule } from './builders.ts';
import { EventFigures, type Event } from './event-figures.ts';

const TODAY = Date.UTC(2026, 10, 22) * 1000;
let sessions = 0;

/** So many conversations about topics, from an event time on. */
function sessionEvents(count: number, topics: string, at: number, parts: Partial<Event> = {}): Event[] {
  return Array.from({ length: count }, (_, index) => ({
    at: at + index,
    storedAt: Math.max(at, TODAY) + index,
    session: (sessions += 1),
    topics: topics === '' ? [] : topics.split(' '),
    ...parts,
  }));
}

function found(
  rules: readonly Rule[],
  events: readonly Event[],
  moment: Partial<Moment> = {},
): Promise<Firing[]> {
  const now = { since: NOW * 1000 - HOUR, until: NOW * 1000, isKnown: () => false, old: new Set<string>() };
  return evaluate(rules, new EventFigures(events), { ...now, ...moment });
}

function names(firings: readonly Firing[]): string[] {
  return firings.map(({ entity, value }) => `${entity?.id ?? ''} ${value}`);
}

describe('a count', () => {
  const counting = (atLeast: number): Rule => rule({ condition: { ...COUNT, atLeast } });

  it('fires for each entity that reaches it in the window', async () => {
    const events = [
      ...sessionEvents(3, 'a', TODAY),
      ...sessionEvents(2, 'b', TODAY),
      ...sessionEvents(9, 'c', TODAY - DAY),
    ];
    const firings = await found([counting(3)], events);
    deepEqual(names(firings), ['a 3']);
    deepEqual(firings[0]?.span, { start: TODAY, end: TODAY + DAY });
    ok(firings[0]?.isOpen);
  });

  it('fires for the window before while it is hardly over, and for none before', async () => {
    const events = [...sessionEvents(3, 'a', TODAY - HOUR), ...sessionEvents(3, 'b', TODAY - DAY - HOUR)];
    const soon = { since: TODAY + 9 * 60e6, until: TODAY + 9.5 * 60e6 };
    const firings = await found([counting(3)], events, soon);
    deepEqual(names(firings), ['a 3']);
    equal(firings[0]?.isOpen, false);
    deepEqual(await found([counting(3)], events, { since: TODAY + 11 * 60e6, until: TODAY + 12 * 60e6 }), []);
  });

  it('fires for no window that was over when it was made', async () => {
    const events = [...sessionEvents(3, 'a', TODAY - HOUR), ...sessionEvents(3, 'b', TODAY)];
    const late = rule({ condition: { ...COUNT, atLeast: 3 }, createdAt: TODAY / 1000 + 60_000 });
    deepEqual(names(await found([late], events, { since: 0, until: TODAY + HOUR })), ['b 3']);
  });

  it('says nothing twice', async () => {
    const events = sessionEvents(3, 'a', TODAY);
    const [first] = await found([counting(3)], events);
    const isKnown = (id: string): boolean => id === first?.id;
    deepEqual(await found([counting(3)], [...events, ...sessionEvents(3, 'a', TODAY)], { isKnown }), []);
    const [tomorrow] = await found([counting(3)], sessionEvents(3, 'a', TODAY + DAY), {
      until: TODAY + DAY + HOUR,
    });
    ok(tomorrow !== undefined && tomorrow.id !== first?.id);
  });

  it('says so much of a window, then what it holds back, then nothing', async () => {
    const topics = (from: number, to: number): Event[] =>
      Array.from({ length: to - from }, (_, index) => sessionEvents(2, `t${from + index}`, TODAY)).flat();
    const known = new Set<string>();
    const isKnown = (id: string): boolean => known.has(id);
    const next = async (events: readonly Event[]): Promise<Firing[]> => {
      const firings = await found([counting(2)], events, { isKnown });
      for (const { id } of firings) known.add(id);
      return firings;
    };
    equal((await next(topics(0, 15))).length, 15);
    const more = await next([...topics(0, 28), ...sessionEvents(3, 't28', TODAY)]);
    equal(more.length, MOST_IN_WINDOW - 15 + 1);
    equal(more[0]?.entity?.id, 't28');
    const last = more.at(-1);
    deepEqual([last?.entity, last?.value, last?.bound], [null, 9, MOST_IN_WINDOW]);
    equal(last?.heldBack?.length, 9);
    deepEqual(await next(topics(0, 40)), []);
    const tomorrow = { isKnown, until: TODAY + DAY + HOUR, since: TODAY + DAY + 11 * 60e6 };
    deepEqual(names(await found([counting(2)], sessionEvents(2, 't39', TODAY + DAY), tomorrow)), ['t39 2']);
  });

  it('looks only at the conversations with its attributes', async () => {
    const pro = { attributes: { plan: 'pro' } };
    const events = [
      ...sessionEvents(3, 'a', TODAY, pro),
      ...sessionEvents(2, 'a', TODAY, { attributes: { plan: 'free' } }),
      ...sessionEvents(5, 'b', TODAY),
    ];
    const of = (segment: Extract<Rule['condition'], { kind: 'count' }>['segment']): Rule =>
      rule({ condition: { ...COUNT, atLeast: 2, segment } });
    deepEqual(names(await found([of({ plan: 'pro' })], events)), ['a 3']);
    deepEqual(names(await found([of({ plan: ['pro', 'free'] })], events)), ['a 5']);
    deepEqual(names(await found([of({ plan: 'pro', region: 'EU' })], events)), []);
  });

  it('looks only at the entities that it names', async () => {
    const only = rule({ condition: { ...COUNT, atLeast: 1, ids: ['b'] } });
    deepEqual(
      names(await found([only], [...sessionEvents(3, 'a', TODAY), ...sessionEvents(2, 'b', TODAY)])),
      ['b 2'],
    );
  });

  it('that is disabled says nothing', async () => {
    const disabled = { ...counting(1), disabled: { at: 0, reason: 'gone' } };
    deepEqual(await found([disabled], sessionEvents(3, 'a', TODAY)), []);
  });
});

describe('what rises', () => {
  const rising = (parts: object = {}): Rule =>
    rule({ condition: { kind: 'rising', groupBy: 'TOPIC', window: 'DAY', factor: 2, atLeast: 5, ...parts } });
  /** Each of the four weeks before had this, every day. */
  const usually = (topics: string, count: number, days = 28): Event[] =>
    Array.from({ length: days }, (_, day) =>
      sessionEvents(count, topics, TODAY - (day + 1) * DAY + HOUR),
    ).flat();

  it('has many times its average, and a larger share of all conversations', async () => {
    const events = [
      ...usually('a', 2),
      ...usually('b', 20),
      ...sessionEvents(12, 'a', TODAY),
      ...sessionEvents(20, 'b', TODAY),
    ];
    const [firing, ...others] = await found([rising()], events);
    deepEqual(others, []);
    equal(firing?.entity?.id, 'a');
    deepEqual(
      [firing?.value, firing?.bound, firing?.before?.sessions, firing?.before?.windows],
      [12, 4, 56, 28],
    );
  });

  it('does not rise when everything does', async () => {
    const events = [
      ...usually('a', 2),
      ...usually('b', 20),
      ...sessionEvents(12, 'a', TODAY),
      ...sessionEvents(120, 'b', TODAY),
    ];
    deepEqual(await found([rising()], events), []);
  });

  it('does not rise by chance, nor without a history', async () => {
    const few = [
      ...usually('a', 1),
      ...usually('b', 20),
      ...sessionEvents(2, 'a', TODAY),
      ...sessionEvents(20, 'b', TODAY),
    ];
    deepEqual(await found([rising({ atLeast: 1 })], few), []);
    const young = [
      ...usually('a', 2, 6),
      ...usually('b', 20, 6),
      ...sessionEvents(30, 'a', TODAY),
      ...sessionEvents(20, 'b', TODAY),
    ];
    deepEqual(await found([rising()], young), []);
  });

  it('is compared with the time since the first conversation, not with the time before it', async () => {
    const events = [
      ...usually('a', 4, 10),
      ...usually('b', 20, 10),
      ...sessionEvents(20, 'a', TODAY),
      ...sessionEvents(20, 'b', TODAY),
    ];
    deepEqual(
      (await found([rising()], events)).map(({ before }) => [before?.windows, before?.sessions]),
      [[10, 40]],
    );
    // Four weeks would make seven of an average of 1.4, which are five times as many.
    deepEqual(
      await found(
        [rising()],
        [...events.slice(0, -40), ...sessionEvents(7, 'a', TODAY), ...sessionEvents(9, 'b', TODAY)],
      ),
      [],
    );
  });

  it('is not what was never there: that is new', async () => {
    const events = [...usually('b', 20), ...sessionEvents(30, 'a', TODAY), ...sessionEvents(20, 'b', TODAY)];
    deepEqual(await found([rising()], events), []);
  });
});

describe('a new topic', () => {
  const fresh = rule({ condition: { kind: 'new_topic', atLeast: 3 }, createdAt: TODAY / 1000 - 86_400_000 });

  it('was never seen before the alert was made, and has enough conversations', async () => {
    const events = [
      ...sessionEvents(1, 'old', TODAY - 90 * DAY),
      ...sessionEvents(9, 'old', TODAY),
      ...sessionEvents(1, 'new', TODAY - HOUR),
      ...sessionEvents(2, 'new', TODAY),
      ...sessionEvents(2, 'small', TODAY),
    ];
    const [first, ...others] = await found([fresh], events);
    deepEqual(names([first as Firing]), ['new 3']);
    deepEqual(others, []);
    const again = await found([fresh], [...events, ...sessionEvents(9, 'new', TODAY)], {
      isKnown: (id) => id === first?.id,
    });
    deepEqual(again, []);
  });

  it('has one id for ever', async () => {
    const history = sessionEvents(1, 'old', TODAY - 90 * DAY);
    const [today] = await found([fresh], [...history, ...sessionEvents(3, 'new', TODAY)]);
    const events = [...history, ...sessionEvents(3, 'new', TODAY), ...sessionEvents(3, 'new', TODAY + DAY)];
    const [later] = await found([fresh], events, { until: TODAY + DAY + HOUR });
    ok(today !== undefined);
    equal(later?.id, today.id);
  });

  it('is nothing in the first week of an instance, in which all are', async () => {
    const events = [...sessionEvents(1, 'first', TODAY - 6 * DAY), ...sessionEvents(9, 'new', TODAY)];
    const early = rule({
      condition: { kind: 'new_topic', atLeast: 3 },
      createdAt: TODAY / 1000 - 7 * 86_400_000,
    });
    deepEqual(await found([early], events), []);
    const next = { since: TODAY + DAY, until: TODAY + DAY + HOUR };
    deepEqual(names(await found([early], [...events, ...sessionEvents(3, 'next', TODAY + DAY)], next)), [
      'next 3',
    ]);
  });

  it('is looked at no more once it is old', async () => {
    const old = new Set<string>();
    const events = [...sessionEvents(1, 'old', TODAY - 90 * DAY), ...sessionEvents(1, 'old', TODAY)];
    const ask = async (): Promise<number> => {
      const figures = new EventFigures(events);
      const moment = { since: TODAY + HOUR, until: NOW * 1000, isKnown: () => false, old };
      deepEqual(await evaluate([fresh], figures, moment), []);
      return figures.asked.length;
    };
    deepEqual([await ask(), await ask()], [3, 1]);
  });

  it('is held back where a day has many', async () => {
    const events = sessionEvents(1, 'old', TODAY - 90 * DAY);
    const known = new Set<string>();
    const next = async (count: number, at = TODAY, until = NOW * 1000): Promise<Firing[]> => {
      for (let index = 0; index < count; index += 1) events.push(...sessionEvents(3, `new${index}`, at));
      const moment = { isKnown: (id: string) => known.has(id), until };
      const firings = await found([fresh], events, moment);
      for (const { id } of firings) known.add(id);
      return firings;
    };
    equal((await next(12)).length, 12);
    const more = await next(25);
    deepEqual([more.length, more.at(-1)?.value], [MOST_IN_WINDOW - 12 + 1, 5]);
    deepEqual(await next(30), []);
    // The next day has its own.
    deepEqual((await next(30, TODAY + DAY, TODAY + DAY + HOUR)).length, 10);
  });

  it('is no longer new after four weeks', async () => {
    const old = rule({ condition: { kind: 'new_topic', atLeast: 3 } });
    const events = [...sessionEvents(1, 'slow', TODAY - 29 * DAY), ...sessionEvents(9, 'slow', TODAY)];
    deepEqual(await found([old], events), []);
  });
});

describe('a share of dissatisfied conversations', () => {
  const share = (parts: object): Rule =>
    rule({ condition: { kind: 'dsat_share', window: 'DAY', above: 0.2, minSessions: 10, ...parts } });
  const day = [...sessionEvents(8, '', TODAY), ...sessionEvents(3, '', TODAY, { dsat: true })];

  it('fires above its bound, with enough conversations', async () => {
    const [firing, ...others] = await found([share({})], day);
    deepEqual(others, []);
    deepEqual([firing?.entity, firing?.value, firing?.bound, firing?.sessions], [null, 3 / 11, 0.2, 11]);
    deepEqual(await found([share({ minSessions: 12 })], day), []);
    deepEqual(await found([share({ above: 3 / 11 })], day), []);
  });
});

describe('an instance with many alerts', () => {
  it('asks nothing for those that have nothing to say any more', async () => {
    const figures = new EventFigures(sessionEvents(3, 'a', TODAY));
    const share = rule({ condition: { kind: 'dsat_share', window: 'DAY', above: 0, minSessions: 1 } });
    const moment = { since: TODAY, until: NOW * 1000, isKnown: () => true, old: new Set<string>() };
    deepEqual(await evaluate([share, rule({ condition: { kind: 'digest' } })], figures, moment), []);
    deepEqual(figures.asked, []);
  });
});
