import { deepEqual, equal } from 'node:assert/strict';
import type { LoadFigures } from './load.ts';
import type { Stack } from './stack.ts';

/** What a run asks of a fault. */
export interface FaultOptions {
  /**
   * The long form does all that the fault knows, under a heavy load; the short one its main cases, under a light
   * one.
   */
  readonly long: boolean;
  readonly rounds: number;
  /** How long a server is away, or a load lasts, where the fault has such a time. */
  readonly seconds: number;
  readonly seed: number;
  /** Told what happens as it happens. */
  readonly say: (sentence: string) => void;
  /** Parts of the fault that are to run, by name (default: all). */
  readonly only?: readonly string[];
  /** A load that two cores carry with all processes, so that times to recovery are those of the faults. */
  readonly isLight?: boolean;
  /** A service that is left running; else the fault starts one of its own. */
  readonly given?: Stack;
}

/** As the tests run a fault. */
export const SHORT: FaultOptions = { long: false, rounds: 1, seconds: 0, seed: 1, say: () => undefined };

/** What came of it. */
export interface Figures {
  rounds: number;
  kills: number;
  /** Messages of requests that were answered with 200. */
  accepted: number;
  counted: number;
  wrong: string[];
  /** Milliseconds, by what had to recover. */
  readonly recovery: Record<string, number[]>;
}

export function noFigures(): Figures {
  return { rounds: 0, kills: 0, accepted: 0, counted: 0, wrong: [], recovery: {} };
}

export function addLoad(figures: Figures, load: LoadFigures): void {
  figures.accepted += load.accepted;
  figures.counted += load.counted;
  figures.wrong.push(...load.wrong);
}

export function recovered(figures: Figures, what: string, ms: number): void {
  (figures.recovery[what] ??= []).push(Math.round(ms));
}

/** Nothing lost, nothing twice, nothing wrong. */
export function nothingWrong({ accepted, counted, wrong }: Figures): void {
  deepEqual(wrong.slice(0, 10), []);
  equal(counted, accepted);
}

/** Time to recovery of each kind, at the median and at most. */
export function timesOf({ recovery }: Figures): string[] {
  return Object.entries(recovery).map(([what, all]) => {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    return `${what} ${at(0.5)} ms (most ${at(1)})`;
  });
}

export function inWords(figures: Figures): string {
  const { rounds, kills, accepted, counted, wrong } = figures;
  const times = timesOf(figures);
  return (
    `${rounds} rounds, ${kills} kills, ${accepted} messages accepted, ${counted} counted, ` +
    `${wrong.length} wrong answers${times.length === 0 ? '' : `; time to recovery: ${times.join(', ')}`}`
  );
}
