/** How fast does a sink write a long history, and find that nothing has changed? Does its memory stay flat? */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SinkFolder } from '../../src/doors/sink/folder.ts';
import { rowsOf, selectOf } from '../../src/doors/sink/partitions.ts';
import { runSink, type SinkSource } from '../../src/doors/sink/sink.ts';
import { withSource } from '../../src/doors/sink/source.ts';
import { SINK_TABLES } from '../../src/doors/sink/tables.ts';
import { VIEWS } from '../../test/support/fold.ts';
import { inFolder } from './load/folder.ts';
import { openHistory, type HistoryShape } from './load/history.ts';
import { HISTORY_OPTIONS, historyCommand } from './load/history-benchmark.ts';
import { runScript } from './load/process-use.ts';
import { processorMs, type Ratios } from './load/ratios.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- sink [OPTIONS]

How fast does a sink write a long history, and find that nothing has changed? Does its memory stay flat?

Runs npm run sink --once on a synthetic history of a year, twice or --count times: all partitions, then none. The
alternative, in the same run: one plain COPY of each table to a single file, without digests, order and partitions.
${HISTORY_OPTIONS}`;

const CLI = resolve(import.meta.dirname, '../../src/cli/sink.ts');

/** A month: what a sink writes at once holds more rows than a day of a short year. */
const QUICK: HistoryShape = { messages: 60_000, instances: 1, topics: 100, days: 30 };

export const ratios: Ratios = async ({ times, keep }) => {
  const { dataDir } = await openHistory(QUICK, { keep });
  const [all, none]: [number[], number[]] = [[], []];
  while (all.length < times) {
    await inFolder(async (folder) => {
      const to = await SinkFolder.open(join(folder, 'sink'));
      const options = { folder: to, tables: SINK_TABLES, instances: null, now: () => 0 };
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

export const command = historyCommand(USAGE, { messages: 10_000_000, count: 2 }, ({ dataDir }, count) =>
  inFolder(async (folder) => {
    const to = join(folder, 'sink');
    const runs: [what: string, seconds: number, processorMs: number, memory: string][] = [];
    while (runs.length < count) {
      const used = await runScript(CLI, ['--to', to, '--once'], { DATA_DIR: dataDir });
      const what = runs.length === 0 ? 'all partitions' : 'nothing to write';
      runs.push([what, used.seconds, used.processorMs, `${Math.round(used.memory / 1e6)} MB`]);
    }
    const files = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.parquet'),
    );
    const bytes = files.reduce((sum, name) => sum + statSync(join(to, name)).size, 0);
    const startedAt = performance.now();
    let rows = 0;
    const plainMs = await withSource(
      { dataDir, views: VIEWS, spillDirectory: join(folder, 'spill') },
      (source) =>
        processorTime(async () => {
          rows = await writePlain(source, folder);
        }),
    );
    runs.push(['plain COPY', (performance.now() - startedAt) / 1000, plainMs, '']);
    const heading = ['', 'seconds', 'of the processor', 'plain over it', 'rows/s', 'memory at most'];
    return `${rows} rows in ${files.length} files, ${Math.round(bytes / 1e6)} MB\n${table(
      heading,
      runs.map(([what, seconds, ms, memory]) => [
        what,
        seconds.toFixed(1),
        (ms / 1000).toFixed(1),
        (plainMs / ms).toFixed(2),
        String(Math.round(rows / seconds)),
        memory,
      ]),
    )}`;
  }),
);

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
