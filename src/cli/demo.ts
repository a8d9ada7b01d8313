/**
 * `npm run demo`: sends the conversations of an outdoor shop to a running service, or to one that it starts.
 *
 * Test: test/doors/demo/service.test.ts.
 */
import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { loadConfig, readEnvironment } from '../config.ts';
import { dated, readDemoConversations } from '../doors/demo/conversations.ts';
import { printReport } from '../doors/demo/report.ts';
import { answers, createKey, startService, waitUntilReady } from '../doors/demo/service.ts';
import type { StartedService } from '../doors/demo/service.ts';
import { messagesPerSecond } from '../domain/progress.ts';
import { SetupError } from '../errors.ts';
import { isRefusal, ServiceClient } from '../doors/import/client.ts';
import { importFiles } from '../doors/import/importer.ts';
import type { ImportSummary } from '../doors/import/contract.ts';
import { waitUntilVisible } from '../doors/import/visible.ts';
import { firstKeyFile } from '../main/first-steps.ts';
import { action, INTERRUPTED, runCommand, type CommandRun } from './command.ts';
import { localUrl } from './local-url.ts';
import { openProgress } from './progress.ts';

const USAGE = `Usage: npm run demo [-- --url URL] [--key KEY] [--once]

Loads the demo's conversations (examples/demo/conversations.jsonl) and prints what the service finds in them.
Starts the service when nothing answers at the address; it then runs until Ctrl-C (with --once, until
the tables are printed). Repeating the demo counts nothing twice.`;

const ROOT = resolve(dirname(import.meta.filename), '../..');
/** The first start may download a nats-server and load the model. */
const START_LIMIT_MS = 180_000;
const PROCESSED_LIMIT_MS = 120_000;
const NO_INSTANCE = '00000000-0000-0000-0000-000000000000';

/** State for the next run, in the data directory. */
const rememberedShape = z.object({
  url: z.string(),
  key: z.string(),
  instanceId: z.string().optional().catch(undefined),
});
type Remembered = z.infer<typeof rememberedShape>;

interface Options {
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly once: boolean;
}

const demo = action({
  options: { url: { type: 'string' }, key: { type: 'string' }, once: { type: 'boolean' } },
  read:
    ({ url, key, once = false }) =>
    async (run) => {
      try {
        return await runDemo({ url, key, once }, run);
      } catch (error) {
        if (error instanceof Error && error.name === 'AbortError') return INTERRUPTED;
        throw new SetupError(error instanceof Error ? error.message : String(error), { cause: error });
      }
    },
});

async function runDemo(options: Options, { interruption }: CommandRun): Promise<number> {
  const config = loadConfig();
  const url = (options.url ?? localUrl(config)).replace(/\/+$/, '');
  // A second Ctrl-C does not skip the orderly stop of the service.
  const signal = interruption(() => undefined);
  const stopped = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const logFile = join(config.dataDir, 'demo.log');
  let service: StartedService | null = null;
  try {
    if (!(await answers(url))) {
      if (options.url !== undefined) throw new SetupError(`Nothing answers at ${url}.`);
      console.log(`Nothing answers at ${url}: starting the service (its output: ${logFile}) …`);
      service = startService({
        script: 'src/main/start.ts',
        cwd: ROOT,
        env: readEnvironment(),
        logFile,
        keyFile: firstKeyFile(config.dataDir),
      });
    }
    await Promise.race([ready(url, service, logFile), stopped]);
    if (signal.aborted) return INTERRUPTED;

    const notes = join(config.dataDir, 'demo.json');
    const given = options.key ?? (readEnvironment()['UT_KEY'] || undefined);
    const access = await findAccess({ url, given, serviceKey: service?.key() ?? undefined, notes });
    const summary = await load(access, signal, notes);
    if (signal.aborted) return INTERRUPTED;
    await showResult(access, summary, signal);
    if (service !== null && !options.once) {
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

/** @throws SetupError with the end of the log if the started service does not become ready */
async function ready(url: string, service: StartedService | null, logFile: string): Promise<void> {
  if (service === null) return waitUntilReady(url, START_LIMIT_MS);
  try {
    await waitUntilReady(url, START_LIMIT_MS, service.ended);
  } catch (error) {
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-12).join('\n');
    throw new SetupError(`The service did not start: ${String(error)}\n${tail}`, { cause: error });
  }
}

/** Waits until all messages are processed, and prints the tables. */
async function showResult(
  { url, key }: Remembered,
  summary: ImportSummary,
  signal: AbortSignal,
): Promise<void> {
  const { instanceId } = summary;
  if (summary.stopped !== null || instanceId === null) {
    throw new SetupError(
      `The conversations could not be loaded: ${summary.stopped?.message ?? 'no instance'}`,
    );
  }
  const client = new ServiceClient({ url, key, signal });
  if (!(await waitUntilVisible(client, summary, PROCESSED_LIMIT_MS))) {
    throw new SetupError('The worker did not process the messages in time. Does it run?');
  }
  await printReport(instanceId, (params) => client.query(params), console.log, process.stdout.isTTY);
  const query = `groupBy=TOPIC&instanceId=${instanceId}&fields=sessions,netSat&timeGranularity=WEEK`;
  console.log(
    `\nInstance ${instanceId}, key ${key}\n` +
      `Look at it:          ${url}/?instance=${instanceId}#key=${key}\n` +
      `Ask for yourself:    curl -s -H 'x-api-key: ${key}' '${url}/v1/query/?${query}'\n` +
      `Only customers of the plan pro: add &segment.plan=pro (or segment.version=2.5)\n` +
      `For the examples of docs/queries.md:\n` +
      `  INSTANCE=${instanceId} KEY=${key}\n` +
      `Every parameter: ${url}/docs`,
  );
}

async function readRemembered(path: string): Promise<Remembered | null> {
  try {
    return rememberedShape.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Returns if the service accepts the key, and if it knows the instance. */
async function isUsable({ url, key, instanceId }: Remembered): Promise<{ key: boolean; instance: boolean }> {
  try {
    await new ServiceClient({ url, key }).query({
      groupBy: 'SESSION',
      instanceId: instanceId ?? NO_INSTANCE,
      fields: 'messages',
      limit: '1',
    });
    return { key: true, instance: instanceId !== undefined };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { key: error.status !== 401, instance: false };
  }
}

/** Returns the first valid key: the option's, the last run's, that of the first start, or a new one. */
async function findAccess(options: {
  readonly url: string;
  readonly given: string | undefined;
  readonly serviceKey: string | undefined;
  readonly notes: string;
}): Promise<Remembered> {
  const { url } = options;
  const remembered = await readRemembered(options.notes);
  const instanceId = remembered?.url === url ? remembered.instanceId : undefined;
  for (const key of [
    options.given,
    remembered?.url === url ? remembered.key : undefined,
    options.serviceKey,
  ]) {
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
  const written = await readDemoConversations(join(ROOT, 'examples/demo/conversations.jsonl'));
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

await runCommand({ usage: USAGE, action: demo });
