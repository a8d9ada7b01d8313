import { MultiBar, Presets } from 'cli-progress';
import { printable } from '../domain/printable.ts';
import type { ImportProgress } from './importer.ts';

/** Where an import's progress is shown. */
export interface ProgressView {
  update(progress: ImportProgress): void;
  /** Prints a line of its own, above the bar where there is one; it may quote what came from outside. */
  line(text: string): void;
  close(): void;
}

/** Plain lines come at most this often. */
const PLAIN_INTERVAL_MS = 5_000;

/** A bar on a terminal, a plain line every five seconds anywhere else. */
export function openProgress(
  stream: NodeJS.WriteStream,
  clock: () => number = () => performance.now(),
): ProgressView {
  return stream.isTTY ? barView(stream) : plainView(stream, clock);
}

function barView(stream: NodeJS.WriteStream): ProgressView {
  const bars = new MultiBar(
    {
      stream,
      format:
        '{bar} {percentage}%  {conversations} conversations  {messages} messages  {rate}/s  {eta_formatted} left',
      hideCursor: true,
      clearOnComplete: false,
      forceRedraw: true,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  const startedAt = performance.now();
  const bar = bars.create(1, 0, { conversations: 0, messages: 0, rate: 0 });
  return {
    update(progress) {
      const seconds = Math.max(0.001, (performance.now() - startedAt) / 1000);
      bar.setTotal(Math.max(1, progress.totalBytes));
      bar.update(Math.min(progress.readBytes, progress.totalBytes), {
        conversations: progress.conversations.toLocaleString('en'),
        messages: progress.messages.toLocaleString('en'),
        rate: Math.round(progress.messages / seconds).toLocaleString('en'),
      });
    },
    line(text) {
      bars.log(`${printable(text)}\n`);
    },
    close() {
      // Lines that wait for the next drawing of the bar would be lost by stop.
      bars.update();
      bars.stop();
    },
  };
}

function plainView(stream: NodeJS.WritableStream, clock: () => number): ProgressView {
  let printedAt = clock();
  return {
    update({ readBytes, totalBytes, conversations, messages }) {
      if (clock() - printedAt < PLAIN_INTERVAL_MS) return;
      printedAt = clock();
      const percent = totalBytes === 0 ? 100 : Math.floor((readBytes / totalBytes) * 100);
      stream.write(`${percent}% read, ${conversations} conversations, ${messages} messages\n`);
    },
    line(text) {
      stream.write(`${printable(text)}\n`);
    },
    close() {
      // Nothing is held open.
    },
  };
}
