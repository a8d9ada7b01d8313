import { SingleBar } from 'cli-progress';
import { megabytes, type PullProgress } from '../hub/pull.ts';

export interface PullProgressOptions {
  readonly write: (text: string) => void;
  /** Draws a bar; else a line every few seconds. */
  readonly terminal: boolean;
  /** Milliseconds. */
  readonly now: () => number;
}

const LINE_EVERY_MS = 5000;

export function createPullProgress({ write, terminal, now }: PullProgressOptions): PullProgress {
  let bar: SingleBar | null = null;
  let total = 0;
  let nextLineAt = 0;
  return {
    begin(model, bytes) {
      total = bytes;
      nextLineAt = now() + LINE_EVERY_MS;
      write(`fetching ${model.id} at ${model.commit.slice(0, 12)}, ${megabytes(bytes)}\n`);
      if (!terminal) return;
      bar = new SingleBar({
        format: '{bar} {percentage}%  {done} of {all}  {eta_formatted} left  {file}',
        barCompleteChar: '█',
        barIncompleteChar: '░',
        hideCursor: true,
      });
      bar.start(bytes, 0, { done: megabytes(0), all: megabytes(bytes), file: '' });
    },
    update(file, bytes) {
      if (bar !== null) {
        bar.update(Math.min(bytes, total), { done: megabytes(bytes), all: megabytes(total), file });
        return;
      }
      if (terminal || now() < nextLineAt) return;
      nextLineAt = now() + LINE_EVERY_MS;
      write(`${megabytes(bytes)} of ${megabytes(total)}: ${file}\n`);
    },
    end() {
      bar?.stop();
      bar = null;
    },
  };
}
