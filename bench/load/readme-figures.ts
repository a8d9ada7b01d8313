/** The figures that README.md prints and a command can measure. Covered by test/bench/figures.test.ts. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { countTexts, type Counted } from '../count.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** A printed figure may be off by this part of what is measured. */
const MOST_OFF = 1 / 3;
const MEGABYTE = 1e6;
/** Enough that the size of empty files hardly matters. */
const MESSAGES = 30_000;

/** A figure that README.md prints. */
export interface ReadmeFigure {
  readonly name: string;
  /** The first group is the number as it is printed. */
  readonly pattern: RegExp;
  /** In the unit in which it is printed. */
  readonly measure: (counted: () => Promise<Counted>, readme: string) => Promise<number>;
}

export const README_FIGURES: readonly ReadmeFigure[] = [
  {
    name: 'messages counted a second',
    pattern: /\| ([\d,]+) messages\/s of the demo's conversations/,
    // A machine that takes twice as long for the fixed loop counts half as many.
    measure: async (counted, readme) => {
      const { messagesPerSecond, loopMs } = await counted();
      return (messagesPerSecond * loopMs) / printedIn(readme, /takes ([\d,]+) ms for the fixed loop/);
    },
  },
  {
    name: 'MB of node_modules',
    pattern: /\| ([\d,]+) MB of `node_modules`/,
    measure: () => Promise.resolve(bytesBelow(join(ROOT, 'node_modules')) / MEGABYTE),
  },
  {
    name: 'GB of views for a million messages',
    pattern: /and ([\d.]+) GB in the views/,
    measure: async (counted) => (await counted()).viewBytes / 1000,
  },
];

/** What README.md prints, what is measured, and whether they are near enough. */
export interface CheckedFigure {
  readonly name: string;
  readonly printed: number;
  readonly measured: number;
  readonly holds: boolean;
}

export async function checkReadme(readme = readReadme()): Promise<CheckedFigure[]> {
  let counting: Promise<Counted> | null = null;
  const counted = (): Promise<Counted> => (counting ??= countTexts('demo', MESSAGES));
  const checked: CheckedFigure[] = [];
  for (const { name, pattern, measure } of README_FIGURES)
    checked.push(compared(name, printedIn(readme, pattern), await measure(counted, readme)));
  return checked;
}

export function compared(name: string, printed: number, measured: number): CheckedFigure {
  return { name, printed, measured, holds: Math.abs(printed - measured) <= measured * MOST_OFF };
}

export function readReadme(): string {
  return readFileSync(join(ROOT, 'README.md'), 'utf8');
}

/** Throws when the README has no such figure: then this list is out of date, or the README is. */
export function printedIn(readme: string, pattern: RegExp): number {
  const [, number] = pattern.exec(readme) ?? [];
  if (number === undefined) throw new Error(`README.md prints no figure like ${pattern}`);
  return Number(number.replaceAll(',', ''));
}

/** What files take on the disk, as `du` counts it; what a link leads to is not counted. */
function bytesBelow(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += lstatSync(join(entry.parentPath, entry.name)).blocks * 512;
  return bytes;
}
