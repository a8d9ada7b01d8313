/**
 * Runs our own nats-server on a data directory. Only one server may use a data directory.
 *
 * Test: test/stream/server/server.test.ts.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, readdir, stat, statfs, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../../errors.ts';
import { findServer } from './binary.ts';
import type { ServerBinary } from './version.ts';

/** Largest message of our own server, bytes. */
export const SERVER_MAX_PAYLOAD = 16 * 1024 * 1024;

const HOST = '127.0.0.1';
/** Share of the available disk space that JetStream may fill; the views need the rest. */
const STORE_SHARE = 0.8;
/** Lower limit: JetStream refuses streams for which it cannot reserve space. */
const LEAST_STORE_BYTES = 256 * 1024 * 1024;

/** Time for a server of an earlier start to end, milliseconds. */
const LEFT_SERVER_MS = 10_000;

export interface ServerOptions {
  /** The service's data directory; the server uses `nats/` in it. */
  readonly dataDir: string;
  /** TCP port on the loopback address. */
  readonly port: number;
  /** Folder for a fetched nats-server. */
  readonly cacheDir: string;
  readonly onProgress?: (sentence: string) => void;
}

/** A server that is ready to be started. */
export interface PreparedServer {
  readonly binary: ServerBinary;
  /** Arguments without the executable. */
  readonly args: readonly string[];
  readonly url: string;
  readonly token: string;
}

/** The address and token with which processes of this machine reach the server. */
export interface ServerAddress {
  /** One or several (comma-separated) NATS URLs. */
  readonly url: string;
  /** Read at each attempt to connect, as the server's first start writes it. Undefined: no token (yet). */
  readonly token: () => string | undefined;
}

/**
 * Returns the address of NATS: `natsUrl` with `natsToken` for an external server, else our own server on `natsPort`
 * with the token in the data directory. Accepts the service's configuration.
 */
export function connectionOptions(options: {
  readonly dataDir: string;
  readonly natsPort: number;
  readonly natsUrl?: string | undefined;
  readonly natsToken?: string | undefined;
}): ServerAddress {
  const { natsUrl, natsToken } = options;
  if (natsUrl !== undefined) return { url: natsUrl, token: () => natsToken };
  const file = tokenFile(options.dataDir);
  return {
    url: `nats://${HOST}:${options.natsPort}`,
    token: () => {
      try {
        return readFileSync(file, 'utf8').trim();
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Prepares a start of the server: the executable, its folders (0700), the secret token (0600, created once) and the
 * configuration. Throws SetupError when the executable, the folder or the port is not available, or a server already
 * runs on this data directory.
 */
export async function prepareServer(options: ServerOptions): Promise<PreparedServer> {
  const folder = join(options.dataDir, 'nats');
  const store = join(folder, 'store');
  try {
    await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
    for (const path of [folder, store]) await makePrivateFolder(path);
  } catch (error) {
    throw new SetupError(
      `The data directory ${options.dataDir} cannot be written (${(error as Error).message}). ` +
        'Make it writable or set DATA_DIR to another one.',
      { cause: error },
    );
  }
  const configFile = join(folder, 'nats.conf');
  const pidFile = join(folder, 'nats.pid');
  await refuseSecondServer(pidFile, configFile);
  await refuseTakenPort(options.port);
  const binary = await findServer(options);
  const token = await readOrMakeToken(options.dataDir);
  await writeFile(
    configFile,
    [
      'server_name: undertone',
      `listen: "${HOST}:${options.port}"`,
      `max_payload: ${SERVER_MAX_PAYLOAD}`,
      `pid_file: ${JSON.stringify(pidFile)}`,
      `authorization { token: ${JSON.stringify(token)} }`,
      'jetstream {',
      `  store_dir: ${JSON.stringify(store)}`,
      '  sync_interval: always',
      `  max_file_store: ${await storeBytes(store)}`,
      '}',
      '',
    ].join('\n'),
    { mode: 0o600 },
  );
  await chmod(configFile, 0o600);
  return { binary, args: ['-c', configFile], url: `nats://${HOST}:${options.port}`, token };
}

/** A started server; the caller stops it. */
export interface RunningServer extends PreparedServer {
  readonly pid: number;
  /** Resolves with the exit code or signal when the process has ended. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Ends the server in good order (SIGTERM) and waits for it. */
  stop(): Promise<void>;
  /** Kills the server (SIGKILL) and waits for it. */
  kill(): Promise<void>;
}

/**
 * Starts the server as a child process, and resolves when it answers. Throws SetupError with the server's own reason.
 */
export async function startServer(
  options: ServerOptions & { readonly log?: 'inherit' | 'ignore' },
): Promise<RunningServer> {
  const prepared = await prepareServer(options);
  const child = spawn(prepared.binary.file, prepared.args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (options.log === 'inherit') process.stderr.write(text);
    tail = (tail + text).slice(-4000);
  });
  let running = true;
  let spawnFault: Error | undefined;
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('error', (error) => {
      spawnFault = error;
      running = false;
      resolve(1);
    });
    child.once('exit', (code, signal) => {
      running = false;
      resolve(signal ?? code ?? 0);
    });
  });
  const deadline = performance.now() + 30_000;
  while (!(await answers(options.port))) {
    if (!running || performance.now() > deadline) {
      child.kill('SIGKILL');
      const reason = spawnFault?.message ?? tail.trim().split('\n').at(-1) ?? '';
      throw new SetupError(
        `nats-server (${prepared.binary.file}) did not start: ${reason || 'no answer within 30 s'}`,
      );
    }
    await sleep(25);
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return { ...prepared, pid: child.pid ?? 0, exited, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

function tokenFile(dataDir: string): string {
  return join(dataDir, 'nats', 'token');
}

async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await chmod(path, 0o700);
}

async function readOrMakeToken(dataDir: string): Promise<string> {
  const file = tokenFile(dataDir);
  try {
    await writeFile(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  await chmod(file, 0o600);
  const token = (await readFile(file, 'utf8')).trim();
  if (token === '') throw new SetupError(`${file} is empty. Delete it: the next start makes a new one.`);
  return token;
}

/** Two servers on one store would destroy it, even on different ports. */
async function refuseSecondServer(pidFile: string, configFile: string): Promise<void> {
  const pid = await runningServer(pidFile, configFile);
  if (pid === null) return;
  throw new SetupError(`A nats-server (process ${pid}) already runs on this data directory. Stop it first.`);
}

/** Id of the process that runs with our configuration file; null if none does. */
async function runningServer(pidFile: string, configFile: string): Promise<number | null> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 1) return null;
  try {
    process.kill(pid, 0);
  } catch {
    return null;
  }
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  if (command !== null && !command.includes(configFile)) return null;
  return command === null && process.platform === 'linux' ? null : pid;
}

/**
 * Ends the nats-server that an earlier start left running on a data directory, because its parent was killed. Returns
 * its process id, or null if there is none. The caller must hold the data directory, so that no server in use is ended.
 */
export async function stopLeftServer(dataDir: string): Promise<number | null> {
  const folder = join(dataDir, 'nats');
  const [pidFile, configFile] = [join(folder, 'nats.pid'), join(folder, 'nats.conf')];
  const pid = await runningServer(pidFile, configFile);
  if (pid === null) return null;
  process.kill(pid, 'SIGTERM');
  const deadline = performance.now() + LEFT_SERVER_MS;
  while ((await runningServer(pidFile, configFile)) !== null) {
    if (performance.now() > deadline) {
      throw new SetupError(
        `A nats-server (process ${pid}) left from an earlier start does not end. Stop it first.`,
      );
    }
    await sleep(50);
  }
  return pid;
}

async function refuseTakenPort(port: number): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ port, host: HOST, exclusive: true });
    await once(probe, 'listening');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new SetupError(
      code === 'EADDRINUSE'
        ? `Port ${port} on ${HOST} is taken. Stop what uses it, or set NATS_PORT to a free port.`
        : `nats-server cannot listen on ${HOST}:${port} (${code ?? String(error)}). Set NATS_PORT to another port.`,
      { cause: error },
    );
  } finally {
    if (probe.listening) await new Promise((resolve) => probe.close(resolve));
  }
}

/** Disk space for JetStream, bytes: a share of the free space and of what it already uses. */
async function storeBytes(store: string): Promise<number> {
  const disk = await statfs(store);
  let held = 0;
  for (const entry of await readdir(store, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) held += (await stat(join(entry.parentPath, entry.name)).catch(() => null))?.size ?? 0;
  }
  return Math.max(LEAST_STORE_BYTES, held, Math.floor((disk.bavail * disk.bsize + held) * STORE_SHARE));
}

/** Resolves to true if a NATS server answers on the port. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: HOST });
    const settle = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(1000, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => resolve(false));
    socket.once('data', (data) => settle(data.toString('latin1').startsWith('INFO ')));
  });
}
