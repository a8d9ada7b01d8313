/** The frame of the benchmarks that read one long history. Test: test/tools/bench/run.test.ts. */
import type { Command } from '../../../src/cli/command.ts';
import { shardDirectory } from '../../../src/store/epochs/epochs.ts';
import { SnapshotReader } from '../../../src/store/published/snapshot-reader.ts';
import { VIEWS } from '../../../test/support/fold.ts';
import { benchmark } from './benchmark.ts';
import { oneInstance, openHistory, type History } from './history.ts';
import { RawMessages } from './raw-messages.ts';
import { median, quantile, type Ratios } from './ratios.ts';
import { openStreamTexts, type StreamTexts } from './stream-texts.ts';
import { table } from './table.ts';

const QUICK_MESSAGES = 50_000;
const WARM_UP = 3;

/** The options of `historyCommand`, for a usage. */
export const HISTORY_OPTIONS = `
  --messages N   length of the history
  --count N      measurements of each kind
  --keep DIR     keep the history in DIR, and reuse what is there`;

/** Measures a history of `--messages` and prints what it returns. */
export function historyCommand(
  usage: string,
  defaults: { readonly messages: number; readonly count: number },
  measure: (history: History, count: number) => Promise<string>,
): Command {
  return benchmark(usage, { ...defaults, keep: '' }, async ({ messages, count, keep }) => {
    const history = await openHistory(oneInstance(messages), { keep });
    try {
      console.log(`${history.messages} messages\n${await measure(history, count)}`);
    } finally {
      history.remove();
    }
  });
}

/** The quick form: one ratio, of which `sample` takes one value over a short history. */
export function historyRatios(name: string, sample: (history: History) => Promise<number>): Ratios {
  return async ({ times, keep }) => {
    const history = await openHistory(oneInstance(QUICK_MESSAGES), { keep });
    const samples: number[] = [];
    while (samples.length < times) samples.push(await sample(history));
    return { [name]: samples };
  };
}

/** A history as its readers open it. */
export interface Opened {
  readonly history: History;
  /** The views. */
  readonly reader: SnapshotReader;
  readonly texts: StreamTexts;
}

/** The connection to raw messages. */
export type Raw = RawMessages['connection'];

/** One question to both sides. Equal answers give equal values. */
export interface Ask {
  readonly ours: () => Promise<unknown>;
  readonly theirs: (raw: Raw) => Promise<unknown>;
}

/** Questions of one kind. */
export interface Asks {
  readonly kind: string;
  readonly asks: readonly Ask[];
}

/** A benchmark of a reader of the views, beside plain SQL over raw messages. */
export function besideRaw(of: {
  readonly usage: string;
  /** Name of the ratio in the baseline. */
  readonly ratio: string;
  readonly count: number;
  /** Of the quick form. */
  readonly quickCount: number;
  /** `count` questions of each kind. */
  asksOf(opened: Opened, count: number): Promise<readonly Asks[]>;
}): { readonly command: Command; readonly ratios: Ratios } {
  const measure = async (history: History, count: number): Promise<Measured[]> => {
    const directory = shardDirectory(history.dataDir, 1, 0);
    const options = { directory: () => directory, views: VIEWS, threads: 2, connections: 2 };
    const reader = await SnapshotReader.open(options);
    const raw = await RawMessages.open(history.rawFile, { create: false });
    const texts = await openStreamTexts();
    try {
      const measured: Measured[] = [];
      for (const { kind, asks } of await of.asksOf({ history, reader, texts }, count)) {
        for (const { ours } of asks.slice(0, WARM_UP)) await ours();
        texts.taken.length = 0;
        const [ours, theirs]: [number[], number[]] = [[], []];
        for (const ask of asks) {
          const startedAt = performance.now();
          const answer = await ask.ours();
          const between = performance.now();
          const other = await ask.theirs(raw.connection);
          theirs.push(performance.now() - between);
          ours.push(between - startedAt);
          if (String(answer) !== String(other))
            throw new Error(`${kind}: ${String(answer)}, and ${String(other)} by plain SQL`);
        }
        measured.push({
          kind,
          p50: median(ours),
          p99: quantile(ours, 0.99),
          texts: median(texts.taken),
          raw: median(theirs),
        });
      }
      return measured;
    } finally {
      await texts.close();
      await raw.close();
      await reader.close();
    }
  };
  return {
    command: historyCommand(of.usage, { messages: 1_000_000, count: of.count }, async (history, count) =>
      table(
        ['ms', 'p50', 'p99', 'of which texts', 'raw messages', 'ratio'],
        (await measure(history, count)).map(({ kind, p50, p99, texts, raw }) => [
          kind,
          ...[p50, p99, texts, raw].map((ms) => ms.toFixed(1)),
          (raw / p50).toFixed(2),
        ]),
      ),
    ),
    ratios: historyRatios(of.ratio, async (history) =>
      median((await measure(history, of.quickCount)).map(({ raw, p50 }) => raw / p50)),
    ),
  };
}

/** Milliseconds for one question. */
interface Measured {
  readonly kind: string;
  readonly p50: number;
  readonly p99: number;
  /** The part that reads texts of the stream, at the median. */
  readonly texts: number;
  /** The alternative, at the median. */
  readonly raw: number;
}
