/** Covered by test/main/supervisor.test.ts and test/main/start.test.ts. */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupError } from '../errors.ts';
import { closeToOthers, writeForOwnerOnly } from './closed-to-others.ts';

/** Unix socket paths may be no longer than about this on every system. */
const MAX_SOCKET_PATH = 100;

/**
 * Makes the data directory (0700) if it is not there, and closes one that is to everybody but its owner; what this
 * process and its children write from now on is closed, too.
 *
 * @returns what an operator should know about it, a sentence each
 * @throws SetupError when it cannot be made, written or closed
 */
export function prepareDataDirectory(dataDir: string): string[] {
  writeForOwnerOnly();
  try {
    makeDirectory(dataDir);
    if (!statSync(dataDir).isDirectory()) throw new Error('it is not a directory');
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as Error).message;
    throw new SetupError(
      `The data directory ${dataDir} cannot be written (${reason}). Make it writable or set DATA_DIR to another one.`,
      { cause: error },
    );
  }
  return closeToOthers(dataDir);
}

/** Parents first, one by one: the recursive mkdir of Node never returns where the system forbids a folder (`/proc`). */
export function makeDirectory(path: string, mode = 0o700): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Processes that start together make it together: one of them does.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** A hold on a data directory that no other process has. */
export interface DataDirectoryLock {
  release(): void;
}

export interface DataDirectoryLockOptions {
  /** What the process is to the directory; one process of each name may hold it. Default `start`. */
  readonly name?: string;
  /** What to say when another process holds it. */
  readonly taken?: string;
}

/**
 * Takes the data directory for this process. The lock is a listening socket: it ends with the process,
 * however that ends, so a crash leaves nothing to clean up.
 *
 * @throws SetupError when another process of the name holds it
 */
export async function lockDataDirectory(
  dataDir: string,
  {
    name = 'start',
    taken = `Another npm start runs on the data directory ${dataDir}: stop it, or set DATA_DIR to another directory.`,
  }: DataDirectoryLockOptions = {},
): Promise<DataDirectoryLock> {
  const path = socketPath(realpathSync(dataDir), name);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const server = await listenOn(path);
      return {
        release() {
          server.close();
        },
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt > 3) throw error;
      if (await isAnswered(path)) {
        throw new SetupError(taken);
      }
      rmSync(path, { force: true });
    }
  }
}

function socketPath(directory: string, name: string): string {
  const inside = join(directory, `${name}.sock`);
  if (Buffer.byteLength(inside) <= MAX_SOCKET_PATH) return inside;
  const digest = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  return join(tmpdir(), `undertone-${name === 'start' ? '' : `${name}-`}${digest}.sock`);
}

function listenOn(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

/** Whether a process listens behind the socket file. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** A folder for what does not fit into memory; DuckDB makes it when needed, but not its parents. */
export function spillDirectory(dataDir: string, name: string): string {
  const parent = join(dataDir, 'tmp');
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return join(parent, name);
}
