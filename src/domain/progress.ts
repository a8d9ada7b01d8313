/**
 * The interface of progress reports of commands, and the formats of their numbers.
 *
 * Test: test/cli/progress.test.ts.
 */

/** Reports the progress of a command: a bar on a terminal, elsewhere a plain line every ten seconds. */
export interface Progress {
  /** Begins a stretch of work and ends the one before. */
  begin(stretch: Stretch): void;
  update(standing: Standing): void;
  end(): void;
  /** Prints a line above the bar, if there is one. The text may contain external text. */
  line(text: string): void;
}

export interface Stretch {
  readonly title: string;
  /** Start of the stretch; default 0. */
  readonly from?: number;
  /** End of the stretch, in the unit of `done`. */
  readonly to: number;
  /** Start of `counted`; default `from`. */
  readonly counted?: number;
  /** Formats the growth rate of `counted`. Left out: no rate is printed. */
  readonly rate?: (perSecond: number) => string;
}

/** Progress within a stretch. */
export interface Standing {
  readonly done: number;
  /** Extra text for the reader. */
  readonly details?: string;
  /** The quantity whose rate is printed; default: `done`. */
  readonly counted?: number;
}

/** Formats 1234567 as `1,234,567`. */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** Formats a number of things as `1 file` or `1,234 files`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/** Formats a rate as `1,234 messages/s`. */
export function messagesPerSecond(perSecond: number): string {
  return `${count(Math.round(perSecond))} messages/s`;
}

/** Formats a rate of bytes as `12.3 MB/s`. */
export function megabytesPerSecond(perSecond: number): string {
  return `${(perSecond / 1e6).toFixed(1)} MB/s`;
}

/** Formats milliseconds as `45 s`, `3 min 20 s` or `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
