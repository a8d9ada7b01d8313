import { SingleBar } from 'cli-progress';

/** Tells whoever runs a rebuild how far it is: a bar on a terminal, else a line every few seconds. */
export interface RebuildProgress {
  /** Begins a stretch from one number of entries to another. */
  begin(title: string, from: number, to: number): void;
  /** `entries` are done, and `messages` were since the process started. */
  update(entries: number, messages: number): void;
  /** Ends the stretch. */
  end(): void;
  /** Prints a sentence of its own line. */
  say(sentence: string): void;
}

export interface RebuildProgressOptions {
  readonly write: (text: string) => void;
  /** Draws a bar. */
  readonly terminal: boolean;
  /** Milliseconds. */
  readonly now: () => number;
}

const LINE_EVERY_MS = 5000;
/** Rate and time left are those of this long. */
const WINDOW_MS = 15_000;

interface Sample {
  readonly at: number;
  readonly entries: number;
  readonly messages: number;
}

export function createRebuildProgress({ write, terminal, now }: RebuildProgressOptions): RebuildProgress {
  let bar: SingleBar | null = null;
  let title = '';
  let total = 0;
  let samples: Sample[] = [];
  let messagesSoFar = 0;
  let nextLineAt = 0;

  const figures = (): { rate: string; left: string } => {
    const [first, last] = [samples[0], samples.at(-1)];
    const ms = (last?.at ?? 0) - (first?.at ?? 0);
    if (first === undefined || last === undefined || ms <= 0) return { rate: '…', left: '…' };
    const rate = ((last.messages - first.messages) / ms) * 1000;
    const entriesPerMs = (last.entries - first.entries) / ms;
    const leftMs = (total - last.entries) / entriesPerMs;
    return {
      rate: count(Math.round(rate)),
      left: Number.isFinite(leftMs) ? duration(Math.max(0, leftMs)) : '…',
    };
  };

  return {
    begin(named, from, to) {
      title = named;
      total = to;
      samples = [{ at: now(), entries: from, messages: messagesSoFar }];
      nextLineAt = now() + LINE_EVERY_MS;
      if (!terminal) return;
      bar = new SingleBar({
        format: '{title} {bar} {percentage}%  {rate} messages/s  {left} left',
        barCompleteChar: '█',
        barIncompleteChar: '░',
        hideCursor: true,
      });
      bar.start(to, from, { title, ...figures() });
    },
    update(entries, messages) {
      const at = now();
      messagesSoFar = messages;
      samples.push({ at, entries, messages });
      while (samples.length > 2 && (samples[0] as Sample).at < at - WINDOW_MS) samples.shift();
      if (bar !== null) bar.update(Math.min(entries, total), { title, ...figures() });
      else if (!terminal && at >= nextLineAt) {
        nextLineAt = at + LINE_EVERY_MS;
        const { rate, left } = figures();
        const percent = total === 0 ? 100 : Math.floor((Math.min(entries, total) / total) * 100);
        write(
          `${title}: ${percent}%, entry ${count(entries)} of ${count(total)}, ${rate} messages/s, ${left} left\n`,
        );
      }
    },
    end() {
      bar?.stop();
      bar = null;
    },
    say(sentence) {
      bar?.stop();
      bar = null;
      write(`${sentence}\n`);
    },
  };
}

/** 1234567 as `1,234,567`. */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** Milliseconds as `45 s`, `3 min 20 s` or `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
