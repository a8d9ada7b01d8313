/** Whether work takes time in proportion to its text, told by deadlines that only work of a higher order misses. */
import { Script } from 'node:vm';
import type { Pattern } from './patterns.ts';
import { pumped, pumpsOf, type Pump } from './pumps.ts';

/** Lengths of texts, in UTF-16 units: all pumps are tried with the first, the slowest of them with the next. */
const SHORT = 2500;
const MIDDLE = 20_000;
/** `LINEAR_UNITS=200000` is the long form: twice as sensitive to what is quadratic, and twice as dear. */
const LONG = Number(process.env['LINEAR_UNITS'] ?? 100_000);
const LONGEST = 200_000;
/**
 * For a text of 200,000 units: 5 ms a thousand. Linear work takes a fraction of this, quadratic work minutes.
 */
const DEADLINE_MS = 1000;
/**
 * Of each list so many are measured again, so many of these with a middling text, and so many of all with a long
 * one.
 */
const AGAIN = 8;
const OF_LIST = 3;
const OF_ALL = 1;

const slot: { work: () => void } = { work: () => undefined };
Object.defineProperty(globalThis, 'workInTime', { value: slot });
const script = new Script('workInTime.work()');

/**
 * Does the work, or ends it once it has used so much time of the processor, in the middle of a search too; says
 * whether it was done. The clock alone would blame the work for what else the machine does.
 */
function isDoneIn(milliseconds: number, work: () => void): boolean {
  slot.work = work;
  for (let timeout = milliseconds; ; timeout *= 3) {
    const before = process.threadCpuUsage();
    try {
      script.runInThisContext({ timeout });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    }
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1000 > 0.9 * milliseconds) return false;
  }
}

/** A text that the work missed its deadline with. */
export interface TooSlow {
  readonly pump: Pump;
  readonly length: number;
}

interface Measured {
  readonly pump: Pump;
  milliseconds: number;
}

/**
 * A pump that keeps the work from linear time; null when none was found. Of each list of pumps the slowest are
 * tried with longer texts, and of these the slowest with the longest ones.
 */
export function tooSlow(
  work: (text: string) => void,
  lists: readonly (readonly Pump[])[],
  deadline = DEADLINE_MS,
): TooSlow | null {
  let missed: TooSlow | null = null;
  /** The slowest of some, measured together under one deadline; none once a pump missed it. */
  const slowest = (some: readonly Measured[], length: number, most: number): Measured[] => {
    let pump = some[0]?.pump;
    const allowed = length === LONG ? (deadline * LONG) / LONGEST : deadline;
    const isDone = isDoneIn(allowed, () => {
      for (const measured of some) {
        pump = measured.pump;
        const text = pumped(pump, length);
        const start = performance.now();
        work(text);
        measured.milliseconds = Math.min(measured.milliseconds, performance.now() - start);
      }
    });
    if (!isDone && pump !== undefined) missed ??= { pump, length };
    return isDone ? some.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, most) : [];
  };
  const unmeasured = (pump: Pump): Measured => ({ pump, milliseconds: Infinity });

  work('warm up');
  const candidates: Measured[] = [];
  for (const list of lists) {
    const some = slowest(slowest(list.map(unmeasured), SHORT, AGAIN), SHORT, OF_LIST);
    candidates.push(
      ...slowest(
        some.map(({ pump }) => unmeasured(pump)),
        MIDDLE,
        OF_LIST,
      ),
    );
    if (missed !== null) return missed;
  }
  candidates.sort((a, b) => b.milliseconds - a.milliseconds);
  for (const candidate of candidates.slice(0, OF_ALL)) slowest([candidate], LONG, 0);
  return missed;
}

/**
 * A pump of the pattern's own structure that keeps it from finding all its matches in linear time; null when none
 * was found.
 */
export function tooSlowPattern(
  { source, flags }: Pick<Pattern, 'source' | 'flags'>,
  deadline?: number,
): TooSlow | null {
  const pattern = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
  return tooSlow((text) => text.replace(pattern, ''), pumpsOf(source, flags), deadline);
}

/** For a message: `linear` where nothing was found. */
export function describedPump(found: TooSlow | null): string {
  if (found === null) return 'linear';
  const { prefix, body, suffix } = found.pump;
  const ends = [prefix, suffix].map((text) => JSON.stringify(text));
  return `too slow for ${ends[0]}, ${JSON.stringify(body)} repeated up to ${found.length} units, ${ends[1]}`;
}
