import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  chanceOf,
  chanceOfStrata,
  significant,
  type Stratum,
} from '../../../src/query/changes/significance.ts';
import { randomFrom } from '../../../tools/bench/load/questions.ts';
import { isLong } from '../../support/long.ts';

const chance = (a: number, of: number, b: number, ofB: number): number =>
  chanceOf({ with: a, of }, { with: b, of: ofB });
const near = (found: number, expected: number, relative: number): void =>
  ok(Math.abs(found / expected - 1) < relative, `${found}, expected ${expected}`);

describe('the chance of two shares', () => {
  it("is that of Fisher's exact test", () => {
    // The tea-tasting lady, and examples of R's fisher.test.
    near(chance(3, 4, 1, 4), 0.4857142857, 1e-6);
    near(chance(4, 4, 0, 4), 0.0285714286, 1e-6);
    near(chance(2, 12, 10, 12), 0.0033307, 1e-3);
    near(chance(8, 10, 1, 6), 0.034965035, 1e-3);
    deepEqual([chance(0, 10, 0, 10), chance(10, 10, 5, 5), chance(3, 3, 0, 0)], [1, 1, 1]);
  });

  it('is the same whichever comes first, and goes on without a step where it is approximated', () => {
    near(chance(40, 900, 70, 1100), chance(70, 1100, 40, 900), 1e-9);
    // 5,000 sessions with it are still exact, 5,002 are not.
    near(chance(2440, 100_000, 2560, 100_000), chance(2441, 100_000, 2561, 100_000), 0.05);
    near(chance(2300, 100_000, 2700, 100_000), chance(2301, 100_000, 2701, 100_000), 0.05);
    // Far out it stays a number.
    ok(chance(50_000, 100_000, 10_000, 100_000) < 1e-100);
  });
});

describe('changes that are not chance', () => {
  it('are those that hold for as many as were looked at', () => {
    deepEqual(significant([0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
    deepEqual(significant([0.02, 0.03], 0.05), [true, true]);
    deepEqual(significant([], 0.05), []);
  });

  it('are listed in at most one of twenty answers while sessions are shuffled between the periods', () => {
    const random = randomFrom(7);
    const runs = 1000;
    let alarms = 0;
    for (let run = 0; run < runs; run += 1) {
      // Forty topics of very different sizes; each session is of either period by chance.
      const counts = Array.from({ length: 40 }, () => ({ now: 0, before: 0 }));
      const all = { now: 0, before: 0 };
      for (let session = 0; session < 400; session += 1) {
        const period = random() < 0.4 ? 'now' : 'before';
        const topic = counts[Math.floor(40 * random() ** 3)];
        all[period] += 1;
        if (topic !== undefined) topic[period] += 1;
      }
      const chances = counts.map(({ now, before }) => chance(now, all.now, before, all.before));
      if (significant(chances, 0.05).includes(true)) alarms += 1;
    }
    // The test is exact, so it errs on the safe side; three standard errors above the level are allowed.
    ok(alarms / runs <= 0.05 + 3 * Math.sqrt((0.05 * 0.95) / runs), `${alarms} of ${runs}`);
    ok(alarms > 0, 'it is never wrong: it says nothing');
  });
});

describe('the chance of shares that are compared day by day', () => {
  const stratum = (a: number, ofA: number, b: number, ofB: number): Stratum => ({
    a: { with: a, of: ofA },
    b: { with: b, of: ofB },
  });
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);

  it("is Fisher's for one day, and that of all ways to deal out the days for several", () => {
    near(chanceOfStrata([stratum(8, 10, 1, 6)]), chance(8, 10, 1, 6), 1e-9);
    near(
      chanceOfStrata([stratum(8, 10, 1, 6), stratum(0, 5, 0, 7), stratum(3, 3, 0, 0)]),
      chance(8, 10, 1, 6),
      1e-9,
    );
    const days = [
      [3, 5, 1, 6],
      [2, 4, 0, 3],
      [4, 6, 2, 5],
    ] as const;
    // Every split of each day's sessions with the property over both groups.
    const ways = new Map<number, number>();
    const deal = (day: number, sum: number, weight: number): void => {
      const [a, ofA, b, ofB] = days[day] ?? [0, 0, 0, 0];
      if (days[day] === undefined) ways.set(sum, (ways.get(sum) ?? 0) + weight);
      else
        for (let k = Math.max(0, a + b - ofB); k <= Math.min(a + b, ofA); k += 1)
          deal(day + 1, sum + k, weight * choose(ofA, k) * choose(ofB, a + b - k));
    };
    deal(0, 0, 1);
    const all = [...ways.values()].reduce((sum, weight) => sum + weight, 0);
    const observed = ways.get(9)!;
    const asFar = [...ways.values()]
      .filter((weight) => weight <= observed)
      .reduce((sum, weight) => sum + weight, 0);
    near(chanceOfStrata(days.map(([a, ofA, b, ofB]) => stratum(a, ofA, b, ofB))), asFar / all, 1e-9);
  });

  it('is no less where it is approximated, and stays a number', () => {
    const days = (a: number, b: number): Stratum[] =>
      Array.from({ length: 20 }, (_, day) => stratum(a + (day % 3), 400, b + (day % 2), 300));
    // 480 to 520 sessions with it: both ways of counting tell about the same.
    const [exact, approximate] = [chanceOfStrata(days(13, 9)), chanceOfStrata(days(14, 10))];
    ok(
      exact > 0 && approximate > 0 && Math.abs(Math.log10(exact / approximate)) < 1,
      `${exact}, ${approximate}`,
    );
    ok(chanceOfStrata(days(300, 10)) < 1e-100);
  });

  it('finds nothing in at most one of twenty comparisons of like values, however one is rolled out', () => {
    const random = randomFrom(11);
    const runs = isLong ? 1000 : 250;
    let [alarms, unstratified] = [0, 0];
    for (let run = 0; run < runs; run += 1) {
      const topics = Array.from({ length: 20 }, () => ({ days: [] as Stratum[], a: 0, b: 0 }));
      const all = { a: 0, b: 0 };
      for (let day = 0; day < 14; day += 1) {
        // The new version takes over, while the topics of the season change.
        const [ofA, ofB] = [2 + 2 * day, 30 - 2 * day];
        all.a += ofA;
        all.b += ofB;
        for (const [index, topic] of topics.entries()) {
          const share = 0.02 + (0.2 * (index % 2 === 0 ? day : 13 - day)) / 13;
          const drawn = (of: number): number =>
            Array.from({ length: of }).filter(() => random() < share).length;
          const [a, b] = [drawn(ofA), drawn(ofB)];
          topic.days.push(stratum(a, ofA, b, ofB));
          topic.a += a;
          topic.b += b;
        }
      }
      if (
        significant(
          topics.map(({ days }) => chanceOfStrata(days)),
          0.05,
        ).includes(true)
      )
        alarms += 1;
      if (
        significant(
          topics.map(({ a, b }) => chance(a, all.a, b, all.b)),
          0.05,
        ).includes(true)
      )
        unstratified += 1;
    }
    ok(alarms / runs <= 0.05 + 3 * Math.sqrt((0.05 * 0.95) / runs), `${alarms} of ${runs}`);
    ok(alarms > 0, 'it is never wrong: it says nothing');
    ok(unstratified > runs / 2, `without days it is wrong ${unstratified} times`);
  });

  it('finds twenty of twenty planted differences', () => {
    const random = randomFrom(5);
    const drawn = (of: number, share: number): number =>
      Array.from({ length: of }).filter(() => random() < share).length;
    const planted = Array.from({ length: 20 }, () =>
      Array.from({ length: 14 }, () => stratum(drawn(40, 0.25), 40, drawn(30, 0.1), 30)),
    );
    const others = Array.from({ length: 60 }, () =>
      Array.from({ length: 14 }, () => stratum(drawn(40, 0.1), 40, drawn(30, 0.1), 30)),
    );
    const found = significant([...planted, ...others].map(chanceOfStrata), 0.05);
    deepEqual([found.slice(0, 20).filter(Boolean).length, found.slice(20).filter(Boolean).length], [20, 0]);
  });
});
