/**
 * Creates and locks the data directory. One process of each name holds it at a time.
 *
 * Test: test/main/supervisor.test.ts, test/main/start.test.ts.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SetupError } from '../errors.ts';
import { closeToOthers, writeForOwnerOnly } from './closed-to-others.ts';

/** Limit for paths of Unix sockets that holds on every system, bytes. */
const MAX_SOCKET_PATH = 100;

/**
 * Creates the data directory (0700) if it is missing, and closes an open one to everybody but its owner. Later files of
 * this process and its children are closed, too.
 *
 * @returns sentences for the operator
 *
 * @throws SetupError when it cannot be created, written or closed
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

/**
 * Creates missing parents one by one: the recursive mkdir of Node never returns where the system forbids a folder
 * (`/proc`).
 */
export function makeDirectory(path: string, mode = 0o700): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process that starts at the same time was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The folder of web's copy of the views that machines share, with the layout of a data directory. */
export function mirrorFolder(dataDir: string): string {
  return join(dataDir, 'mirror');
}

/** An exclusive lock on a data directory. */
export interface DataDirectoryLock {
  release(): void;
}

export interface DataDirectoryLockOptions {
  /** Role of the process; one process of each name may hold the lock. Default `start`. */
  readonly name?: string;
  /** The error message when another process holds the lock. */
  readonly taken?: string;
}

/**
 * Locks the data directory for this process. The lock is a listening socket, which ends with the process, so a crash
 * leaves nothing to clean up.
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

/** Resolves to true if a process listens on the socket file. */
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

/** Returns a folder for data that exceeds the memory. DuckDB creates the folder when needed, but not its parents. */
export function spillDirectory(dataDir: string, name: string): string {
  const parent = join(dataDir, 'tmp');
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return join(parent, name);
}
