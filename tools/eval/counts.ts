/** Counting and grouping, as most measurements need it. Covered by test/tools/eval/report.test.ts. */

/** How often each item occurs, in the order of first occurrence. */
export function countsOf<T>(items: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

/** The most frequent item; of equal ones the first. Null when there is none. */
export function mostCommon<T>(items: Iterable<T>): T | null {
  return [...countsOf(items)].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Share of true ones. */
export function shareOf(answers: readonly boolean[]): number {
  return answers.filter(Boolean).length / answers.length;
}

/** Numbers from 0 up to, not including, 1: the same for the same seed (Numerical Recipes' linear congruence). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Mean of the values that are known; NaN when none is. */
export function knownMean(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? Number.NaN : mean(known);
}
