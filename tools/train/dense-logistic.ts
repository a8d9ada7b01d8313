/**
 * Logistic regression over a few dense features, by Newton's method; deterministic.
 * Covered by test/tools/train/dense-logistic.test.ts.
 */

export interface DenseExample {
  readonly features: readonly number[];
  readonly positive: boolean;
  /** How much the example counts. */
  readonly weight: number;
}

const STEPS = 25;
/** Keeps the matrix regular where a feature never changes, and hardly pulls the bias. */
const LEAST = 1e-6;
/** Log-odds beyond which a probability is 0 or 1 for all purposes. */
const MOST = 30;

/** The weights that fit best. `l2` pulls each weight, times the deviation of its feature, to zero. */
export function fitDense(
  examples: readonly DenseExample[],
  l2: number,
): { readonly weights: number[]; readonly bias: number } {
  const size = examples[0]!.features.length;
  const deviations = Array.from(
    { length: size },
    (_, at) => deviationOf(examples.map(({ features }) => features[at]!)) + LEAST,
  );
  const rows = examples.map(({ features }) => [1, ...features.map((value, at) => value / deviations[at]!)]);
  let weights: number[] = Array.from({ length: size + 1 }, () => 0);
  for (let step = 0; step < STEPS; step += 1) {
    const gradient = weights.map((weight, at) => weight * (at === 0 ? LEAST : l2));
    const matrix = weights.map((_, at) =>
      weights.map((__, other) => (at !== other ? 0 : at === 0 ? LEAST : l2)),
    );
    rows.forEach((row, index) => {
      const { positive, weight } = examples[index]!;
      const odds = row.reduce((sum, value, at) => sum + value * weights[at]!, 0);
      const likely = 1 / (1 + Math.exp(-Math.max(-MOST, Math.min(MOST, odds))));
      const error = weight * (likely - Number(positive));
      const curvature = weight * likely * (1 - likely);
      for (let at = 0; at <= size; at += 1) {
        const value = row[at]!;
        if (value === 0) continue;
        gradient[at]! += error * value;
        for (let other = 0; other <= size; other += 1) matrix[at]![other]! += curvature * value * row[other]!;
      }
    });
    const change = solve(matrix, gradient);
    weights = weights.map((weight, at) => weight - change[at]!);
  }
  return { weights: weights.slice(1).map((weight, at) => weight / deviations[at]!), bias: weights[0]! };
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/** Gaussian elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [...row, right[at]!]);
  const size = right.length;
  for (let at = 0; at < size; at += 1) {
    let pivot = at;
    for (let other = at + 1; other < size; other += 1)
      if (Math.abs(rows[other]![at]!) > Math.abs(rows[pivot]![at]!)) pivot = other;
    [rows[at], rows[pivot]] = [rows[pivot]!, rows[at]!];
    for (let other = at + 1; other < size; other += 1) {
      const factor = rows[other]![at]! / rows[at]![at]!;
      for (let column = at; column <= size; column += 1) rows[other]![column]! -= factor * rows[at]![column]!;
    }
  }
  const solution: number[] = right.map(() => 0);
  for (let at = size - 1; at >= 0; at -= 1) {
    let value = rows[at]![size]!;
    for (let column = at + 1; column < size; column += 1) value -= rows[at]![column]! * solution[column]!;
    solution[at] = value / rows[at]![at]!;
  }
  return solution;
}
