/**
 * `npm start`: runs the Procfile until it is told to stop.
 *
 * Test: test/main/start.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { action, runCommand } from '../cli/command.ts';
import { loadConfig, readEnvironment } from '../config.ts';
import type { Config } from '../config.ts';
import { findModel } from '../reader/embedding/model-location.ts';
import { onEndSignal } from '../lifecycle.ts';
import { createLogger, readableLines } from '../logger.ts';
import type { Logger } from '../logger.ts';
import { stopLeftServer } from '../stream/server/server.ts';
import { lockDataDirectory, prepareDataDirectory } from '../store/data-directory.ts';
import { isReady } from '../doors/demo/service.ts';
import { firstKeyFile, isStarterMessage, showFirstSteps } from './first-steps.ts';
import type { FirstSteps, StarterMessage } from './first-steps.ts';
import { startGuard } from './nats-guard.ts';
import { beginStartStatus } from '../health/process-status.ts';
import { residentMemory } from '../health/resident-memory.ts';
import { createSupervisor, parseProcfile } from './supervisor.ts';
import type { Supervisor } from './supervisor.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Ingest stops first, the stream last. */
const STOP_ORDER = ['web', 'worker', 'nats'];
const COLOURS = [36, 33, 32, 35, 34];
/** Time beyond its own deadline before a process is killed. */
const GRACE_MS = 2000;

/** Time to wait for the first steps, which `web` sends right after it is ready. */
const FIRST_STEPS_MS = 2000;
/** Time after which the first steps are shown without readiness. */
const UNREADY_MS = 15_000;
const LOOK_FOR_NPM_MS = 500;
const MEASURE_MEMORY_MS = 5000;
const USAGE = `Usage: npm start [-- --auto-rebuild]

Runs nats-server, web and worker (the Procfile) until Ctrl-C.

  --auto-rebuild  rebuild the views automatically when they need it (as AUTO_REBUILD=true)`;
const NEW_KEY = 'npm run --silent keys -- create --project default';

const start = action({
  options: { 'auto-rebuild': { type: 'boolean' } },
  read: (values) => async () => {
    // The processes of the Procfile inherit the environment.
    const environment = readEnvironment();
    if (values['auto-rebuild'] === true) environment['AUTO_REBUILD'] = 'true';
    const config = loadConfig(environment);
    // The worker would detect a missing model too, but only after web and nats have started.
    findModel({ model: config.embeddingModel, modelsDirectory: join(ROOT, 'models') });
    const concerns = prepareDataDirectory(config.dataDir);
    // Node caches compiled code there, and works without the cache if it cannot write.
    environment['NODE_COMPILE_CACHE'] ??= join(config.dataDir, 'compiled');
    const lock = await lockDataDirectory(config.dataDir);
    if (config.natsUrl === undefined) await stopLeftServer(config.dataDir);
    const startedByNpm = environment['npm_lifecycle_event'] === 'start';
    const code = await runUntilSignal(config, { startedByNpm, concerns });
    lock.release();
    process.exit(code);
  },
});

/** Runs the Procfile until a signal or an unrecoverable failure; resolves to the exit code. */
async function runUntilSignal(
  config: Config,
  { startedByNpm, concerns }: { readonly startedByNpm: boolean; readonly concerns: readonly string[] },
): Promise<number> {
  const entries = parseProcfile(readFileSync(join(ROOT, 'Procfile'), 'utf8')).filter(
    ({ name }) => name !== 'nats' || config.natsUrl === undefined,
  );
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  const print = createPrinter(['start', ...entries.map(({ name }) => name)]);
  const log = createLogger({
    name: 'start',
    level: config.logLevel,
    write: (line) => print('start', line.trimEnd()),
  });
  for (const concern of concerns) log.warn({ event: 'data_directory_open' }, concern);
  const announcer = createAnnouncer(print, config.dataDir, log);
  const verbose = config.logLevel === 'debug' || config.logLevel === 'trace';
  const guard = config.natsUrl === undefined ? startGuard(config.dataDir) : null;
  const supervisor = createSupervisor({
    entries,
    stopOrder: STOP_ORDER,
    cwd: ROOT,
    stopMs: config.shutdownMs + GRACE_MS,
    log,
    dispensable: ['worker'],
    ...(guard === null ? {} : { held: { stream: guard.held, exceptBy: ['nats'] } }),
    onLine: (name, line) => {
      if (verbose || !isServerChatter(name, line)) print(name, line);
    },
    onMessage: (_name, message) => {
      if (isStarterMessage(message)) announcer.hear(message);
    },
    onGivenUp: (reason) => {
      process.stderr.write(`${reason}\n`);
      end(1);
    },
  });
  let stops = 0;
  onEndSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
    stops += 1;
    if (stops > 1) supervisor.killAll();
    else print('start', 'stopping');
    end(0);
  });
  if (startedByNpm) {
    onceNpmIsGone(() => {
      print('start', 'npm is gone: stopping');
      end(0);
    });
  }
  supervisor.start();
  const status = tellStatus(config.dataDir, supervisor);
  const code = await ended;
  await supervisor.stop();
  status.stop();
  guard?.end();
  announcer.showFirstSteps();
  return code;
}

/** Prints when the service is ready, and the first steps once. */
function createAnnouncer(
  print: (name: string, line: string) => void,
  dataDir: string,
  log: Logger,
): {
  hear(message: StarterMessage): void;
  /** Prints the first steps once, even when stopping before readiness: the key exists and is not shown again. */
  showFirstSteps(): void;
} {
  const terminal = process.stdout.isTTY === true;
  let firstSteps: FirstSteps | null = null;
  let announced = false;
  let hinted = false;
  let latestUrl = '';
  async function announce(url: string): Promise<void> {
    latestUrl = url;
    while (!announced && latestUrl === url && !(await isReady(url))) await sleep(50);
    if (announced || latestUrl !== url) return;
    announced = true;
    print('start', `ready: ${url} (documentation: ${url}/docs). Ctrl-C stops everything.`);
    for (let waited = 0; firstSteps === null && waited < FIRST_STEPS_MS; waited += 50) await sleep(50);
    hinted = firstSteps === null;
    if (hinted) print('start', keyHint(dataDir));
    show();
  }
  function show(): void {
    if (firstSteps !== null) showFirstSteps(firstSteps, { terminal, dataDir, log });
    firstSteps = null;
  }
  return {
    hear(message) {
      if (message.type === 'listening') {
        void announce(message.url);
        return;
      }
      firstSteps = message;
      if (hinted || !terminal) show();
      // Ingest works before the worker is up, so a worker that cannot start must not hide the key.
      else setTimeout(show, UNREADY_MS).unref();
    },
    showFirstSteps: show,
  };
}

/** Describes how to get a key when none is shown. */
function keyHint(dataDir: string): string {
  const file = firstKeyFile(dataDir);
  const where = existsSync(file)
    ? `The first key is still in ${file}: take it, and delete the file.`
    : 'Keys are shown once.';
  return `${where} Another: ${NEW_KEY}`;
}

/** A killed npm sends no signal, but the system then assigns another parent. */
function onceNpmIsGone(then: () => void): void {
  const npm = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(watch);
    then();
  }, LOOK_FOR_NPM_MS);
}

/** Writes the state of the processes to a file that web reads. */
function tellStatus(dataDir: string, supervisor: Supervisor): { stop(): void } {
  let resident: ReadonlyMap<number, number> = new Map();
  const measure = async (): Promise<void> => {
    resident = await residentMemory(supervisor.processes.flatMap(({ pid }) => pid ?? []));
  };
  const timer = setInterval(() => void measure(), MEASURE_MEMORY_MS);
  void measure();
  const heartbeat = beginStartStatus(dataDir, () => ({
    processes: supervisor.processes.map((known) => ({
      ...known,
      restartedAt: [...known.restartedAt],
      residentBytes: resident.get(known.pid ?? 0) ?? null,
    })),
  }));
  return {
    stop() {
      clearInterval(timer);
      heartbeat.stop();
    },
  };
}

/**
 * True for nats-server's lines at level info and its warning about the message limit, which we set ourselves. Other
 * warnings and errors are printed.
 */
function isServerChatter(name: string, line: string): boolean {
  return name === 'nats' && (line.includes(' [INF] ') || line.includes('[WRN] Maximum payloads over'));
}

/** Prints lines with the name of their process; on a terminal readable and in colour. */
function createPrinter(names: readonly string[]): (name: string, line: string) => void {
  const width = Math.max(...names.map((name) => name.length));
  const terminal = process.stdout.isTTY === true;
  const readable = readableLines();
  return (name, line) => {
    const label = `${name.padEnd(width)} |`;
    if (!terminal) {
      process.stdout.write(`${label} ${line}\n`);
      return;
    }
    const colour = COLOURS[names.indexOf(name) % COLOURS.length] ?? 0;
    for (const part of readable(line).split('\n')) {
      process.stdout.write(`\u001b[${colour}m${label}\u001b[0m ${part}\n`);
    }
  };
}

await runCommand({ usage: USAGE, action: start });
