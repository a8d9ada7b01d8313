/**
 * How a benchmark compares with its alternative, measured in the same run: each ratio by name, once for each of
 * `times`. More is better. Quick: seconds, not minutes.
 */
export type Ratios = (options: {
  readonly times: number;
  /** Folder for the histories that benchmarks share. */
  readonly keep: string;
}) => Promise<Readonly<Record<string, readonly number[]>>>;

/** Milliseconds of processor time that this process has used: what else the machine does hardly changes it. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const WARM_UP_MS = 500;

/** How many times less processor time `ours` takes than `theirs`, which take turns once both are warm. */
export async function timesFaster(ours: () => unknown, theirs: () => unknown): Promise<number> {
  const taken = { ours: 0, theirs: 0 };
  const sides = [
    ['ours', ours],
    ['theirs', theirs],
  ] as const;
  for (const [, work] of sides) {
    const warmAt = processorMs() + WARM_UP_MS;
    while (processorMs() < warmAt) await work();
  }
  for (let turn = 0; turn < 10; turn += 1) {
    for (const [name, work] of sides) {
      const before = processorMs();
      await work();
      taken[name] += processorMs() - before;
    }
  }
  return taken.theirs / taken.ours;
}

/** The latency that this share of them, 0 to 1, did not exceed; 0 without any. */
export function latencyAt(latencies: readonly number[], share: number): number {
  const sorted = latencies.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** The number that has this share of them below it, from 0 to less than 1. */
export function quantile(numbers: readonly number[], share: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * share)] ?? 0;
}

/** The middle one; of an even number the upper. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}
