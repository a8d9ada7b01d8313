/** Resident memory of a process at a time of the run. */
export interface MemorySample {
  readonly seconds: number;
  readonly mb: number;
}

/** Samples of each process, by its name, oldest first. */
export type Memory = ReadonlyMap<string, readonly MemorySample[]>;

/** How memory went in the second half of a run: a straight line through its samples. */
export interface Trend {
  readonly fromMb: number;
  readonly toMb: number;
  readonly mbPerHour: number;
  readonly peakMb: number;
}

/** What a line may rise over half of a run and still be called flat: a share of where it began, but at least so much. */
const GROWTH = 0.1;
const GROWTH_MB = 32;
/** A line through fewer samples tells nothing. */
const LEAST_SAMPLES = 12;

/** Null for a run too short to tell. */
export function trendOf(samples: readonly MemorySample[]): Trend | null {
  const middle = ((samples[0]?.seconds ?? 0) + (samples.at(-1)?.seconds ?? 0)) / 2;
  const half = samples.filter(({ seconds }) => seconds >= middle);
  if (half.length < LEAST_SAMPLES) return null;
  const mean = (of: (sample: MemorySample) => number): number =>
    half.reduce((sum, sample) => sum + of(sample), 0) / half.length;
  const [at, mb] = [mean(({ seconds }) => seconds), mean((sample) => sample.mb)];
  const spread = mean(({ seconds }) => (seconds - at) ** 2);
  const slope = mean((sample) => (sample.seconds - at) * (sample.mb - mb)) / spread;
  const lineAt = (seconds: number): number => mb + slope * (seconds - at);
  return {
    fromMb: lineAt(half[0]?.seconds ?? 0),
    toMb: lineAt(half.at(-1)?.seconds ?? 0),
    mbPerHour: slope * 3600,
    peakMb: Math.max(...samples.map((sample) => sample.mb)),
  };
}

export function isFlat({ fromMb, toMb }: Trend): boolean {
  return toMb - fromMb <= Math.max(GROWTH_MB, fromMb * GROWTH);
}
