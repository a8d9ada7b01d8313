/** What do fold, commit and publish cost, and does it grow with history? */
import { fork } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { wholeNumber } from '../../src/cli/command.ts';
import { temporaryDirectory } from '../../test/support/fold.ts';
import { oneInstance, openHistory } from './load/history.ts';
import { benchmark } from './load/benchmark.ts';
import type { FoldReport } from './load/fold-process.ts';
import type { Ratios } from './load/ratios.ts';
import { table, verdict } from './load/table.ts';

/** Least messages per second, by messages of a batch. */
const LEAST_PER_SECOND: Readonly<Record<number, number>> = { 500: 2_500, 50_000: 30_000 };
const MEMORY_BYTES = 1.2e9;
/** A batch of 500 costs as much after the longest history as after the shortest, give or take so much. */
const MAY_DIFFER = 0.5;

const USAGE = `Usage: npm run bench -- fold [OPTIONS]

What do fold, commit and publish cost, and does it grow with history?

Continues a copy of each synthetic history as the worker does, with every kind of entity in every batch. A process of
its own does it, and prints its memory. Each figure is compared with the same batch after the shortest history.

  --messages N,N…   lengths of the histories (default: 100000,1000000)
  --keep DIR        keep the histories in DIR, and reuse what is there`;

export const command = benchmark(
  USAGE,
  { messages: '100000,1000000', keep: '' },
  async ({ messages, keep }) => {
    const sizes = messages.split(',').map((size) => wholeNumber('--messages', size, 1000));
    console.log(
      describe(
        await measure(
          sizes.toSorted((a, b) => a - b),
          keep,
        ),
      ),
    );
  },
);

interface FoldResult {
  readonly messages: number;
  readonly report: FoldReport;
}

async function measure(sizes: readonly number[], keep: string, batch?: number): Promise<FoldResult[]> {
  const results: FoldResult[] = [];
  for (const messages of sizes) {
    const history = await openHistory(oneInstance(messages), { keep });
    const copy = temporaryDirectory();
    try {
      cpSync(join(history.dataDir, 'views'), join(copy.path, 'views'), { recursive: true });
      console.error(`folding after ${messages} messages`);
      results.push({ messages, report: await foldedAfter(copy.path, messages, batch) });
    } finally {
      copy.remove();
      history.remove();
    }
  }
  return results;
}

const QUICK = { short: 5_000, long: 50_000, batch: 500 };

/** How much a batch costs after a short history over what it costs after a long one: 1 when history costs nothing. */
export const ratios: Ratios = async ({ times, keep }) => {
  const samples: number[] = [];
  while (samples.length < times) {
    const [short, long] = await measure([QUICK.short, QUICK.long], keep, QUICK.batch);
    samples.push(costOf(short) / costOf(long));
  }
  return { 'a batch after a short history over one after a long history': samples };
};

function costOf(result: FoldResult | undefined): number {
  const figures = result?.report.figures[0];
  return figures?.processorMs ?? Number.NaN;
}

function foldedAfter(dataDir: string, messages: number, batch?: number): Promise<FoldReport> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'load/fold-process.ts'), [
      dataDir,
      String(messages),
      ...(batch === undefined ? [] : [String(batch)]),
    ]);
    let report: FoldReport | null = null;
    child.on('message', (message: FoldReport) => {
      report = message;
    });
    child.once('exit', (code, signal) => {
      if (report === null) reject(new Error(`the folding process ended with ${signal ?? `code ${code}`}`));
      else resolve(report);
    });
  });
}

function describe(results: readonly FoldResult[]): string {
  const shortest = results[0]?.report;
  const rows = results.flatMap(({ messages, report }) =>
    report.figures.map((one) => {
      const least = one.moves === 0 ? LEAST_PER_SECOND[one.batch] : undefined;
      const base = shortest?.figures.find((other) => other.batch === one.batch && other.moves === one.moves);
      const cost = base === undefined ? 1 : (one.foldMs + one.publishMs) / (base.foldMs + base.publishMs);
      const publish = base === undefined ? 1 : one.publishMs / base.publishMs;
      const same = (ratio: number): string => {
        const needed = one.batch === 500 && one.moves === 0 && report !== shortest;
        return `${ratio.toFixed(2)}×${needed ? ` ±50 % ${verdict(Math.abs(ratio - 1) <= MAY_DIFFER)}` : ''}`;
      };
      return [
        `${messages}, batches of ${one.batch}${one.moves === 0 ? '' : `, ${one.moves} moved`}`,
        one.foldMs.toFixed(0),
        one.publishMs.toFixed(0),
        one.worstMs.toFixed(0),
        String(Math.round(one.perSecond)),
        least === undefined ? '' : `≥ ${least} ${verdict(one.perSecond >= least)}`,
        same(publish),
        same(cost),
        one.memoryPeak === 0
          ? ''
          : `${Math.round(one.memoryPeak / 1e6)} ≤ 1200 ${verdict(one.memoryPeak <= MEMORY_BYTES)}`,
      ];
    }),
  );
  return [
    table(
      [
        'history',
        'fold p50 ms',
        'publish p50 ms',
        'worst ms',
        'messages/s',
        'target',
        'publish vs shortest',
        'both vs shortest',
        'memory so far, MB',
      ],
      rows,
    ),
    'Memory is without models.',
  ].join('\n');
}
