/** `npm run demo`: conversations of an outdoor shop, sent to a running service or to one started for them. */
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig, readEnvironment } from '../config.ts';
import { dated, readDemoConversations } from '../demo/conversations.ts';
import { printReport } from '../demo/report.ts';
import { answers, createKey, startService, waitUntilReady } from '../demo/service.ts';
import type { StartedService } from '../demo/service.ts';
import { printableLines } from '../domain/printable.ts';
import { SetupError } from '../errors.ts';
import { RefusedError, ServiceClient } from '../import/client.ts';
import { importFiles, waitUntilVisible } from '../import/importer.ts';
import type { ImportSummary } from '../import/importer.ts';
import { localUrl } from './local-url.ts';
import { messagesPerSecond } from '../domain/progress.ts';
import { openProgress } from './progress.ts';

const USAGE = `Usage: npm run demo [-- --url URL] [--key KEY] [--once]

Loads the demo's conversations (demo/conversations.jsonl) and shows what the service makes of them.
Starts the service when nothing answers at the address; it then runs until Ctrl-C (with --once: it is
stopped when the tables are printed). Repeating the demo counts nothing twice.`;

const ROOT = resolve(dirname(import.meta.filename), '../..');
/** The first start may have to fetch a nats-server and load the model. */
const START_LIMIT_MS = 180_000;
const PROCESSED_LIMIT_MS = 120_000;

/** What a run leaves for the next one, in the data directory. */
interface Remembered {
  readonly url: string;
  readonly key: string;
  readonly instanceId?: string;
}

async function readRemembered(path: string): Promise<Remembered | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof value !== 'object' || value === null) return null;
    const { url, key, instanceId } = value as Record<keyof Remembered, unknown>;
    if (typeof url !== 'string' || typeof key !== 'string') return null;
    return { url, key, ...(typeof instanceId === 'string' ? { instanceId } : {}) };
  } catch {
    return null;
  }
}

/** Whether the service takes the key; and whether it knows the instance, when there is one. */
async function isUsable({ url, key, instanceId }: Remembered): Promise<{ key: boolean; instance: boolean }> {
  try {
    const unknown = '00000000-0000-0000-0000-000000000000';
    await new ServiceClient({ url, key }).query({
      groupBy: 'SESSION',
      instanceId: instanceId ?? unknown,
      fields: 'messages',
      limit: '1',
    });
    return { key: true, instance: instanceId !== undefined };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { key: error.status !== 401, instance: false };
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      once: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const config = loadConfig();
  const url = (values.url ?? localUrl(config)).replace(/\/+$/, '');
  const stop = new AbortController();
  process.on('SIGINT', () => stop.abort());
  process.on('SIGTERM', () => stop.abort());
  const stopped = new Promise<void>((done) =>
    stop.signal.addEventListener('abort', () => done(), { once: true }),
  );

  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  let service: StartedService | null = null;
  try {
    if (!(await answers(url))) {
      if (values.url !== undefined) throw new SetupError(`Nothing answers at ${url}.`);
      const logFile = join(config.dataDir, 'demo.log');
      console.log(`Nothing answers at ${url}: starting the service (its output: ${logFile}) …`);
      service = startService({ script: 'src/main/start.ts', cwd: ROOT, env: readEnvironment(), logFile });
      await Promise.race([waitUntilReady(url, START_LIMIT_MS, service.ended), stopped]).catch(
        async (error: unknown) => {
          const tail = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-12).join('\n');
          throw new SetupError(`The service did not start: ${String(error)}\n${tail}`, { cause: error });
        },
      );
    } else await Promise.race([waitUntilReady(url, START_LIMIT_MS), stopped]);
    if (stop.signal.aborted) return 130;

    const access = await findAccess({
      url,
      given: values.key ?? (readEnvironment()['UT_KEY'] || undefined),
      shown: service?.key() ?? undefined,
      notes: join(config.dataDir, 'demo.json'),
    });
    const summary = await load(access, stop.signal, join(config.dataDir, 'demo.json'));
    if (stop.signal.aborted) return 130;
    const { instanceId } = summary;
    if (summary.stopped !== null || instanceId === null) {
      throw new SetupError(
        `The conversations could not be loaded: ${summary.stopped?.message ?? 'no instance'}`,
      );
    }
    const client = new ServiceClient({ url, key: access.key, signal: stop.signal });
    if (!(await waitUntilVisible(client, summary, PROCESSED_LIMIT_MS))) {
      throw new SetupError('The worker has not processed the messages in time; is it running?');
    }
    await printReport(instanceId, (params) => client.query(params), console.log, process.stdout.isTTY);
    console.log(
      `\nInstance ${instanceId}, key ${access.key}\n` +
        `Ask for yourself:\n` +
        `  curl -s -H 'x-api-key: ${access.key}' '${url}/v1/query/?groupBy=TOPIC&instanceId=${instanceId}&fields=sessions,netSat&timeGranularity=WEEK'\n` +
        `Every parameter: ${url}/docs`,
    );
    if (service !== null && !values.once) {
      console.log('The service runs until Ctrl-C.');
      await Promise.race([stopped, service.ended]);
    }
    return 0;
  } finally {
    if (service !== null) {
      console.log('Stopping the service …');
      await service.stop();
    }
  }
}

/** A key that works: the one given, the one that the first start showed, the last run's, or a new one. */
async function findAccess(options: {
  readonly url: string;
  readonly given: string | undefined;
  readonly shown: string | undefined;
  readonly notes: string;
}): Promise<Remembered> {
  const { url } = options;
  const remembered = await readRemembered(options.notes);
  const instanceId = remembered?.url === url ? remembered.instanceId : undefined;
  for (const key of [options.given, remembered?.url === url ? remembered.key : undefined, options.shown]) {
    if (key === undefined) continue;
    const access = { url, key, ...(instanceId === undefined ? {} : { instanceId }) };
    const usable = await isUsable(access);
    if (usable.key) return usable.instance ? access : { url, key };
    if (key === options.given) throw new SetupError('The key given is not valid for this service.');
  }
  return {
    url,
    key: await createKey({
      project: 'default',
      script: 'src/cli/keys.ts',
      cwd: ROOT,
      env: readEnvironment(),
    }),
  };
}

async function load(access: Remembered, signal: AbortSignal, notes: string): Promise<ImportSummary> {
  const written = await readDemoConversations(join(ROOT, 'demo', 'conversations.jsonl'));
  const folder = await mkdtemp(join(tmpdir(), 'undertone-demo-'));
  const progress = openProgress(process.stderr);
  try {
    const now = Date.now();
    const file = join(folder, 'demo.jsonl');
    await writeFile(file, written.map((conversation) => JSON.stringify(dated(conversation, now))).join('\n'));
    const remember = (instanceId?: string): void => {
      const text = JSON.stringify({ ...access, ...(instanceId === undefined ? {} : { instanceId }) });
      writeFileSync(notes, `${text}\n`, { mode: 0o600 });
    };
    progress.begin({ title: 'loading', to: written.length, rate: messagesPerSecond });
    const summary = await importFiles({
      files: [file],
      into:
        access.instanceId === undefined
          ? { kind: 'new', name: 'Demo: outdoor shop' }
          : { kind: 'named', instanceId: access.instanceId },
      target: new ServiceClient({ ...access }),
      concurrency: 4,
      signal,
      observer: {
        instance: (instanceId) => remember(instanceId),
        progress: ({ conversations, messages }) =>
          progress.update({
            done: conversations,
            counted: messages,
            details: `${conversations} conversations, ${messages} messages`,
          }),
        failure: ({ line, message }) => progress.line(`demo conversation ${line}: ${message}`),
      },
    });
    remember(summary.instanceId ?? undefined);
    return summary;
  } finally {
    progress.end();
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof Error && error.name === 'AbortError') process.exitCode = 130;
  else {
    console.error(printableLines(error instanceof Error ? error.message : String(error)));
    process.exitCode = 1;
  }
}
