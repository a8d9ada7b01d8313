/**
 * Decides what the days before and after a change tell: did something come up less often since then, more often, or is
 * no difference larger than chance, weekdays and a season explain? Keeps the invariant that the answer follows from
 * whole weeks alone, so it changes at most once a week, and that all looks of these weeks together find by chance what
 * one test does.
 *
 * Test: test/query/effects/effect.test.ts.
 */
import type { EffectVerdict } from '../../domain/effects.ts';
import { chanceOfStrata, twoSidedTail, type Share } from '../changes/significance.ts';
import { FALSE_ALARMS } from '../changes/changes-schema.ts';

/** The sessions of each day that show it, of all; the same weekday stands at the same place in every week. */
export type Week = readonly Share[];

/** Whole weeks around a change, in the order of time; the day of the change is in neither. */
export interface Weeks {
  readonly before: readonly Week[];
  readonly after: readonly Week[];
}

/** What a trend or the year before must not explain more likely than this, in the direction of the change. */
const ONE_SIDED = FALSE_ALARMS / 2;
/** Weeks before a change that count. */
export const WEEKS_BEFORE = 8;
/** Weeks after it in which it has to show. */
export const WEEKS_AFTER = 4;
/** Weeks after it in which something can come back. */
export const WEEKS_WATCHED = 52;

export interface Effect {
  readonly verdict: EffectVerdict;
  /** How likely shares so far apart are if the change did nothing, 0 to 1; null: they cannot be compared. */
  readonly chance: number | null;
  /** CAME_BACK: the weeks after the change [from, to) in which it is more frequent again. */
  readonly again: { readonly from: number; readonly to: number } | null;
}

/**
 * Compares the weeks. `yearBefore`: the same weeks a year earlier, where sessions are known of them. Of `before` and
 * `after` the weeks nearest to the change count, to WEEKS_BEFORE and WEEKS_WATCHED. What an early look found is told only
 * as long as the share of all weeks to WEEKS_AFTER lies on the same side, or it came back.
 */
export function effectOf(weeks: Weeks, yearBefore: Weeks | null = null): Effect {
  const before = weeks.before.slice(-WEEKS_BEFORE);
  const after = weeks.after.slice(0, WEEKS_WATCHED);
  const none = { chance: null, again: null };
  if (after.length === 0) return { verdict: 'TOO_EARLY', ...none };
  if (totalOf(before).with === 0) return { verdict: 'NOTHING_BEFORE', ...none };
  const all = shareIn(after.slice(0, WEEKS_AFTER));
  let found: Effect | null = null;
  let fallen: Effect | null = null;
  for (let many = 1; many <= Math.min(WEEKS_AFTER, after.length); many += 1) {
    const since = after.slice(0, many);
    const chance = chanceOfWeeks(since, before);
    const isLess = shareIn(since) < shareIn(before);
    found = { verdict: 'NO_DIFFERENCE', chance, again: null };
    if (chance > FALSE_ALARMS / WEEKS_AFTER) continue;
    const isUsual =
      stepChance(before, since, isLess) > ONE_SIDED ||
      (yearBefore !== null && isAsBefore({ before, after: since }, yearBefore, isLess));
    const told: Effect = isLess ? cameBack(after, many, chance) : { ...found, verdict: 'WORSE' };
    if (isLess) fallen ??= told;
    if (isUsual) found = { ...found, verdict: 'AS_USUAL' };
    else if (told.again !== null || (isLess ? all < shareIn(before) : all > shareIn(before))) return told;
  }
  // What fell for whatever reason and rises again is told.
  if (found?.verdict === 'AS_USUAL' && fallen !== null && fallen.again !== null) return fallen;
  return found ?? { verdict: 'TOO_EARLY', ...none };
}

/** Looks week by week for a time, of at most WEEKS_AFTER weeks, in which what fell is more frequent than since the change. */
function cameBack(after: readonly Week[], told: number, chance: number): Effect {
  for (let to = told + 1; to <= after.length; to += 1) {
    const look = to - told;
    const from = Math.max(told, to - WEEKS_AFTER);
    const [since, again] = [after.slice(0, from), after.slice(from, to)];
    if (shareIn(again) <= shareIn(since)) continue;
    // Endless looks at these levels have FALSE_ALARMS together.
    if (chanceOfWeeks(again, since) <= FALSE_ALARMS / (look * (look + 1)))
      return { verdict: 'CAME_BACK', chance, again: { from, to } };
  }
  return { verdict: 'HELPED', chance, again: null };
}

/** The test of the changes, weekday by weekday. */
function chanceOfWeeks(a: readonly Week[], b: readonly Week[]): number {
  return chanceOfStrata(Array.from({ length: 7 }, (_, day) => ({ a: totalOf(a, day), b: totalOf(b, day) })));
}

/** The sessions of one day of all weeks, or of all days. */
function totalOf(weeks: readonly Week[], day: number | null = null): Share {
  const total = { with: 0, of: 0 };
  for (const week of weeks)
    for (const [at, share] of week.entries()) {
      if (day !== null && at !== day) continue;
      total.with += share.with;
      total.of += share.of;
    }
  return total;
}

function shareIn(weeks: readonly Week[]): number {
  const { with: found, of } = totalOf(weeks);
  return of === 0 ? 0 : found / of;
}

/**
 * How likely a step so large, in this direction, is if only a steady trend goes on from week to week: the likelihood ratio
 * of two logistic regressions (S. S. Wilks, 1938), one with a trend, the other with a trend and a step. 0 where fewer than
 * two weeks before have sessions: no trend is known then.
 */
function stepChance(before: readonly Week[], after: readonly Week[], isLess: boolean): number {
  const points = [...before, ...after].map((week, at) => ({
    ...totalOf([week]),
    at: at - before.length,
    step: at < before.length ? 0 : 1,
  }));
  if (before.filter((week) => totalOf([week]).of > 0).length < 2) return 0;
  const [trend, both] = [fit(points, false), fit(points, true)];
  if (both.step < 0 !== isLess) return 1;
  return halfTail(Math.sqrt(Math.max(0, 2 * (both.log - trend.log))));
}

interface Point extends Share {
  readonly at: number;
  readonly step: number;
}

const ROUNDS = 60;
/** Log odds beyond this are as good as certain. */
const STEEPEST = 12;

/** Fits log odds = a + b · at (+ c · step) by damped Newton steps; returns the log-likelihood and c. */
function fit(points: readonly Point[], hasStep: boolean): { readonly log: number; readonly step: number } {
  const all = totalOf([points]);
  const scale = Math.max(1, points.length);
  const rowOf = ({ at, step }: Point): number[] => [1, at / scale, ...(hasStep ? [step] : [])];
  const rows = points.map(rowOf);
  const logOf = (beta: readonly number[]): number =>
    points.reduce((sum, point, index) => {
      const odds = dot(rows[index]!, beta);
      return sum + point.with * odds - point.of * softplus(odds);
    }, 0);
  let beta = rows[0]!.map((_, index) =>
    index === 0 ? Math.log((all.with + 0.5) / (all.of - all.with + 0.5)) : 0,
  );
  let log = logOf(beta);
  for (let round = 0; round < ROUNDS; round += 1) {
    const gradient = beta.map(() => 0);
    const curvature = beta.map((_, i) => beta.map((__, j) => (i === j ? 1e-9 : 0)));
    for (const [index, { with: found, of }] of points.entries()) {
      const row = rows[index]!;
      const share = 1 / (1 + Math.exp(-dot(row, beta)));
      for (const [i, x] of row.entries()) {
        gradient[i]! += x * (found - of * share);
        for (const [j, y] of row.entries()) curvature[i]![j]! += x * y * of * share * (1 - share);
      }
    }
    const move = solved(curvature, gradient);
    let [part, next, nextLog] = [1, beta, log];
    do {
      const factor = part;
      next = beta.map((value, index) => value + factor * move[index]!);
      nextLog = logOf(next);
      part /= 2;
    } while (nextLog < log && part > 1e-4);
    if (nextLog - log < 1e-9 || Math.abs(next.at(-1)!) > STEEPEST * scale) break;
    [beta, log] = [next, nextLog];
  }
  return { log, step: hasStep ? beta[2]! : 0 };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}

/** log(1 + e^x) without overflow. */
function softplus(x: number): number {
  return x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x));
}

/** Solves a symmetric positive system of at most three unknowns by Gauss's elimination. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index]!]);
  for (const [at, pivot] of rows.entries())
    for (const row of rows) {
      if (row === pivot) continue;
      const factor = row[at]! / pivot[at]!;
      for (let column = at; column < row.length; column += 1) row[column]! -= factor * pivot[column]!;
    }
  return rows.map((row, at) => row.at(-1)! / row[at]!);
}

/**
 * Returns true if it changed a year before, too, in the same direction and not by chance, and the change is no larger now:
 * the z-test of two log odds ratios (B. Woolf, 1955, with the half of J. B. S. Haldane, 1956).
 */
function isAsBefore(now: Weeks, then: Weeks, isLess: boolean): boolean {
  const earlier = {
    before: then.before.slice(-WEEKS_BEFORE),
    after: then.after.slice(0, now.after.length),
  };
  if (shareIn(earlier.after) < shareIn(earlier.before) !== isLess) return false;
  if (chanceOfWeeks(earlier.after, earlier.before) > FALSE_ALARMS) return false;
  const [a, b] = [oddsRatio(now), oddsRatio(earlier)];
  const z = (a.log - b.log) / Math.sqrt(a.variance + b.variance);
  return halfTail(isLess ? -z : z) > ONE_SIDED;
}

function oddsRatio({ before, after }: Weeks): { readonly log: number; readonly variance: number } {
  const cells = [totalOf(after), totalOf(before)].flatMap((share) => [
    share.with + 0.5,
    share.of - share.with + 0.5,
  ]) as [number, number, number, number];
  const [a, b, c, d] = cells;
  return { log: Math.log((a * d) / (b * c)), variance: 1 / a + 1 / b + 1 / c + 1 / d };
}

/** The probability beyond z of a normal distribution. */
function halfTail(z: number): number {
  return z >= 0 ? twoSidedTail(z) / 2 : 1 - twoSidedTail(-z) / 2;
}

/** The difference of two shares, with the ends of an interval that holds the truth with a confidence of 95 %. */
export interface ShareDifference {
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

const Z = 1.959964;

/** Returns a less b, with an interval made of those of E. B. Wilson (R. G. Newcombe, Stat. Med. 17, 1998, method 10). */
export function differenceOf(a: Share, b: Share): ShareDifference {
  const [one, other] = [wilson(a), wilson(b)];
  const share = one.share - other.share;
  return {
    share,
    low: share - Math.hypot(one.share - one.low, other.high - other.share),
    high: share + Math.hypot(one.high - one.share, other.share - other.low),
  };
}

function wilson({ with: found, of }: Share): ShareDifference {
  const share = found / of;
  const middle = (found + Z ** 2 / 2) / (of + Z ** 2);
  const half = (Z / (of + Z ** 2)) * Math.sqrt(found * (1 - share) + Z ** 2 / 4);
  return { share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}
