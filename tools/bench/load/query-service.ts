import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { waitUntilReady } from '../../../src/doors/demo/service.ts';
import type { QueryResponse } from '../../../src/query/response-schema.ts';
import { parseProcfile } from '../../../src/main/supervisor.ts';
import type { RunningServer } from '../../../src/stream/server/server.ts';
import { ConnectionPool } from './http-load.ts';
import { memoryOf } from './process-use.ts';
import { freePort, inRegistry, startNats } from './service.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const READY_MS = 60_000;

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
  const nats = await startNats(folder);
  const processes = parseProcfile(await readFile(join(ROOT, 'Procfile'), 'utf8'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const web = spawn('sh', ['-c', `exec ${processes.find(({ name }) => name === 'web')?.command}`], {
    cwd: ROOT,
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      SERVE: 'query',
      SHARDS: '1',
      DATA_DIR: options.dataDir,
      NATS_URL: nats.url,
      NATS_TOKEN: nats.token,
      RATE_LIMIT_PER_SECOND: '1000000000',
      LOG_LEVEL: 'warn',
    },
    // By its channel, web notices when this process has ended.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(web, 'exit');
  const pool = new ConnectionPool(url, options.connections);
  const stop = async (): Promise<void> => {
    pool.close();
    web.kill('SIGTERM');
    await ended;
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
  };
  let key: string;
  try {
    key = await register(nats, options.instanceIds);
    await waitUntilReady(url, READY_MS, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  const get = async (instanceId: string, parameters: Readonly<Record<string, string>>): Promise<string> => {
    const path = `/v1/query/?${new URLSearchParams({ instanceId, ...parameters }).toString()}`;
    const answer = await pool.get(path, { 'x-api-key': key });
    if (answer.status !== 200) throw new Error(`status ${answer.status} for ${path}: ${answer.body}`);
    return answer.body;
  };
  return {
    ask: async (instanceId, parameters) => JSON.parse(await get(instanceId, parameters)) as QueryResponse,
    send: async (instanceId, parameters) => void (await get(instanceId, parameters)),
    memory: () => memoryOf(web.pid ?? 0),
    url,
    key,
    stop,
  };
}

/** Makes a key, and instances of its project. */
function register({ url, token }: RunningServer, instanceIds: readonly string[]): Promise<string> {
  return inRegistry({ dataDir: '', natsPort: 0, natsUrl: url, natsToken: token }, async (registry) => {
    const { rawKey, key } = await registry.createKey({ projectName: 'bench', env: 'test' });
    for (const id of instanceIds) await registry.createInstance({ projectId: key.projectId, id });
    return rawKey;
  });
}
