import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { intervalOf, kappaOf, shareOf, type Interval, type Stratum } from '../../src/domain/checks.ts';

/** Numbers from 0 to 1, the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** Checks some of the sessions of a stratum, drawn without replacement, by a reviewer who errs with a likelihood. */
function reviewed(
  { sessions, truly, checks, error }: { sessions: number; truly: number; checks: number; error: number },
  next: () => number,
): Stratum {
  const checked = Math.min(checks, sessions);
  let [yes, left] = [0, truly];
  for (let drawn = 0; drawn < checked; drawn += 1) {
    const is = next() < left / (sessions - drawn);
    if (is) left -= 1;
    if (next() < error ? !is : is) yes += 1;
  }
  return { sessions, checked, yes };
}

/** Share of 2,000 simulated reviews whose interval holds the true share. Precision 0.9, recall 0.8. */
function coverage(rate: number, checks: number, error: number, seed: number): number {
  const next = numbers(seed);
  const [sessions, reviews] = [20_000, 2000];
  const truly = Math.round(sessions * rate);
  const hits = Math.round(truly * 0.8);
  const found = Math.round(hits / 0.9);
  let held = 0;
  const intervals = new Map<string, Interval>();
  for (let review = 0; review < reviews; review += 1) {
    const strata = [
      reviewed({ sessions: found, truly: hits, checks, error }, next),
      reviewed({ sessions: sessions - found, truly: truly - hits, checks, error }, next),
    ];
    const said = strata.map(({ yes }) => yes).join(' ');
    const { low, high } = intervals.get(said) ?? shareOf(strata, error)!;
    intervals.set(said, { share: 0, low, high });
    if (low <= truly / sessions && truly / sessions <= high) held += 1;
  }
  return held / reviews;
}

describe('intervals of checked shares', () => {
  it('hold the truth in 95 of 100 reviews or a few more: over rates, and by reviewers who err', () => {
    const all = [0, 0.05].flatMap((error) =>
      [0.005, 0.05, 0.4].flatMap((rate) =>
        [25, 50, 100, 250].map((checks, at) => coverage(rate, checks, error, 1 + at)),
      ),
    );
    const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
    ok(Math.abs(mean - 0.96) <= 0.01, `mean ${mean}`);
    // 0.935 of 20,000 reviews, less three standard errors of 2,000.
    for (const one of all) ok(one >= 0.92, String(all));
  });

  it('hold the numbers of sessions that make what was said likely, and no others', () => {
    const choose = (n: number, k: number): number =>
      k < 0 || k > n
        ? 0
        : Array.from({ length: k }).reduce<number>((all, _, at) => (all * (n - at)) / (at + 1), 1);
    for (const [sessions, checked] of [
      [5, 3],
      [12, 4],
      [12, 11],
      [40, 10],
      [300, 20],
    ] as const)
      for (let yes = 0; yes <= checked; yes += 1) {
        const likely = Array.from({ length: sessions + 1 }, (_, truly) => truly).filter((truly) => {
          const of = (said: number): number =>
            (choose(truly, said) * choose(sessions - truly, checked - said)) / choose(sessions, checked);
          const sum = (from: number, to: number): number =>
            Array.from({ length: Math.max(0, to - from) }, (_, at) => of(from + at)).reduce(
              (x, y) => x + y,
              0,
            );
          const half = of(yes) / 2;
          return half > 0 && sum(0, yes) + half > 0.025 && sum(yes + 1, checked + 1) + half > 0.025;
        });
        const { low, high } = intervalOf({ sessions, checked, yes })!;
        const share = yes / checked;
        const ends = [Math.min(share, likely[0]! / sessions), Math.max(share, likely.at(-1)! / sessions)];
        deepEqual([low, high], ends, `${yes} of ${checked} of ${sessions}`);
      }
  });

  it('are those of a binomial sample where sessions are endless', () => {
    const { low, high } = intervalOf({ sessions: 1e9, checked: 100, yes: 10 })!;
    const tails = (share: number): readonly [number, number] => {
      let [one, below, above] = [(1 - share) ** 100, 0, 0];
      for (let said = 0; said <= 100; said += 1) {
        if (said < 10) below += one;
        else if (said > 10) above += one;
        else [below, above] = [below + one / 2, above + one / 2];
        one *= ((100 - said) / (said + 1)) * (share / (1 - share));
      }
      return [below, above];
    };
    ok(Math.abs(tails(high)[0] - 0.025) < 1e-6 && Math.abs(tails(low)[1] - 0.025) < 1e-6);
  });

  it('know what was checked as a whole', () => {
    deepEqual(intervalOf({ sessions: 4, checked: 4, yes: 1 }), { share: 0.25, low: 0.25, high: 0.25 });
    deepEqual(
      shareOf([
        { sessions: 2, checked: 2, yes: 2 },
        { sessions: 2, checked: 2, yes: 0 },
      ]),
      { share: 0.5, low: 0.5, high: 0.5 },
    );
  });

  it('say nothing of what was not checked', () => {
    equal(intervalOf({ sessions: 5, checked: 0, yes: 0 }), null);
    equal(shareOf([{ sessions: 5, checked: 0, yes: 0 }]), null);
    equal(shareOf([]), null);
    // Nothing is unknown of no sessions.
    equal(
      shareOf([
        { sessions: 0, checked: 0, yes: 0 },
        { sessions: 5, checked: 5, yes: 5 },
      ])?.share,
      1,
    );
  });

  it('stay within 0 and 1, and take the errors of reviewers out', () => {
    for (const yes of [0, 10]) {
      const { share, low, high } = intervalOf({ sessions: 1000, checked: 10, yes }, 0.1)!;
      ok(low >= 0 && high <= 1 && low <= share && share <= high);
    }
    equal(intervalOf({ sessions: 1000, checked: 100, yes: 5 }, 0.05)!.share, 0);
  });
});

describe('agreement of two readers', () => {
  it("is Cohen's kappa", () => {
    // Cohen 1960 counts shares; these numbers are a textbook's: 35 of 50 agree, by chance 25 would.
    equal(kappaOf({ yesYes: 20, yesNo: 5, noYes: 10, noNo: 15 }), 0.4);
    equal(kappaOf({ yesYes: 3, yesNo: 0, noYes: 0, noNo: 4 }), 1);
    equal(kappaOf({ yesYes: 0, yesNo: 5, noYes: 5, noNo: 0 }), -1);
    equal(kappaOf({ yesYes: 5, yesNo: 0, noYes: 5, noNo: 0 }), 0);
  });

  it('is unknown where chance leaves nothing to agree on', () => {
    equal(kappaOf({ yesYes: 0, yesNo: 0, noYes: 0, noNo: 0 }), null);
    equal(kappaOf({ yesYes: 7, yesNo: 0, noYes: 0, noNo: 0 }), null);
    equal(kappaOf({ yesYes: 0, yesNo: 0, noYes: 0, noNo: 7 }), null);
  });
});
