/**
 * Starts, checks and stops a service for the demo, in a process group of its own.
 *
 * Test: test/doors/demo/service.test.ts.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { statusOf } from '../client/transport.ts';

/** Form of an API key in any output. */
const KEY = /\but_(?:test|live)_[0-9A-Za-z]{32}\b/;

/** A service that runs as a child process. */
export interface StartedService {
  /** Reads the key that the first start left; null if there is none. */
  readonly key: () => string | null;
  /** Settles when the service has ended: with its exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

/** Returns true if a server at the address answers that it is ready. */
export async function isReady(url: string): Promise<boolean> {
  return (await statusOf(url, '/readyz', 2000).catch(() => null)) === 200;
}

/** Returns true if a server at the address answers at all. */
export async function answers(url: string): Promise<boolean> {
  return (await statusOf(url, '/livez', 5000).catch(() => null)) !== null;
}

/** Waits until the service is ready. Throws when `giveUp` settles first or the time is up. */
export async function waitUntilReady(url: string, limitMs: number, giveUp?: Promise<unknown>): Promise<void> {
  const deadline = performance.now() + limitMs;
  let gone = false;
  void giveUp?.then(() => {
    gone = true;
  });
  while (!(await isReady(url))) {
    if (gone) throw new Error('the service ended before it was ready');
    if (performance.now() > deadline)
      throw new Error(`${url} was not ready within ${Math.round(limitMs / 1000)} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Starts the whole service as `npm start` does, with its output in a file. The process group of its own keeps Ctrl-C
 * away: only `stop` ends the service.
 */
export function startService(options: {
  readonly script: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  /** File in which a start without a terminal leaves the first key. */
  readonly keyFile: string;
}): StartedService {
  const log = createWriteStream(options.logFile, { mode: 0o600 });
  const child: ChildProcess = spawn(process.execPath, [options.script], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => log.write(chunk));
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      log.end(`${error.message}\n`);
      resolve(1);
    });
    child.once('close', (code) => {
      log.end();
      resolve(code);
    });
  });
  return {
    key() {
      try {
        return KEY.exec(readFileSync(options.keyFile, 'utf8'))?.[0] ?? null;
      } catch {
        return null;
      }
    },
    ended,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Creates an API key with the project's own command. Throws when the command prints none. */
export async function createKey(options: {
  /** Name of the key's project; created if missing. */
  readonly project: string;
  readonly script: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}): Promise<string> {
  const child = spawn(process.execPath, [options.script, 'create', '--project', options.project], {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  const key = KEY.exec(output)?.[0];
  if (key === undefined) throw new Error(`no key could be made: ${output.trim()}`);
  return key;
}
