/**
 * How a benchmark compares with its alternative, measured in the same run: each ratio by name, once for each of
 * `times`. More is better. Quick: seconds, not minutes.
 */
export type Ratios = (options: {
  readonly times: number;
  /** Folder for the histories that benchmarks share. */
  readonly keep: string;
}) => Promise<Readonly<Record<string, readonly number[]>>>;

/**
 * How many times faster `ours` is than `theirs`, each at its fastest: they take turns, so that what else the machine
 * does meets both. The first turns only warm up.
 */
export async function timesFaster(ours: () => unknown, theirs: () => unknown, turns = 12): Promise<number> {
  const fastest = { ours: Infinity, theirs: Infinity };
  for (let turn = -2; turn < turns; turn += 1) {
    for (const [name, work] of [
      ['ours', ours],
      ['theirs', theirs],
    ] as const) {
      const startedAt = performance.now();
      await work();
      if (turn >= 0) fastest[name] = Math.min(fastest[name], performance.now() - startedAt);
    }
  }
  return fastest.theirs / fastest.ours;
}

/** The middle one; of an even number the upper. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
