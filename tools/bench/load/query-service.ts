import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isStarterMessage } from '../../../src/main/first-steps.ts';
import type { QueryResponse } from '../../../src/query/response-schema.ts';
import { parseProcfile } from '../../../src/main/supervisor.ts';
import { openRegistry } from '../../../src/web/registry/registry.ts';
import { openConnection } from '../../../src/stream/connection.ts';
import { startServer } from '../../../src/stream/server/server.ts';
import { ConnectionPool } from './http-load.ts';
import { memoryOf } from './process-use.ts';
import { freePort } from './service.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** nats-server and web (`SERVE=query`) as processes of their own, over views that were built before. */
export interface QueryService {
  /** One answer; connections are kept. Throws when it is not 200. */
  ask(instanceId: string, parameters: Readonly<Record<string, string>>): Promise<QueryResponse>;
  /** One answer that nobody reads: what a load generator sends. Throws when it is not 200. */
  send(instanceId: string, parameters: Readonly<Record<string, string>>): Promise<void>;
  /** Resident memory of web, bytes: now and at most so far (0 where the system does not tell). */
  memory(): Promise<{ now: number; peak: number }>;
  readonly url: string;
  readonly key: string;
  stop(): Promise<void>;
}

/** Starts them over a data directory and registers its instances. */
export async function startQueryService(options: {
  readonly dataDir: string;
  readonly instanceIds: readonly string[];
  /** Requests at once; more wait in line. */
  readonly connections: number;
}): Promise<QueryService> {
  const folder = await mkdtemp(join(tmpdir(), 'undertone-bench-'));
  const nats = await startServer({
    dataDir: folder,
    port: await freePort(),
    cacheDir: join(ROOT, '.cache'),
  });
  let web: ChildProcess | null = null;
  let pool: ConnectionPool | null = null;
  const stop = async (): Promise<void> => {
    pool?.close();
    if (web !== null) await endOf(web);
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const key = await register({ url: nats.url, token: () => nats.token }, options.instanceIds);
    const command = parseProcfile(await readFile(join(ROOT, 'Procfile'), 'utf8')).find(
      ({ name }) => name === 'web',
    )?.command;
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: ROOT,
      env: {
        ...process.env,
        HOST: '127.0.0.1',
        PORT: '0',
        SERVE: 'query',
        SHARDS: '1',
        DATA_DIR: options.dataDir,
        NATS_URL: nats.url,
        NATS_TOKEN: nats.token,
        RATE_LIMIT_PER_SECOND: '1000000000',
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    web = child;
    const url = await listeningUrl(child);
    await untilReady(url);
    const opened = new ConnectionPool(url, options.connections);
    pool = opened;
    const get = async (instanceId: string, parameters: Readonly<Record<string, string>>): Promise<string> => {
      const path = `/v1/query/?${new URLSearchParams({ instanceId, ...parameters }).toString()}`;
      const answer = await opened.get(path, { 'x-api-key': key });
      if (answer.status !== 200) throw new Error(`status ${answer.status} for ${path}: ${answer.body}`);
      return answer.body;
    };
    return {
      ask: async (instanceId, parameters) => JSON.parse(await get(instanceId, parameters)) as QueryResponse,
      send: async (instanceId, parameters) => void (await get(instanceId, parameters)),
      memory: () => memoryOf(child.pid ?? 0),
      url,
      key,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function register(
  address: { url: string; token: () => string },
  instanceIds: readonly string[],
): Promise<string> {
  const connection = await openConnection({ ...address, name: 'undertone bench' });
  try {
    const registry = await openRegistry(connection);
    try {
      await registry.whenReady();
      const { rawKey, key } = await registry.createKey({ projectName: 'bench', env: 'test' });
      for (const id of instanceIds) await registry.createInstance({ projectId: key.projectId, id });
      return rawKey;
    } finally {
      await registry.close();
    }
  } finally {
    await connection.close();
  }
}

function listeningUrl(web: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    web.on('message', (message: unknown) => {
      if (isStarterMessage(message) && message.type === 'listening') done(message.url);
    });
    web.once('exit', (code) => fail(new Error(`web ended with code ${code} before it listened`)));
  });
}

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const text = await answer.text();
    if (answer.ok) return;
    if (performance.now() > deadline) throw new Error(`web is not ready: ${text}`);
    await new Promise((resolved) => setTimeout(resolved, 20));
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
