/**
 * How a benchmark compares with its alternative, measured in the same run: each ratio by name, once for each of
 * `times`. More is better. Quick: seconds, not minutes.
 */
export type Ratios = (options: {
  readonly times: number;
  /** Folder for the histories that benchmarks share. */
  readonly keep: string;
}) => Promise<Readonly<Record<string, readonly number[]>>>;

/** The middle one; of an even number the upper. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
