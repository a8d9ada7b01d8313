/**
 * Tests if a share differs between two groups by more than chance: Fisher's exact test, two-sided, with Holm's
 * correction for many tests at once (R. A. Fisher, 1922; S. Holm, 1979).
 *
 * Test: test/query/changes/significance.test.ts.
 */

/** The sessions of a group with a property (`with`), of all (`of`). */
export interface Share {
  readonly with: number;
  readonly of: number;
}

/** Above this many sessions with the property in both groups, the normal approximation is as good. */
const EXACT = 5000;

/** Returns the p-value, 0 to 1: the probability of shares at least this far apart if both groups are alike. */
export function chanceOf(a: Share, b: Share): number {
  const withIt = a.with + b.with;
  const all = a.of + b.of;
  if (withIt === 0 || withIt === all || a.of === 0 || b.of === 0) return 1;
  return withIt <= EXACT ? exactInStrata([{ a, b }]) : approximate(a, b);
}

/** Marks the significant findings, so that the probability of any false one among them is at most `level` (Holm). */
export function significant(chances: readonly number[], level: number): boolean[] {
  const order = chances.map((_, index) => index).sort((x, y) => (chances[x] ?? 1) - (chances[y] ?? 1));
  const result = chances.map(() => false);
  for (const [rank, index] of order.entries()) {
    if ((chances[index] ?? 1) > level / (chances.length - rank)) break;
    result[index] = true;
  }
  return result;
}

/** z-test of two proportions with Yates' correction. */
function approximate(a: Share, b: Share): number {
  const share = (a.with + b.with) / (a.of + b.of);
  const deviation = Math.sqrt(share * (1 - share) * (1 / a.of + 1 / b.of));
  const correction = (1 / a.of + 1 / b.of) / 2;
  const difference = Math.max(0, Math.abs(a.with / a.of - b.with / b.of) - correction);
  return twoSidedTail(difference / deviation);
}

/**
 * Returns the probability beyond ±z of a normal distribution, to a relative error of 1e-7 (W. H. Press et al.,
 * Numerical Recipes, 6.2).
 */
export function twoSidedTail(z: number): number {
  const t = 1 / (1 + z / Math.SQRT2 / 2);
  const polynomial = COEFFICIENTS.reduceRight((sum, coefficient) => sum * t + coefficient, 0);
  return Math.min(1, t * Math.exp((-z * z) / 2 - 1.26551223 + polynomial * t));
}

const COEFFICIENTS = [
  1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
  0.17087277,
];

/** The shares of two groups on one day. */
export interface Stratum {
  readonly a: Share;
  readonly b: Share;
}

/** Above this many sessions with the property, the normal approximation is as good, and much cheaper. */
const EXACT_IN_STRATA = 500;

/**
 * Returns the p-value of two shares that were compared day by day, so that neither weekdays nor a season nor a slow
 * roll-out make a difference: the exact test of a common odds ratio of 1 (J. J. Gart, 1970), for many sessions that of
 * Mantel and Haenszel (1959) with its correction. With one day it is Fisher's test.
 */
export function chanceOfStrata(strata: readonly Stratum[]): number {
  const telling = strata.filter(({ a, b }) => {
    const withIt = a.with + b.with;
    return a.of > 0 && b.of > 0 && withIt > 0 && withIt < a.of + b.of;
  });
  if (telling.length === 0) return 1;
  const [first] = telling;
  if (telling.length === 1 && first !== undefined) return chanceOf(first.a, first.b);
  const withIt = telling.reduce((sum, { a, b }) => sum + a.with + b.with, 0);
  return withIt <= EXACT_IN_STRATA ? exactInStrata(telling) : approximateInStrata(telling);
}

/** Sums the probabilities of all sums that are no likelier than the observed one. */
function exactInStrata(strata: readonly Stratum[]): number {
  let [chances, least, observed] = [[1], 0, 0];
  for (const { a, b } of strata) {
    const own = hypergeometric(a, b);
    const next = Array.from({ length: chances.length + own.chances.length - 1 }, () => 0);
    for (const [i, chance] of chances.entries())
      for (const [j, other] of own.chances.entries()) next[i + j]! += chance * other;
    chances = next;
    least += own.least;
    observed += a.with;
  }
  // Tolerance: rounding must not separate equally likely sums.
  const limit = (chances[observed - least] ?? 0) * (1 + 1e-7);
  return Math.min(
    1,
    chances.reduce((sum, chance) => (chance <= limit ? sum + chance : sum), 0),
  );
}

/** Returns the probabilities of the sessions with the property in group `a`, from the least possible number on. */
function hypergeometric(a: Share, b: Share): { readonly least: number; readonly chances: readonly number[] } {
  const withIt = a.with + b.with;
  const [least, most] = [Math.max(0, withIt - b.of), Math.min(withIt, a.of)];
  const logs: number[] = [0];
  for (let k = least; k < most; k += 1) {
    const ratio = ((a.of - k) * (withIt - k)) / ((k + 1) * (b.of - withIt + k + 1));
    logs.push((logs.at(-1) ?? 0) + Math.log(ratio));
  }
  const highest = Math.max(...logs);
  const weights = logs.map((log) => Math.exp(log - highest));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return { least, chances: weights.map((weight) => weight / all) };
}

function approximateInStrata(strata: readonly Stratum[]): number {
  let [difference, variance] = [0, 0];
  for (const { a, b } of strata) {
    const all = a.of + b.of;
    const withIt = a.with + b.with;
    difference += a.with - (withIt * a.of) / all;
    variance += (withIt * (all - withIt) * a.of * b.of) / (all * all * (all - 1));
  }
  return twoSidedTail(Math.max(0, Math.abs(difference) - 0.5) / Math.sqrt(variance));
}
