import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluate, type Firing, type Moment } from '../../../src/doors/alerts/evaluation.ts';
import type { Rule } from '../../../src/doors/alerts/rule.ts';
import { DAY_MICROS as DAY, HOUR_MICROS as HOUR } from '../../../src/domain/time.ts';
import { Random } from '../../faults/support/random.ts';
import { isLong } from '../../support/long.ts';
import { rule } from './builders.ts';
import { EventFigures, type Event } from './event-figures.ts';

/** 22 November 2026. */
const TODAY = Date.UTC(2026, 10, 22) * 1000;
let sessions = 0;

/** So many conversations of a version a day from a day on, every other one with `odd`, the rest with `even`. */
function days(
  version: string,
  from: number,
  count: number,
  per: number,
  odd: string,
  even = 'other',
): Event[] {
  return Array.from({ length: count }, (_, day) =>
    Array.from({ length: per }, (__, index): Event => {
      const at = TODAY + (from + day) * DAY + HOUR + index * 60e6;
      const topics = [index % 2 === 0 ? odd : even];
      return { at, storedAt: at, session: (sessions += 1), topics, attributes: { version } };
    }),
  ).flat();
}

const of = (parts: object = {}, more: Partial<Rule> = {}): Rule =>
  rule({
    condition: { kind: 'new_value', segmentKey: 'version', minSessions: 30, ...parts },
    createdAt: TODAY / 1000 - 86_400_000 * 30,
    ...more,
  });

/** An alert in a worker: what it knows stays from one evaluation to the next. */
function watching(alert = of()) {
  const known = new Set<string>();
  let old = new Set<string>();
  return {
    known,
    restart: () => (old = new Set()),
    look: async (events: readonly Event[], until = TODAY + 20 * HOUR, more: Partial<Moment> = {}) => {
      const figures = new EventFigures(events);
      const moment = { since: until - HOUR, until, isKnown: (id: string) => known.has(id), old, ...more };
      const firings = await evaluate([alert], figures, moment);
      for (const { id } of firings) known.add(id);
      return { firings, asked: figures.asked };
    },
  };
}

function told(firings: readonly Firing[]): string[] {
  return firings.map(({ compared, value, bound }) => {
    const found = compared?.found.map(({ id, difference }) => `${id} ${difference}`).join(', ');
    return `${compared?.value} ${value} (${bound}) against ${compared?.against} ${compared?.sessionsAgainst}: ${found}`;
  });
}

const OLD = [...days('1', -28, 30, 40, 'cancel'), ...days('0', -28, 27, 3, 'cancel')];

describe('a new value', () => {
  it('that differs fires once, against the value with most conversations before', async () => {
    const { look, restart } = watching();
    const events = [...OLD, ...days('2', 0, 1, 40, 'refund')];
    const { firings } = await look(events);
    deepEqual(told(firings), ['2 40 (30) against 1 40: cancel less, refund more']);
    deepEqual([firings[0]?.window, firings[0]?.span], [null, { start: TODAY, end: TODAY + DAY }]);
    deepEqual((await look(events)).firings, []);
    restart();
    const later = [...OLD, ...days('2', 0, 2, 400, 'refund')];
    deepEqual((await look(later, TODAY + 44 * HOUR)).firings, []);
  });

  it('has the same id wherever it is evaluated', async () => {
    const events = [...OLD, ...days('2', 0, 1, 40, 'refund')];
    const [one, two] = [await watching().look(events), await watching().look([...events].reverse())];
    equal(one.firings[0]?.id, two.firings[0]?.id);
    ok(one.firings[0] !== undefined);
  });

  it('that does not differ says nothing', async () => {
    const { look } = watching();
    const { firings, asked } = await look([...OLD, ...days('2', 0, 1, 40, 'cancel')]);
    deepEqual(firings, []);
    ok(asked.includes('differences 2 1 0.025'), asked.join('\n'));
  });

  it('waits for enough conversations of both on common days, and is compared again when they have doubled', async () => {
    const { look } = watching();
    const none = async (per: number): Promise<string[]> => {
      const { firings, asked } = await look([...OLD, ...days('2', 0, 2, per, 'cancel')]);
      deepEqual(firings, []);
      return asked.filter((question) => !question.startsWith('values'));
    };
    deepEqual(await none(14), []);
    deepEqual(await none(15), ['by day version', 'differences 2 1 0.025']);
    // Another evaluation of the same costs one look at the values.
    deepEqual(await none(15), []);
    deepEqual(await none(29), ['by day version']);
    deepEqual(await none(35), ['by day version', 'differences 2 1 0.0125']);
    // The other one has no more than 40 a day.
    const { firings } = await look([...OLD, ...days('2', 0, 2, 300, 'refund')]);
    deepEqual(firings, []);
    const few = [...days('1', -28, 28, 40, 'cancel'), ...days('1', 0, 1, 29, 'cancel')];
    const short = watching();
    const newer = days('2', 0, 2, 90, 'refund');
    deepEqual((await short.look([...few, ...newer])).firings, []);
    // The older one reaches the number, the new one stays as it is.
    const enough = [...few, ...days('1', 0, 1, 11, 'cancel')];
    equal((await short.look([...enough, ...newer])).firings.length, 1);
  });

  it('is none that was there before the alert, in the first week of the attribute, or four weeks ago', async () => {
    const events = [...OLD, ...days('2', -3, 4, 40, 'refund')];
    equal((await watching().look(events)).firings.length, 1);
    const late = of({}, { createdAt: TODAY / 1000 - 86_400_000 * 2 });
    deepEqual((await watching(late).look(events)).firings, []);
    const young = [...days('1', -9, 11, 40, 'cancel'), ...days('2', -3, 4, 40, 'refund')];
    deepEqual((await watching().look(young)).firings, []);
    const taught = [...days('1', -11, 13, 40, 'cancel'), ...days('2', -3, 4, 40, 'refund')];
    equal((await watching().look(taught)).firings.length, 1);
    const old = [...days('1', -60, 62, 40, 'cancel'), ...days('2', -29, 31, 40, 'refund')];
    const longAgo = of({}, { createdAt: 0 });
    deepEqual((await watching(longAgo).look(old)).firings, []);
    equal((await watching(longAgo).look(old, TODAY - DAY)).firings.length, 1);
  });

  it('needs a value before it; of two with as many conversations, the first in the order of text counts', async () => {
    const two = [...days('b', -20, 22, 40, 'cancel'), ...days('a', -20, 22, 40, 'cancel')];
    const { firings } = await watching().look([...two, ...days('2', 0, 1, 40, 'refund')]);
    equal(firings[0]?.compared?.against, 'a');
    const gap = [...days('0', -25, 5, 1, 'x'), ...days('2', 0, 1, 40, 'refund')];
    const { firings: none } = await watching().look(gap);
    deepEqual(none, []);
  });

  it('is compared with what was frequent in the four weeks before it, whatever comes with it or was earlier', async () => {
    const events = [
      ...days('1', -28, 30, 20, 'cancel'),
      // New, too, and on its first day more frequent than 1 was in four weeks.
      ...days('2', 0, 1, 900, 'refund'),
      ...days('3', 0, 1, 40, 'refund'),
      // More frequent than 1 was until four weeks before, which the look at 4 goes back to.
      ...days('0', -45, 17, 90, 'cancel'),
      ...days('0', 0, 1, 40, 'cancel'),
      ...days('4', -20, 22, 90, 'cancel'),
    ].filter(({ attributes, at }) => attributes?.['version'] !== '4' || at < TODAY - 19 * DAY || at > TODAY);
    const { firings } = await watching(of({ minSessions: 20 })).look(events);
    deepEqual(
      firings.map(({ compared }) => `${compared?.value} ${compared?.against}`),
      ['2 1', '3 1'],
    );
  });

  it('begins on its day in the time zone of the alert', async () => {
    const [start, end] = [TODAY - 14 * HOUR, TODAY + 10 * HOUR];
    const alert = of({}, { timeZone: 'Pacific/Kiritimati' });
    const { firings } = await watching(alert).look([...OLD, ...days('2', 0, 1, 40, 'refund')]);
    deepEqual(firings[0]?.span, { start, end });
  });

  it('counts the conversations of a segment alone', async () => {
    const events = [...OLD, ...days('2', 0, 1, 40, 'refund')].map((event, index) => ({
      ...event,
      attributes: { ...event.attributes, plan: index % 4 < 2 ? 'pro' : 'free' },
    }));
    const pro = (minSessions: number) => of({ minSessions, segment: { plan: 'pro' } });
    deepEqual(told((await watching(pro(20)).look(events)).firings), [
      '2 20 (20) against 1 20: cancel less, refund more',
    ]);
    deepEqual((await watching(pro(21)).look(events)).firings, []);
    deepEqual((await watching(of({ segmentKey: 'release' })).look(events)).firings, []);
  });

  it('fires by chance in at most one case of twenty, however often it is looked at', async () => {
    const random = new Random(7);
    let fired = 0;
    const runs = isLong ? 200 : 80;
    for (let run = 0; run < runs; run += 1) {
      const topic = (): string => ['a', 'b', 'c'][random.between(0, 2)]!;
      const shuffled = (events: readonly Event[]) => events.map((event) => ({ ...event, topics: [topic()] }));
      const before = shuffled(days('1', -9, 9, 1, 'a'));
      const after = shuffled([...days('1', 0, 1, 160, 'a'), ...days('2', 0, 1, 160, 'a')]);
      const { look } = watching(of({ minSessions: 10 }));
      let hasFired = false;
      for (const count of [10, 20, 40, 80, 160]) {
        const so = after.filter((_, index) => index % 160 < count);
        hasFired ||= (await look([...before, ...so])).firings.length > 0;
      }
      if (hasFired) fired += 1;
    }
    // Four of 200; with 5 % at each look, 15.
    ok(fired <= runs / 20, `${fired} of ${runs}`);
  });
});
