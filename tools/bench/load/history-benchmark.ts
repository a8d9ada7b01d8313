/** The frame of the benchmarks that read one long history. Covered by test/tools/bench/run.test.ts. */
import { action, wholeNumber, type Command } from '../../../src/cli/command.ts';
import { shardDirectory } from '../../../src/store/epochs/epochs.ts';
import { SnapshotReader } from '../../../src/store/published/snapshot-reader.ts';
import { VIEWS } from '../../../test/support/fold.ts';
import { oneInstance, openHistory, type History } from '../history.ts';
import { RawMessages } from './raw-messages.ts';
import type { Ratios } from './ratios.ts';

const QUICK_MESSAGES = 50_000;

/** Measures a history of `--messages` and prints the figures. */
export function historyCommand<Figures>(benchmark: {
  readonly usage: string;
  /** Default of `--messages`. */
  readonly messages: number;
  /** Default of `--count`; without it there is no such option, and `measure` gets 0. */
  readonly count?: number;
  measure(history: History, count: number): Promise<Figures>;
  describe(figures: Figures): string;
}): Command {
  const { usage, measure, describe } = benchmark;
  const count = benchmark.count?.toString();
  return {
    usage,
    action: action({
      options: {
        messages: { type: 'string', default: String(benchmark.messages) },
        ...(count !== undefined && { count: { type: 'string', default: count } }),
        keep: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
      read({ messages, keep, json, ...values }) {
        const size = wholeNumber('--messages', messages, 1000);
        const times = typeof values.count === 'string' ? wholeNumber('--count', values.count) : 0;
        return async () => {
          const onProgress = (line: string): void => console.error(line);
          const history = await openHistory(oneInstance(size), { keep, onProgress });
          try {
            const figures = await measure(history, times);
            console.log(json ? JSON.stringify(figures, null, 2) : describe(figures));
          } finally {
            history.remove();
          }
        };
      },
    }),
  };
}

/** The quick form: one ratio, of which `sample` takes one value over a short history. */
export function historyRatios(name: string, sample: (history: History) => Promise<number>): Ratios {
  return async ({ times, keep }) => {
    const history = await openHistory(oneInstance(QUICK_MESSAGES), { keep, onProgress: () => undefined });
    const samples: number[] = [];
    while (samples.length < times) samples.push(await sample(history));
    return { [name]: samples };
  };
}

/** The views of a history as queries open them, and its raw messages for the alternative. */
export async function openReaders(
  history: History,
): Promise<{ readonly reader: SnapshotReader; readonly raw: RawMessages; close(): Promise<void> }> {
  const directory = shardDirectory(history.dataDir, 1, 0);
  const options = { directory: () => directory, views: VIEWS, threads: 2, connections: 2 };
  const reader = await SnapshotReader.open(options);
  const raw = await RawMessages.open(history.rawFile, { create: false });
  return {
    reader,
    raw,
    async close() {
      await raw.close();
      await reader.close();
    },
  };
}
