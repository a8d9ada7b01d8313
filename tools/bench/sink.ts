/** How fast does a sink write a long history, and find that nothing has changed? Does its memory stay flat? */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SinkFolder } from '../../src/doors/sink/folder.ts';
import { rowsOf, selectOf } from '../../src/doors/sink/partitions.ts';
import { runSink, type SinkSource } from '../../src/doors/sink/sink.ts';
import { withSource } from '../../src/doors/sink/source.ts';
import { SINK_TABLES } from '../../src/doors/sink/tables.ts';
import { VIEWS } from '../../test/support/fold.ts';
import { openHistory, type History, type HistoryShape } from './history.ts';
import { historyCommand } from './load/history-benchmark.ts';
import { inFolder } from './load/folder.ts';
import { runScript } from './load/process-use.ts';
import { processorMs, type Ratios } from './load/ratios.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- sink [OPTIONS]

How fast does a sink write a long history, and find that nothing has changed? Does its memory stay flat?

Runs npm run sink --once twice on a synthetic history of a year: all partitions, then none. The alternative, in the same
run: one plain COPY of each table to a single file, without digests, order and partitions.

  --messages N   length of the history; a session has ten (default: 10000000)
  --keep DIR     keep the history in DIR, and reuse what is there
  --json         print the figures as JSON`;

const CLI = resolve(import.meta.dirname, '../../src/cli/sink.ts');

interface Run {
  readonly what: string;
  readonly seconds: number;
  readonly processorSeconds: number;
  /** Resident memory at most, bytes. */
  readonly memory: number | null;
}

interface Figures {
  readonly messages: number;
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  readonly runs: readonly Run[];
}

/** A month: what a sink writes at once holds more rows than a day of a short year. */
const QUICK: HistoryShape = { messages: 60_000, instances: 1, topics: 100, days: 30 };

export const ratios: Ratios = async ({ times, keep }) => {
  const history = await openHistory(QUICK, { keep, onProgress: () => undefined });
  const [all, none]: [number[], number[]] = [[], []];
  while (all.length < times) {
    await inFolder(async (folder) => {
      const to = await SinkFolder.open(join(folder, 'sink'));
      const options = { folder: to, tables: SINK_TABLES, instances: null, now: () => 0 };
      const { dataDir } = history;
      await withSource({ dataDir, views: VIEWS, spillDirectory: join(folder, 'spill') }, async (source) => {
        const plain = await processorTime(() => writePlain(source, folder));
        all.push(plain / (await processorTime(() => runSink(source, options))));
        none.push(plain / (await processorTime(() => runSink(source, options))));
      });
      to.close();
    });
  }
  return { 'all partitions over a plain COPY': all, 'nothing to write over a plain COPY': none };
};

export const command = historyCommand({
  usage: USAGE,
  messages: 10_000_000,
  measure: (history) => inFolder((folder) => measure(history, folder)),
  describe,
});

async function measure(history: History, folder: string): Promise<Figures> {
  const to = join(folder, 'sink');
  const first = await run('all partitions', history.dataDir, to);
  const second = await run('nothing to write', history.dataDir, to);
  const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.parquet'),
  );
  const bytes = files.reduce((sum, name) => sum + statSync(join(to, name)).size, 0);
  const spill = { dataDir: history.dataDir, views: VIEWS, spillDirectory: join(folder, 'spill') };
  return withSource(spill, async (source) => {
    const startedAt = performance.now();
    let rows = 0;
    const processorSeconds =
      (await processorTime(async () => {
        rows = await writePlain(source, folder);
      })) / 1000;
    const seconds = (performance.now() - startedAt) / 1000;
    const plain = { what: 'plain COPY', seconds, processorSeconds, memory: null };
    return { messages: history.messages, rows, files: files.length, bytes, runs: [first, second, plain] };
  });
}

async function run(what: string, dataDir: string, to: string): Promise<Run> {
  const {
    seconds,
    processorMs: used,
    memory,
  } = await runScript(CLI, ['--to', to, '--once'], { DATA_DIR: dataDir });
  return { what, seconds, processorSeconds: used / 1000, memory };
}

/** Each table to a file; how many rows they have. */
async function writePlain({ snapshots }: SinkSource, folder: string): Promise<number> {
  let rows = 0;
  for (const snapshot of snapshots)
    for (const each of SINK_TABLES) {
      const file = join(folder, `${each.name}.parquet`);
      rmSync(file, { force: true });
      rows += await snapshot.writeParquet(selectOf(each), rowsOf(each), file);
    }
  return rows;
}

/** Milliseconds. */
async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = processorMs();
  await work();
  return processorMs() - before;
}

function describe({ messages, rows, files, bytes, runs }: Figures): string {
  return [
    `${messages} messages: ${rows} rows in ${files} files, ${Math.round(bytes / 1e6)} MB`,
    table(
      ['', 'seconds', 'of the processor', 'rows/s', 'memory at most'],
      runs.map(({ what, seconds, processorSeconds, memory }) => [
        what,
        seconds.toFixed(1),
        processorSeconds.toFixed(1),
        String(Math.round(rows / seconds)),
        memory === null ? '' : `${Math.round(memory / 1e6)} MB`,
      ]),
    ),
  ].join('\n');
}
