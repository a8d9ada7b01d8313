/** Covered by test/cli/progress.test.ts. */
/** Tells whoever runs a command how far it is: a bar on a terminal, elsewhere a plain line every ten seconds. */
export interface Progress {
  /** Begins a stretch of work; one before it ends. */
  begin(stretch: Stretch): void;
  update(standing: Standing): void;
  /** Ends the stretch. */
  end(): void;
  /** Prints text of its own, above the bar where there is one; it may quote what came from outside. */
  line(text: string): void;
}

export interface Stretch {
  readonly title: string;
  /** Where it begins; default 0. */
  readonly from?: number;
  /** Where it ends, in the unit of `done`. */
  readonly to: number;
  /** Where `counted` begins; default `from`. */
  readonly counted?: number;
  /** Says in words how fast `counted` grows. Left out: the rate is not told. */
  readonly rate?: (perSecond: number) => string;
}

/** How far a stretch is. */
export interface Standing {
  readonly done: number;
  /** More about it, for people. */
  readonly details?: string;
  /** What the rate is of; default: `done`. */
  readonly counted?: number;
}

/** 1234567 as `1,234,567`. */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** A rate as `1,234 messages/s`. */
export function messagesPerSecond(perSecond: number): string {
  return `${count(Math.round(perSecond))} messages/s`;
}

/** A rate of bytes as `12.3 MB/s`. */
export function megabytesPerSecond(perSecond: number): string {
  return `${(perSecond / 1e6).toFixed(1)} MB/s`;
}

/** Milliseconds as `45 s`, `3 min 20 s` or `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
