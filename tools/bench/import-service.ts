/** How many messages a second does a service take from the importer, and what do others notice of it? */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '../../src/domain/progress.ts';
import { ServiceClient } from '../../src/doors/import/client.ts';
import { importFiles } from '../../src/doors/import/importer.ts';
import { benchmark } from './load/benchmark.ts';
import { writeConversations } from './load/conversation-files.ts';
import { inFolder } from './load/folder.ts';
import { freshnessUntil } from './load/freshness.ts';
import { ConnectionPool, Measurements, openLoop } from './load/http-load.ts';
import { memoryOf, processorMsOf } from './load/process-use.ts';
import { startMeasuredService, type OwnService } from './load/service.ts';
import { useBetween, useOf } from './load/service-use.ts';
import { table } from './load/table.ts';

const USAGE = `Usage: npm run bench -- import-service [OPTIONS]

How many messages a second does a service take from the importer, and what do others notice of it? Starts a service of
its own and imports a file of generated conversations of five messages, the worker running beside it. The alternative,
in the same run: a smaller file, one conversation a request, as an older service takes them. Before and during the
import, 20 single requests a second are sent with another key; and with a third one, two messages a second, of which it
is told how long they take until a query counts them: before, during and after the import, while the worker counts what
it has stored.

  --megabytes N  size of the file (default: 1024)
  --after N      seconds after the import (default: 60)`;

const MB = 1024 * 1024;
/** Of the file that is sent one conversation a request. */
const MOST_SINGLE_MB = 2;
const SINGLES_PER_SECOND = 20;
const BEFORE_SECONDS = 5;
const IMPORT = resolve(import.meta.dirname, '../../src/cli/import.ts');

interface Figures {
  readonly megabytes: number;
  readonly messages: number;
  readonly seconds: number;
  readonly messagesPerSecond: number;
  /** One conversation a request. */
  readonly singlePerSecond: number;
  /** Microseconds of the processor for each message: what it takes whatever else runs on the machine. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Megabytes, the most. */
  readonly importerResident: number;
  readonly webResident: number;
  /** Latency of a single request of somebody else, p50 and p99, milliseconds. */
  readonly before: readonly [number, number];
  readonly during: readonly [number, number];
  /** Milliseconds until a message of a third caller is counted, p50 and p95: before, during and after the import. */
  readonly freshness: readonly (readonly [number, number])[];
  /** Seconds from a message's acceptance until it was counted, the most. */
  readonly mostBehind: number;
  /** Messages a second that were counted meanwhile. */
  readonly countedPerSecond: number;
  /** Of the last minute, when the import ended. */
  readonly load: number;
}

export const command = benchmark(USAGE, { megabytes: 1024, after: 60 }, async ({ megabytes, after }) => {
  await inFolder(async (folder) => print(await measure(folder, megabytes, after)));
});

async function measure(folder: string, megabytes: number, afterSeconds: number): Promise<Figures> {
  const service = await startMeasuredService();
  const pool = new ConnectionPool(service.url, 16);
  try {
    const single = await importSingly(service, join(folder, 'single.jsonl'), megabytes);
    const file = join(folder, 'all.jsonl');
    const messages = await writeConversations(file, 'jsonl', megabytes * MB);
    const send = await senderOf(service, pool);
    const third = { pool, ...(await newCaller(service, 'third')) };
    const freshness = [await freshnessUntil(sleep(BEFORE_SECONDS * 1000), third)];
    const before = await openLoop(SINGLES_PER_SECOND, BEFORE_SECONDS, send);

    const useBefore = await useOf(service.dataDir);
    const startedAt = performance.now();
    const child = spawn(process.execPath, [IMPORT, file, '--no-wait', '--new-instance'], {
      env: { ...process.env, UNDERTONE_URL: service.url, UT_KEY: await service.newKey('import') },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(child, 'close').then(([code]) => code as number | null);
    const lag = watchWorker(service.url);
    const freshnessDuring = freshnessUntil(ended, third);
    const during = await measureUntil(ended, send, child.pid ?? 0);
    const endedAt = performance.now();
    const seconds = (endedAt - startedAt) / 1000;
    if ((await ended) !== 0) throw new Error(`the import ended with ${await ended}`);
    const use = useBetween(useBefore, await useOf(service.dataDir));
    const load = loadavg()[0] ?? 0;
    freshness.push(await freshnessDuring, await freshnessUntil(sleep(afterSeconds * 1000), third));
    const { most: mostBehind, counted } = lag.end();
    const cpu = [...use].map(([name, { processorMs }]) => [name, (processorMs * 1000) / messages] as const);
    const quantiles = (of: Measurements): [number, number] => [of.quantile(0.5), of.quantile(0.99)];
    return {
      megabytes,
      messages,
      seconds,
      messagesPerSecond: Math.round(messages / seconds),
      singlePerSecond: Math.round(single),
      cpu: { importer: during.cpu / messages, ...Object.fromEntries(cpu) },
      importerResident: during.resident,
      webResident: Math.round(use.get('web')?.peakMb ?? 0),
      before: quantiles(before),
      during: quantiles(during.measurements),
      freshness: freshness.map((of) => [of.quantile(0.5), of.quantile(0.95)]),
      mostBehind,
      countedPerSecond: Math.round(counted / seconds),
      load,
    };
  } finally {
    pool.close();
    await service.stop();
  }
}

/** Messages a second, one conversation a request. */
async function importSingly(service: OwnService, file: string, megabytes: number): Promise<number> {
  await writeConversations(file, 'jsonl', Math.min(MOST_SINGLE_MB, megabytes / 4) * MB);
  const client = new ServiceClient(service);
  const { messages, durationMs, stopped } = await importFiles({
    files: [file],
    into: { kind: 'new' },
    target: {
      ingest: (body, key) => client.ingest(body, key),
      giveFeedback: () => Promise.resolve({ position: null }),
      ingestBatch: async () => [],
      issueSessionIds: async () => null,
      query: (parameters) => client.query(parameters),
      openInstance: (options) => client.openInstance(options),
    },
    concurrency: 16,
  });
  if (stopped !== null) throw stopped;
  return messages / (durationMs / 1000);
}

async function newCaller(service: OwnService, project: string): Promise<{ key: string; instanceId: string }> {
  const key = await service.newKey(project);
  const { id } = await new ServiceClient({ url: service.url, key }).openInstance({ default: true });
  return { key, instanceId: id };
}

/** Sends one message in a session of its own, to an instance and with a key of its own. */
async function senderOf(service: OwnService, pool: ConnectionPool): Promise<() => Promise<void>> {
  const { key, instanceId } = await newCaller(service, 'other');
  return async () => {
    const body = { instanceId, messages: [{ role: 'user', content: 'Where is my parcel?' }] };
    const { status } = await pool.post('/v1/ingest/', { 'x-api-key': key }, JSON.stringify(body));
    if (status !== 200) throw new Error(`status ${status}`);
  };
}

async function measureUntil(
  ended: Promise<unknown>,
  send: () => Promise<void>,
  pid: number,
): Promise<{ measurements: Measurements; resident: number; cpu: number }> {
  const measurements = new Measurements();
  let [running, resident, cpu] = [true, 0, 0];
  void ended.then(() => (running = false));
  while (running) {
    const startedAt = performance.now();
    try {
      await send();
      measurements.add(performance.now() - startedAt);
    } catch (error) {
      measurements.fail(String(error));
    }
    resident = Math.max(resident, await peakMegabytesOf(pid));
    cpu = Math.max(cpu, (await processorMsOf(pid)) * 1000);
    const left = 1000 / SINGLES_PER_SECOND - (performance.now() - startedAt);
    await Promise.race([ended, new Promise((done) => setTimeout(done, Math.max(0, left)))]);
  }
  return { measurements, resident, cpu };
}

const LAG = /^undertone_worker_lag_seconds(?:\{[^}]*\})? (\S+)$/gm;
const COUNTED = /^undertone_worker_messages_total(?:\{[^}]*\})? (\S+)$/gm;
const LOOK_EVERY_MS = 500;

/** Looks at how far the worker is behind, and how much it has counted since now. */
function watchWorker(url: string): { end(): { readonly most: number; readonly counted: number } } {
  let most = 0;
  let first: number | null = null;
  let last = 0;
  const timer = setInterval(() => {
    void fetch(`${url}/metrics`)
      .then(async (answer) => {
        const text = await answer.text();
        const valuesOf = (metric: RegExp): number[] =>
          [...text.matchAll(metric)].map(([, one]) => Number(one));
        most = Math.max(most, ...valuesOf(LAG));
        last = valuesOf(COUNTED).reduce((sum, one) => sum + one, 0);
        first ??= last;
      })
      .catch(() => undefined);
  }, LOOK_EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      return { most, counted: last - (first ?? 0) };
    },
  };
}

/** The most memory that a process has had resident. */
async function peakMegabytesOf(pid: number): Promise<number> {
  return Math.round((await memoryOf(pid)).peak / MB);
}

function print(figures: Figures): void {
  const { megabytes, messages, seconds, messagesPerSecond, singlePerSecond, before, during } = figures;
  const ms = ([p50, p99]: readonly [number, number]): string => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  console.log(
    table(
      ['import', ''],
      [
        ['file', `${count(megabytes)} MB, ${count(messages)} messages`],
        ['time', `${seconds.toFixed(1)} s, load ${figures.load.toFixed(1)}`],
        ['messages/s', count(messagesPerSecond)],
        ['one conversation a request', count(singlePerSecond)],
        ['ratio', (messagesPerSecond / singlePerSecond).toFixed(1)],
        ...Object.entries(figures.cpu).map(([name, micros]) => [
          `CPU µs a message: ${name}`,
          micros.toFixed(0),
        ]),
        ['most resident MB: importer, web', `${figures.importerResident}, ${figures.webResident}`],
        ['single request, p50 / p99 ms: before', ms(before)],
        ['during', ms(during)],
        ...['before', 'during', 'after'].map((when, at) => [
          at === 0 ? 'a third caller: counted after ms, p50 / p95: before' : when,
          ms(figures.freshness[at] ?? [NaN, NaN]),
        ]),
        ['the worker: s behind at most', figures.mostBehind.toFixed(1)],
        ['messages counted a second', count(figures.countedPerSecond)],
      ],
    ),
  );
}
