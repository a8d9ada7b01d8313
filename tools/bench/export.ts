/** How fast are all sessions of a long history written to a file, and does memory stay flat? */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dimensionFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { quoted } from '../../src/store/duckdb.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import { inFolder } from './load/folder.ts';
import type { History } from './load/history.ts';
import { HISTORY_OPTIONS, historyCommand, historyRatios } from './load/history-benchmark.ts';
import { runScript } from './load/process-use.ts';
import { startQueryService, type QueryService } from './load/query-service.ts';
import { RawMessages } from './load/raw-messages.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- export [OPTIONS]

How fast are all sessions of a long history written to a file, and does memory stay flat?

Serves a synthetic history with web and asks for every session with all that is known of it: as CSV and NDJSON over
HTTP, and as Parquet through npm run export. The alternative, in the same run: one plain SQL over raw messages in
DuckDB, the counts of each session to a CSV file, without titles, summaries, topics and languages.
${HISTORY_OPTIONS}`;

const LOOK_MS = 50;
/** The memory of web is printed again so long after the last answer, milliseconds. */
const SETTLED_MS = 60_000;
/** The quick form has few sessions, so the best of several runs counts, on both sides. */
const BEST_OF = 5;
const CLI = resolve(import.meta.dirname, '../../src/cli/export.ts');
const INSTANCE = SYNTHETIC_IDS.instance(1);
const RAW = `select s.id, count(*) as messages, max(sent_at) as last, min(sent_at) as first, sum(sat) as sat,
sum(dsat) as dsat, count(repeated_request) as repeats
from message m join session s using (session) group by s.id order by last desc, s.id`;

export const ratios = historyRatios('rows/s as CSV over DuckDB on raw messages', (history) =>
  served(history, async (service) => {
    const rates: number[] = [];
    while (rates.length < BEST_OF) {
      const { result, seconds } = await watched(service, () => download(service, 'text/csv'));
      rates.push(result.rows / seconds);
    }
    return Math.max(...rates) / (await rawRate(history));
  }),
);

export const command = historyCommand(USAGE, { messages: 10_000_000, count: 1 }, (history, count) =>
  served(history, async (service) => {
    const rows: string[][] = [];
    let sessions = 0;
    const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
    for (const format of Array.from({ length: count }, () => FORMATS).flat()) {
      const { result, seconds, before, peak } = await watched(service, () =>
        format === 'parquet' ? writeParquet(service, sessions) : download(service, format),
      );
      if (sessions !== 0 && result.rows !== sessions) throw new Error(`${result.rows} of ${sessions} rows`);
      sessions = result.rows;
      rows.push([
        format,
        megabytes(result.bytes),
        seconds.toFixed(1),
        String(Math.round(sessions / seconds)),
        ...[before, peak, result.command].map(megabytes),
      ]);
    }
    await sleep(SETTLED_MS);
    const raw = await rawRate(history);
    const heading = ['format', 'file', 'seconds', 'rows/s', 'web before', 'web at most', 'command at most'];
    return [
      table(heading, rows),
      `web a minute after the last: ${megabytes((await service.memory()).now)}`,
      `raw messages in DuckDB to CSV, counts only: ${Math.round(raw)} rows/s, so CSV ${(Number(rows[0]?.[3]) / raw).toFixed(2)} × as fast`,
    ].join('\n');
  }),
);

const FORMATS = ['text/csv', 'application/x-ndjson', 'parquet'] as const;

async function served<T>({ dataDir }: History, work: (service: QueryService) => Promise<T>): Promise<T> {
  const service = await startQueryService({ dataDir, instanceIds: [INSTANCE], connections: 1 });
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

/** Returns the result of `work`, its seconds, and the memory of web before it and at most during it. */
async function watched<Result>(
  service: QueryService,
  work: () => Promise<Result>,
): Promise<{ result: Result; seconds: number; before: number; peak: number }> {
  const before = (await service.memory()).now;
  let peak = before;
  let isOver = false;
  const watching = (async (): Promise<void> => {
    while (!isOver) {
      peak = Math.max(peak, (await service.memory()).now);
      await sleep(LOOK_MS);
    }
  })();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  isOver = true;
  await watching;
  return { result, seconds, before, peak };
}

interface Written {
  readonly rows: number;
  readonly bytes: number;
  /** Memory of the command at most, bytes. 0 without one. */
  readonly command: number;
}

/** Reads the whole file and keeps nothing of it. */
async function download(service: QueryService, format: string): Promise<Written> {
  const search = new URLSearchParams({
    instanceId: INSTANCE,
    groupBy: 'SESSION',
    fields: GROUPINGS.SESSION.metrics.join(','),
    dimensionFields: dimensionFieldsOf('SESSION').join(','),
  });
  const headers = { 'x-api-key': service.key, accept: format };
  const response = await fetch(`${service.url}/v1/query/?${search}`, { headers });
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
  const [newline, heading] = [10, format === 'text/csv' ? 1 : 0];
  let [bytes, lines] = [0, 0];
  for await (const chunk of response.body) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1;
  }
  return { bytes, rows: lines - heading, command: 0 };
}

/** A Parquet file does not tell its rows: `rows` is how many it must have. */
function writeParquet(service: QueryService, rows: number): Promise<Written> {
  return inFolder(async (folder) => {
    const file = join(folder, 'sessions.parquet');
    const what = ['--instance', INSTANCE, '--group-by', 'SESSION', '--format', 'parquet'];
    const where = ['--output', file, '--url', service.url, '--key', service.key];
    const { memory } = await runScript(CLI, [...what, ...where]);
    return { rows, bytes: statSync(file).size, command: memory };
  });
}

/** Rows a second of the alternative. */
async function rawRate({ rawFile }: History): Promise<number> {
  const raw = await RawMessages.open(rawFile, { create: false });
  try {
    let seconds = Infinity;
    await inFolder(async (folder) => {
      for (let time = 0; time < BEST_OF; time += 1) {
        const startedAt = performance.now();
        await raw.connection.run(`copy (${RAW}) to ${quoted(join(folder, 'sessions.csv'))} (header)`);
        seconds = Math.min(seconds, (performance.now() - startedAt) / 1000);
      }
    });
    const [row] = await raw.connection.all('select count(distinct session) as rows from message');
    return Number(row?.['rows']) / seconds;
  } finally {
    await raw.close();
  }
}
