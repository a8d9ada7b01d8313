/** When an alert tells that something fixed came back. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { evaluate, type Firing } from '../../../src/doors/alerts/evaluation.ts';
import type { FixedFigures } from '../../../src/doors/alerts/figures.ts';
import { textOf } from '../../../src/doors/alerts/texts.ts';
import { DAY_MICROS as DAY, HOUR_MICROS as HOUR } from '../../../src/domain/time.ts';
import { rule } from './builders.ts';
import { EventFigures } from './event-figures.ts';

/** 29 July 2026. */
const TODAY = Date.UTC(2026, 6, 29) * 1000;
const WATCH = rule({ condition: { kind: 'came_back' }, createdAt: Date.UTC(2026, 6, 10) });

function side(share: number, from: string, to: string): NonNullable<FixedFigures['before']> {
  const [start, end] = [from, to].map((day) => `2026-${day}T00:00:00.000Z`) as [string, string];
  return { start, end, sessions: Math.round(share * 1000), of: 1000, share };
}

const BACK: FixedFigures = {
  groupBy: 'GAP',
  id: 'gap',
  name: 'Cancel orders',
  verdict: 'CAME_BACK',
  fixedAt: '2026-05-20T12:00:00.000Z',
  release: null,
  before: side(0.061, '04-22', '05-20'),
  after: side(0.006, '05-21', '06-18'),
  again: side(0.058, '07-02', '07-16'),
};

/** An alert in a worker: what it knows stays from one evaluation to the next. */
function watching(fixed: (until: number) => readonly FixedFigures[], alert = WATCH) {
  const known = new Set<string>();
  const old = new Set<string>();
  return async (until = TODAY + 9 * HOUR, isStored = true): Promise<{ firings: Firing[]; asked: number }> => {
    const figures = new EventFigures([], fixed);
    const moment = { since: until - HOUR, until, isKnown: (id: string) => known.has(id), old };
    const firings = await evaluate([alert], figures, moment);
    if (isStored) for (const { id } of firings) known.add(id);
    return { firings, asked: figures.asked.length };
  };
}

describe('what came back', () => {
  it('fires once for each statement that it is fixed, in words that say how often it was', async () => {
    let fixed = [BACK];
    const look = watching(() => fixed);
    const { firings } = await look();
    equal(firings.length, 1);
    const [firing] = firings as [Firing];
    deepEqual(
      [firing.value, firing.bound, firing.sessions, firing.window, firing.isOpen],
      [0.058, 0.006, 1000, null, false],
    );
    equal(
      textOf(firing),
      'The gap ‘Cancel orders’ came back: it is fixed since 20 May and came up in 0.6\u00a0% of conversations in the ' +
        'weeks after, against 6.1\u00a0% before. From 2 July to 15 July it came up in 5.8\u00a0%: 58 of 1,000 conversations.',
    );
    deepEqual((await look(TODAY + DAY)).firings, []);
    fixed = [{ ...BACK, fixedAt: '2026-06-20T12:00:00.000Z' }];
    equal((await look(TODAY + 2 * DAY)).firings.length, 1);
    fixed = [{ ...BACK, fixedAt: null, release: { name: 'version', value: '3.2' } }];
    const [released] = (await look(TODAY + 3 * DAY)).firings as [Firing];
    ok(textOf(released).includes('it is fixed in version ‘3.2’ and'), textOf(released));
  });

  it('is looked for once a day, of the weeks that were over at its beginning, and again until it is stored', async () => {
    const asked: number[] = [];
    const look = watching((until) => {
      asked.push(until);
      return [BACK];
    });
    equal((await look(TODAY + HOUR, false)).firings.length, 1);
    equal((await look(TODAY + 2 * HOUR)).firings.length, 1);
    equal((await look(TODAY + 3 * HOUR)).firings.length, 0);
    equal((await look(TODAY + 4 * HOUR)).asked, 0);
    equal((await look(TODAY + DAY)).asked, 1);
    deepEqual(asked, [TODAY, TODAY, TODAY, TODAY + DAY]);
  });

  it('says nothing of what helped, and of weeks that ended before the alert was made', async () => {
    const helped = { ...BACK, verdict: 'HELPED', again: null } as const;
    deepEqual((await watching(() => [helped])()).firings, []);
    const late = rule({ condition: { kind: 'came_back' }, createdAt: Date.UTC(2026, 6, 16) });
    deepEqual((await watching(() => [BACK], late)()).firings, []);
  });
});
