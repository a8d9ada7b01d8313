/**
 * What do fold, commit and publish cost, and does it grow with history?
 *
 *   npm run bench -- fold [--messages 100000,1000000] [--keep DIR] [--json]
 *
 * Goes on with a copy of each synthetic history (`--keep DIR` keeps and reuses it), every kind of entity in
 * every batch, as the worker does; in a process of its own, whose memory is printed. The baseline of each
 * figure is the same batch after the shortest history.
 */
import { fork } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryDirectory } from '../test/support/fold.ts';
import { oneInstance, openHistory } from './history.ts';
import type { FoldReport } from './load/fold-process.ts';
import { table, verdict } from './load/table.ts';

/** Least messages per second, by messages of a batch. */
const LEAST_PER_SECOND: Readonly<Record<number, number>> = { 500: 2_500, 50_000: 30_000 };
const MEMORY_BYTES = 1.2e9;
/** A batch of 500 costs as much after the longest history as after the shortest, give or take so much. */
const MAY_DIFFER = 0.5;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      messages: { type: 'string', default: '100000,1000000' },
      keep: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const sizes = values.messages
    .split(',')
    .map(Number)
    .toSorted((a, b) => a - b);
  if (sizes.some((size) => !Number.isInteger(size) || size < 1000))
    throw new Error('--messages: whole numbers from 1000 on, separated by commas');
  const results: { readonly messages: number; readonly report: FoldReport }[] = [];
  for (const messages of sizes) {
    const onProgress = (sentence: string): void => console.error(sentence);
    const history = await openHistory(oneInstance(messages), { keep: values.keep, onProgress });
    const copy = temporaryDirectory();
    try {
      cpSync(join(history.dataDir, 'views'), join(copy.path, 'views'), { recursive: true });
      console.error(`folding after ${messages} messages`);
      results.push({ messages, report: await foldedAfter(copy.path, messages) });
    } finally {
      copy.remove();
      history.remove();
    }
  }
  console.log(values.json ? JSON.stringify(results, null, 2) : describe(results));
}

function foldedAfter(dataDir: string, messages: number): Promise<FoldReport> {
  return new Promise((resolve, reject) => {
    const child = fork(join(import.meta.dirname, 'load/fold-process.ts'), [dataDir, String(messages)]);
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

function describe(results: readonly { readonly messages: number; readonly report: FoldReport }[]): string {
  const shortest = results[0]?.report;
  const rows = results.flatMap(({ messages, report }) =>
    report.figures.map((one) => {
      const least = LEAST_PER_SECOND[one.batch];
      const base = shortest?.figures.find((other) => other.batch === one.batch);
      const cost = base === undefined ? 1 : (one.foldMs + one.publishMs) / (base.foldMs + base.publishMs);
      const publish = base === undefined ? 1 : one.publishMs / base.publishMs;
      const same = (ratio: number): string => {
        const needed = one.batch === 500 && report !== shortest;
        return `${ratio.toFixed(2)}×${needed ? ` ±50 % ${verdict(Math.abs(ratio - 1) <= MAY_DIFFER)}` : ''}`;
      };
      return [
        `${messages}, batches of ${one.batch}`,
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
