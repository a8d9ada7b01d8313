import { MultiBar } from 'cli-progress';
import { printable, printableLines } from '../domain/printable.ts';

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

export interface Standing {
  readonly done: number;
  /** More about it, for people. */
  readonly details?: string;
  /** What the rate is of; default: `done`. */
  readonly counted?: number;
}

interface Sample {
  readonly at: number;
  readonly done: number;
  readonly counted: number;
}

const LINE_EVERY_MS = 10_000;
const DRAW_EVERY_MS = 200;
/** Rate and time left are those of this long. */
const WINDOW_MS = 15_000;
/** Samples are kept this far apart. */
const SAMPLE_EVERY_MS = 250;
const BAR = '{title} {bar} {percentage}%  {text}';

/** Shows progress on a stream. `now` gives milliseconds. Nothing here keeps the process running. */
export function openProgress(
  stream: NodeJS.WritableStream & { readonly isTTY?: boolean },
  now: () => number = () => performance.now(),
): Progress {
  let stretch: Stretch | null = null;
  let standing: Standing = { done: 0 };
  let samples: Sample[] = [];
  let timer: NodeJS.Timeout | undefined;
  let bars: MultiBar | null = null;
  let draw = (): void => undefined;

  const sample = (): void => {
    const next = { at: now(), done: standing.done, counted: standing.counted ?? standing.done };
    const spare = samples.length > 1 && next.at - (samples.at(-2) as Sample).at < SAMPLE_EVERY_MS;
    samples.splice(spare ? -1 : samples.length, spare ? 1 : 0, next);
    while (samples.length > 2 && (samples[0] as Sample).at < next.at - WINDOW_MS) samples.shift();
  };
  const figures = (of: Stretch): string[] => {
    const { rate, left } = speedOf(samples, of);
    return [
      ...(standing.details === undefined ? [] : [printable(standing.details)]),
      ...(rate === null || of.rate === undefined ? [] : [of.rate(rate)]),
      ...(left === null ? [] : [`${duration(left)} left`]),
    ];
  };
  const percentOf = ({ to }: Stretch): number =>
    to <= 0 ? 100 : Math.floor((Math.min(standing.done, to) / to) * 100);

  const progress: Progress = {
    begin(begun) {
      progress.end();
      const { title, from = 0 } = begun;
      const to = Number.isFinite(begun.to) ? begun.to : 0;
      const current = { ...begun, to };
      stretch = current;
      standing = { done: from, counted: begun.counted ?? from };
      samples = [];
      sample();
      if (stream.isTTY === true) {
        bars = new MultiBar({
          stream,
          format: BAR,
          barCompleteChar: '█',
          barIncompleteChar: '░',
          hideCursor: true,
          forceRedraw: true,
          gracefulExit: false,
        });
        const bar = bars.create(Math.max(1, to), from, { title, text: '' });
        draw = () =>
          bar.update(Math.min(standing.done, Math.max(1, to)), { title, text: figures(current).join('  ') });
      } else {
        draw = () =>
          void stream.write(`${title}: ${[`${percentOf(current)}%`, ...figures(current)].join(', ')}\n`);
      }
      timer = setInterval(() => draw(), bars === null ? LINE_EVERY_MS : DRAW_EVERY_MS).unref();
    },
    update(at) {
      standing = at;
      if (stretch !== null) sample();
    },
    end() {
      clearInterval(timer);
      if (bars !== null) {
        draw();
        // Lines that wait for the next drawing of the bar would be lost by stop.
        bars.update();
        bars.stop();
      }
      stretch = null;
      bars = null;
    },
    line(text) {
      if (bars === null) stream.write(`${printableLines(text)}\n`);
      else bars.log(`${printableLines(text)}\n`);
    },
  };
  return progress;
}

/** Per second, and milliseconds; null while nobody can say. */
function speedOf(samples: readonly Sample[], { to }: Stretch): { rate: number | null; left: number | null } {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return { rate: null, left: null };
  const ms = last.at - first.at;
  const rate = ((last.counted - first.counted) / ms) * 1000;
  if (last.done >= to) return { rate, left: 0 };
  return { rate, left: last.done > first.done ? ((to - last.done) * ms) / (last.done - first.done) : null };
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
