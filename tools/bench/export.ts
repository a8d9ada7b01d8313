/** How fast are all sessions of a long history written to a file, and does memory stay flat? */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dimensionFieldsOf, GROUPINGS } from '../../src/domain/groupings.ts';
import { quoted } from '../../src/store/duckdb.ts';
import { SYNTHETIC_IDS } from '../../test/support/synthetic-stream.ts';
import type { History } from './history.ts';
import { inFolder } from './load/folder.ts';
import { historyCommand, historyRatios } from './load/history-benchmark.ts';
import { runScript } from './load/process-use.ts';
import { startQueryService, type QueryService } from './load/query-service.ts';
import { RawMessages } from './load/raw-messages.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- export [OPTIONS]

How fast are all sessions of a long history written to a file, and does memory stay flat?

Serves a synthetic history with web and asks for every session with all that is known of it: as CSV and NDJSON over
HTTP, and as Parquet through npm run export. The alternative, in the same run: one plain SQL over raw messages in
DuckDB, the counts of each session to a CSV file, without titles, summaries, topics and languages.

  --messages N   length of the history; a session has ten (default: 10000000)
  --keep DIR     keep the history in DIR, and reuse what is there
  --json         print the figures as JSON`;

const LOOK_MS = 50;
/** What web still has so long after the last answer, milliseconds, is told. */
const SETTLED_MS = 60_000;
/** So few sessions as the quick form has are written in no time: the best of so many counts, of either side. */
const BEST_OF = 5;
const CLI = resolve(import.meta.dirname, '../../src/cli/export.ts');
const RAW = `select s.id, count(*) as messages, max(sent_at) as last, min(sent_at) as first, sum(sat) as sat,
sum(dsat) as dsat, count(repeated_request) as repeats
from message m join session s using (session) group by s.id order by last desc, s.id`;

interface Written {
  readonly format: string;
  readonly rows: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Resident memory, bytes: of web before and at most meanwhile, and of the command at most (null: there is none). */
  readonly before: number;
  readonly peak: number;
  readonly command: number | null;
}

interface Figures {
  readonly messages: number;
  readonly written: readonly Written[];
  /** Resident memory of web a minute after the last answer, bytes; null: not waited for. */
  readonly settled: number | null;
  /** The alternative, in rows a second. */
  readonly raw: number;
}

export const ratios = historyRatios('rows/s as CSV over DuckDB on raw messages', async (history) => {
  const formats = Array.from({ length: BEST_OF }, () => 'text/csv' as const);
  const { written, raw } = await measure(history, formats);
  return Math.max(...written.map(({ rows, seconds }) => rows / seconds)) / raw;
});

export const command = historyCommand({
  usage: USAGE,
  messages: 10_000_000,
  measure: (history) => measure(history, ['text/csv', 'application/x-ndjson', 'parquet'], SETTLED_MS),
  describe,
});

type Format = 'text/csv' | 'application/x-ndjson' | 'parquet';

async function measure(history: History, formats: readonly Format[], settledMs = 0): Promise<Figures> {
  const service = await startQueryService({
    dataDir: history.dataDir,
    instanceIds: [SYNTHETIC_IDS.instance(1)],
    connections: 1,
  });
  try {
    const written: Written[] = [];
    for (const format of formats)
      written.push(await (format === 'parquet' ? writeParquet(service) : download(service, format)));
    const [first] = written;
    for (const { format, rows } of written)
      if (rows !== 0 && rows !== first?.rows) throw new Error(`${format}: ${rows} of ${first?.rows} rows`);
    await sleep(settledMs);
    return {
      messages: history.messages,
      settled: settledMs === 0 ? null : (await service.memory()).now,
      written: written.map((each) => ({ ...each, rows: each.rows === 0 ? (first?.rows ?? 0) : each.rows })),
      raw: await rawRate(history),
    };
  } finally {
    await service.stop();
  }
}

/** What `work` gives, how long it took, and web's memory before and at most meanwhile. */
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

const { metrics } = GROUPINGS.SESSION;

/** Reads the whole file and keeps nothing of it. */
async function download(
  service: QueryService,
  format: 'text/csv' | 'application/x-ndjson',
): Promise<Written> {
  const search = new URLSearchParams({
    instanceId: SYNTHETIC_IDS.instance(1),
    groupBy: 'SESSION',
    fields: metrics.join(','),
    dimensionFields: dimensionFieldsOf('SESSION').join(','),
  });
  const { result, ...times } = await watched(service, async () => {
    const headers = { 'x-api-key': service.key, accept: format };
    const response = await fetch(`${service.url}/v1/query/?${search}`, { headers });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const [newline, heading] = [10, format === 'text/csv' ? 1 : 0];
    let [bytes, lines] = [0, 0];
    for await (const chunk of response.body) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) lines += 1;
    }
    return { bytes, rows: lines - heading };
  });
  return { format, ...result, ...times, command: null };
}

async function writeParquet(service: QueryService): Promise<Written> {
  return inFolder(async (folder) => {
    const file = join(folder, 'sessions.parquet');
    const given = ['--instance', SYNTHETIC_IDS.instance(1), '--group-by', 'SESSION', '--format', 'parquet'];
    const where = ['--output', file, '--url', service.url, '--key', service.key];
    const { result, ...times } = await watched(service, () => runScript(CLI, [...given, ...where]));
    return { format: 'parquet', rows: 0, bytes: statSync(file).size, ...times, command: result.memory };
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

function describe({ messages, written, settled, raw }: Figures): string {
  const megabytes = (bytes: number | null): string => (bytes === null ? '' : `${Math.round(bytes / 1e6)} MB`);
  return [
    `${messages} messages, ${written[0]?.rows} sessions`,
    table(
      ['format', 'file', 'seconds', 'rows/s', 'web before', 'web at most', 'command at most'],
      written.map(({ format, rows, bytes, seconds, before, peak, command }) => [
        format,
        megabytes(bytes),
        seconds.toFixed(1),
        String(Math.round(rows / seconds)),
        megabytes(before),
        megabytes(peak),
        megabytes(command),
      ]),
    ),
    `web a minute after the last: ${megabytes(settled)}`,
    `raw messages in DuckDB to CSV, counts only: ${Math.round(raw)} rows/s`,
  ].join('\n');
}
