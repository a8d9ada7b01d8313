/**
 * Shows progress: a bar on a terminal, lines elsewhere. Its timers do not keep the process running.
 *
 * Test: test/cli/progress.test.ts.
 */
import { MultiBar } from 'cli-progress';
import { printable, printableLines } from '../domain/printable.ts';
import { duration, type Progress, type Standing, type Stretch } from '../domain/progress.ts';

interface Sample {
  readonly at: number;
  readonly done: number;
  readonly counted: number;
}

const LINE_EVERY_MS = 10_000;
const DRAW_EVERY_MS = 200;
/** Period over which rate and remaining time are measured. */
const WINDOW_MS = 15_000;
/** Shortest distance of kept samples. */
const SAMPLE_EVERY_MS = 250;
const BAR = '{title} {bar} {percentage}%  {text}';

/** Shows progress on a stream. `now` is a clock in milliseconds. */
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
        // `stop` would lose lines that wait for the next drawing.
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

/** Shorter work shows no progress. */
const QUIET_MS = 1000;

/** Shows a stretch only after QUIET_MS; lines printed before appear above it. */
export function openLater(
  progress: Progress,
  stretch: Stretch,
  now: () => number = () => performance.now(),
): Pick<Progress, 'update' | 'end'> {
  const startedAt = now();
  let isOpen = false;
  return {
    update(standing) {
      if (!isOpen && now() - startedAt < QUIET_MS) return;
      if (!isOpen) progress.begin({ ...stretch, from: standing.done });
      isOpen = true;
      progress.update(standing);
    },
    end() {
      if (isOpen) progress.end();
      isOpen = false;
    },
  };
}

/** Rate per second and remaining milliseconds; null while unknown. */
function speedOf(samples: readonly Sample[], { to }: Stretch): { rate: number | null; left: number | null } {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return { rate: null, left: null };
  const ms = last.at - first.at;
  const rate = ((last.counted - first.counted) / ms) * 1000;
  if (last.done >= to) return { rate, left: 0 };
  return { rate, left: last.done > first.done ? ((to - last.done) * ms) / (last.done - first.done) : null };
}
