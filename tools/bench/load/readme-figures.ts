/** The figures that docs/requirements.md prints and a command can measure. Covered by test/tools/bench/figures.test.ts. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { countTexts, type Counted } from '../count.ts';
import { ingestFigures, type IngestFigures } from '../ingest.ts';
import { fixedLoopMs } from './fixed-loop.ts';
import { startMeasuredService } from './service.ts';
import { useOf } from './service-use.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** A printed figure may be off by this part of what is measured. */
const MOST_OFF = 1 / 3;
const MEGABYTE = 1e6;
/** Enough that the size of empty files hardly matters. */
const MESSAGES = 30_000;
/** After the start, what was needed for it is given back. */
const IDLE_MS = 5000;

/** What is measured once for all figures that need it. */
export interface Measurable {
  readonly counted: () => Promise<Counted>;
  readonly ingested: () => Promise<IngestFigures>;
  /** MB of a service right after its start, by process. */
  readonly started: () => Promise<ReadonlyMap<string, number>>;
  /** Milliseconds of the fixed loop, here and on the machine whose figures docs/requirements.md prints. */
  readonly loops: { readonly here: number; readonly printed: number };
}

/** A figure that docs/requirements.md prints. */
export interface ReadmeFigure {
  readonly name: string;
  /** The first group is the number as it is printed. */
  readonly pattern: RegExp;
  /** In the unit in which it is printed. A time or rate is what it would be on the machine of docs/requirements.md. */
  readonly measure: (measurable: Measurable) => number | Promise<number>;
}

/** MB of folders of this checkout. */
const megabytes = (name: string, pattern: RegExp, ...folders: readonly string[]): ReadmeFigure => ({
  name: `MB of ${name}`,
  pattern,
  measure: () => folders.reduce((sum, folder) => sum + bytesBelow(join(ROOT, folder)) / MEGABYTE, 0),
});

/** GB of a process right after the start; without a name, of all. */
const gigabytes = (pattern: RegExp, process?: string): ReadmeFigure => ({
  name: `GB of ${process ?? 'all processes'} after the start`,
  pattern,
  measure: async ({ started }) => {
    const found = [...(await started())].filter(([name]) => name === (process ?? name));
    return found.reduce((sum, [, mb]) => sum + mb, 0) / 1000;
  },
});

const milliseconds = (
  name: string,
  pattern: RegExp,
  of: (figures: IngestFigures) => number,
): ReadmeFigure => ({
  name,
  pattern,
  measure: async ({ ingested, loops }) => (of(await ingested()) * loops.printed) / loops.here,
});

export const README_FIGURES: readonly ReadmeFigure[] = [
  {
    name: 'messages counted a second',
    pattern: /\| ([\d,]+) messages\/s of the demo's conversations/,
    // A machine that takes twice as long for the fixed loop counts half as many.
    measure: async ({ counted, loops }) => {
      const { messagesPerSecond, loopMs } = await counted();
      return (messagesPerSecond * loopMs) / loops.printed;
    },
  },
  milliseconds('ms of a request, p50', /for 30 s +\| p50 ([\d.]+) ms/, ({ p50Ms }) => p50Ms),
  milliseconds('ms of 10,000 messages, p50', /10,000 messages +\| p50 ([\d.]+) ms/, ({ largeMs }) => largeMs),
  {
    name: 'requests a second at most',
    pattern: /\| ([\d,]+) requests\/s of 5 messages with 256/,
    measure: async ({ ingested, loops }) => ((await ingested()).burst * loops.here) / loops.printed,
  },
  milliseconds('ms until visible, p50, in s', /one message at a time +\| p50 ([\d.]+) s/, ({ visibleMs }) => {
    return visibleMs / 1000;
  }),
  gigabytes(/\| ([\d.]+) GB after the start/),
  gigabytes(/after the start \(worker ([\d.]+)/, 'worker'),
  gigabytes(/after the start \(.*web ([\d.]+), `npm start`/, 'web'),
  gigabytes(/`npm start` ([\d.]+), NATS/, 'start'),
  gigabytes(/NATS ([\d.]+)\)/, 'nats'),
  megabytes('node_modules', /\| ([\d,]+) MB of `node_modules`/, 'node_modules'),
  megabytes('Node', /\(Node ([\d.]+), DuckDB/, `node_modules/node-${process.platform}-${process.arch}`),
  megabytes('DuckDB', /DuckDB ([\d.]+), ONNX/, 'node_modules/@duckdb'),
  megabytes('the ONNX runtime', /ONNX runtime ([\d.]+);/, 'node_modules/onnxruntime-node'),
  {
    name: 'MB of development tools',
    pattern: /; ([\d.]+) are development tools/,
    measure: () => developmentBytes() / MEGABYTE,
  },
  megabytes('models', /([\d.]+) MB for models/, 'models/undertone-small', 'models/heads', 'models/languages'),
  {
    name: 'GB of the stream for a million messages',
    pattern: /take ([\d.]+) GB in the stream/,
    measure: async ({ counted }) => (await counted()).streamBytes / 1000,
  },
  {
    name: 'GB of views for a million messages',
    pattern: /and ([\d.]+) GB in the views/,
    measure: async ({ counted }) => (await counted()).viewBytes / 1000,
  },
];

/** Figures that docs/requirements.md prints and nothing checks, with what is to be said of them. */
export const UNCHECKED: readonly { readonly pattern: RegExp; readonly why: string }[] = [
  { pattern: /1,000 requests and, in the long run, 20,000 messages a second/, why: 'a setting' },
  { pattern: /2 GB are enough for usual load/, why: 'advice' },
  { pattern: /ingest, 1,000 requests\/s of 5 messages, for 30 s/, why: 'what is sent' },
  { pattern: /takes 210 ms for the fixed loop/, why: 'what other figures are compared with' },
  { pattern: /texts of mixed length 0\.04 and 0\.7 GB; .* and 1\.1 GB/, why: 'other texts (decision 109)' },
  { pattern: /1 to 3 ms if .* 3 to 7 ms/, why: 'minutes: npm run bench -- query' },
];

/** Numbers with a unit of time, size or rate, and where on the page they stand. */
export function printedFigures(readme: string): { readonly text: string; readonly at: number }[] {
  const unit = /(?:ms|s|MB|GB|minutes|seconds)\b|×|(?:requests|messages)(?:\/s| a second)/.source;
  const figure = new RegExp(`\\b\\d[\\d.,]*(?: to \\d[\\d.,]*)? ?(?:${unit})`, 'g');
  return [...readme.matchAll(figure)].map(({ 0: text, index: at }) => ({ text, at }));
}

/** What docs/requirements.md prints, what is measured, and whether they are near enough. */
export interface CheckedFigure {
  readonly name: string;
  readonly printed: number;
  readonly measured: number;
  readonly holds: boolean;
}

export async function checkReadme(readme = readReadme()): Promise<CheckedFigure[]> {
  const measurable: Measurable = {
    started: once(startedMb),
    ingested: once(ingestFigures),
    counted: once(() => countTexts('demo', MESSAGES)),
    loops: { here: fixedLoopMs(), printed: printedIn(readme, /takes ([\d,]+) ms for the fixed loop/) },
  };
  const checked: CheckedFigure[] = [];
  for (const { name, pattern, measure } of README_FIGURES)
    checked.push(compared(name, printedIn(readme, pattern), await measure(measurable)));
  return checked;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}

/** Memory of a service that has just started, MB by process. */
async function startedMb(): Promise<ReadonlyMap<string, number>> {
  const service = await startMeasuredService();
  try {
    await sleep(IDLE_MS);
    return new Map([...(await useOf(service.dataDir))].map(([name, { mb }]) => [name, mb]));
  } finally {
    await service.stop();
  }
}

export function compared(name: string, printed: number, measured: number): CheckedFigure {
  return { name, printed, measured, holds: Math.abs(printed - measured) <= measured * MOST_OFF };
}

export function readReadme(): string {
  return readFileSync(join(ROOT, 'docs/requirements.md'), 'utf8');
}

/** Throws when the page has no such figure: then this list is out of date, or the page is. */
export function printedIn(readme: string, pattern: RegExp): number {
  const [, number] = pattern.exec(readme) ?? [];
  if (number === undefined) throw new Error(`docs/requirements.md prints no figure like ${pattern}`);
  return Number(number.replaceAll(',', ''));
}

/** What packages take on the disk that `npm ci --omit=dev` leaves out. */
function developmentBytes(): number {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  const dev = Object.entries(lock.packages).filter(([path, one]) => one.dev && existsSync(join(ROOT, path)));
  // What lies in another package's folder is counted with that.
  const outer = dev.filter(([path]) => !dev.some(([other]) => path.startsWith(`${other}/`)));
  return outer.reduce((sum, [path]) => sum + bytesBelow(join(ROOT, path)), 0);
}

/** What files take on the disk, as `du` counts it; what a link leads to is not counted. */
function bytesBelow(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += lstatSync(join(entry.parentPath, entry.name)).blocks * 512;
  return bytes;
}
