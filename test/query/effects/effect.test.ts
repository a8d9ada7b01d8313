/** What the weeks around a change tell: planted histories, null histories, and single cases. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differenceOf, effectOf, type Week, type Weeks } from '../../../src/query/effects/effect.ts';
import type { EffectVerdict } from '../../../src/domain/effects.ts';
import { Random } from '../../faults/support/random.ts';
import { isLong } from '../../support/long.ts';

/** Conversations of each weekday, and how much more often it occurs then. */
const DAYS = [1, 1, 1, 0.9, 0.8, 0.3, 0.3];
const RATES = [1, 1, 1, 1, 1, 1.8, 1.8];

interface History {
  readonly seed: number;
  readonly perDay: number;
  /** The share of sessions that have it, by weeks since the change. */
  readonly share: (week: number) => number;
  readonly before?: number;
  readonly after?: number;
}

function historyOf({ seed, perDay, share, before = 8, after = 12 }: History): Weeks {
  const random = new Random(seed);
  const weekAt = (week: number): Week =>
    DAYS.map((size, day) => {
      const of = Math.round(perDay * size * (0.8 + 0.4 * random.next()));
      const chance = Math.min(0.95, share(week + day / 7) * RATES[day]!);
      return { with: Array.from({ length: of }).filter(() => random.next() < chance).length, of };
    });
  return {
    before: Array.from({ length: before }, (_, at) => weekAt(at - before)),
    after: Array.from({ length: after }, (_, at) => weekAt(at)),
  };
}

function verdictsOf(histories: readonly Weeks[]): Partial<Record<EffectVerdict, number>> {
  const found: Partial<Record<EffectVerdict, number>> = {};
  for (const history of histories) {
    const { verdict } = effectOf(history);
    found[verdict] = (found[verdict] ?? 0) + 1;
  }
  return found;
}

function many(count: number, history: Omit<History, 'seed'>): Weeks[] {
  return Array.from({ length: count }, (_, seed) => historyOf({ seed: seed + 1, ...history }));
}

/** Histories of each kind in which nothing changes. */
const STEADY = isLong ? 250 : 80;

describe('the effect of a change', () => {
  it('is told in planted histories', () => {
    const plain = { perDay: 100 } as const;
    const fixed = many(20, { ...plain, share: (week) => (week < 0 ? 0.06 : 0.006) });
    deepEqual(verdictsOf(fixed), { HELPED: 20 });
    const back = many(20, { ...plain, share: (week) => (week < 0 || week >= 6 ? 0.06 : 0.006) });
    deepEqual(verdictsOf(back), { CAME_BACK: 20 });
    const worse = many(20, { ...plain, share: (week) => (week < 0 ? 0.03 : 0.12) });
    deepEqual(verdictsOf(worse), { WORSE: 20 });
    // It fades for ten weeks before and after, as what belongs to a season does.
    const season = many(20, { ...plain, share: (week) => 0.06 * Math.exp(-0.12 * (week + 8)) });
    const told = verdictsOf(season);
    equal((told.AS_USUAL ?? 0) + (told.NO_DIFFERENCE ?? 0), 20, JSON.stringify(told));
  });

  it('is none in at least 95 % of histories in which nothing changes, however few the weeks', () => {
    for (const [perDay, share, before] of [
      [15, 0.06, 8],
      [60, 0.02, 4],
      [60, 0.06, 1],
      [150, 0.04, 8],
    ] as const) {
      const told = verdictsOf(many(STEADY, { perDay, share: () => share, before }));
      const said = STEADY - (told.NO_DIFFERENCE ?? 0) - (told.NOTHING_BEFORE ?? 0);
      ok(said <= 0.05 * STEADY, `${perDay} a day, ${share}: ${JSON.stringify(told)}`);
    }
  });

  it('is the usual one where a year before it changed as much', () => {
    const share = (week: number): number => (week < 0 ? 0.06 : 0.012);
    const [now, then, steady] = [
      historyOf({ seed: 5, perDay: 100, share }),
      historyOf({ seed: 6, perDay: 80, share }),
      historyOf({ seed: 7, perDay: 80, share: () => 0.06 }),
    ];
    equal(effectOf(now).verdict, 'HELPED');
    equal(effectOf(now, then).verdict, 'AS_USUAL');
    equal(effectOf(now, steady).verdict, 'HELPED');
  });

  it('follows from whole weeks: later ones do not change what was told, but for what comes back', () => {
    const history = historyOf({ seed: 9, perDay: 100, share: (week) => (week < 0 ? 0.06 : 0.006) });
    const after = (weeks: number): EffectVerdict =>
      effectOf({ ...history, after: history.after.slice(0, weeks) }).verdict;
    deepEqual([0, 1, 2, 12].map(after), ['TOO_EARLY', 'HELPED', 'HELPED', 'HELPED']);
  });

  it('says from when on something comes back', () => {
    const share = (week: number): number => (week < 0 || week >= 6 ? 0.06 : 0.006);
    const { again, chance } = effectOf(historyOf({ seed: 3, perDay: 100, share }));
    ok(again !== null && again.from < again.to && again.to >= 7 && again.to <= 8, JSON.stringify(again));
    ok(chance !== null && chance < 0.0125);
  });

  it('is told no more once the share of four weeks lies on the other side', () => {
    const weekOf = (found: number): Week => Array.from({ length: 7 }, () => ({ with: found, of: 100 }));
    const before = Array.from({ length: 8 }, () => weekOf(6));
    const told = (weeks: readonly number[]): EffectVerdict =>
      effectOf({ before, after: weeks.map(weekOf) }).verdict;
    equal(told([14]), 'WORSE');
    equal(told([14, 6]), 'WORSE');
    equal(told([14, 3, 3, 3]), 'NO_DIFFERENCE');
    equal(told([14, 3, 3, 4]), 'NO_DIFFERENCE');
    equal(told([1, 9, 10, 10]), 'CAME_BACK');
  });

  it('says that it comes back although a trend explains why it fell', () => {
    // Two weeks before cannot tell a step from a trend.
    const share = (week: number): number => (week < 0 ? 0.08 : week < 6 ? 0.02 : 0.08);
    const history = historyOf({ seed: 7, perDay: 40, share, before: 2 });
    equal(effectOf({ ...history, after: history.after.slice(0, 5) }).verdict, 'AS_USUAL');
    equal(effectOf(history).verdict, 'CAME_BACK');
  });

  it('is nothing where it did not occur before, and too early without a week', () => {
    const history = historyOf({ seed: 4, perDay: 50, share: () => 0 });
    deepEqual(effectOf(history), { verdict: 'NOTHING_BEFORE', chance: null, again: null });
    // Such as of a change that is to come.
    equal(effectOf({ ...history, after: [] }).verdict, 'TOO_EARLY');
    const { before } = historyOf({ seed: 4, perDay: 50, share: () => 0.1 });
    deepEqual(effectOf({ before, after: [] }), { verdict: 'TOO_EARLY', chance: null, again: null });
  });
});

describe('the difference of two shares', () => {
  it('has the interval of a published example', () => {
    // R. G. Newcombe, Stat. Med. 17, 1998, table II, method 10: 56/70 less 48/80.
    const { share, low, high } = differenceOf({ with: 56, of: 70 }, { with: 48, of: 80 });
    deepEqual(
      [share, low, high].map((value) => value.toFixed(4)),
      ['0.2000', '0.0524', '0.3339'],
    );
    const none = differenceOf({ with: 0, of: 10 }, { with: 0, of: 10 });
    deepEqual(
      [none.low, none.share, none.high].map((value) => value.toFixed(4)),
      ['-0.2775', '0.0000', '0.2775'],
    );
  });
});
