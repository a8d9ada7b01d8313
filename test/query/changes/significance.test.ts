import { deepEqual, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chanceOf, significant } from '../../../src/query/changes/significance.ts';
import { randomFrom } from '../../../tools/bench/load/questions.ts';

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
