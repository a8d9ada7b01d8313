import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { firstKeyFile } from '../../../src/main/first-steps.ts';
import { ServiceClient } from '../../../src/doors/import/client.ts';
import { startService, waitUntilReady } from '../../../src/doors/demo/service.ts';
import { withConnection, withRegistry } from '../../../src/cli/nats-access.ts';
import type { Registry } from '../../../src/web/registry/registry.ts';
import {
  startServer,
  type connectionOptions,
  type RunningServer,
} from '../../../src/stream/server/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** A service to measure. */
export interface MeasuredService {
  readonly url: string;
  readonly key: string;
  /** Ends and removes it; does nothing to a service that was running before. */
  stop(): Promise<void>;
}

/** A service that was started to be measured. */
export interface OwnService extends MeasuredService {
  /** Where it keeps its data. */
  readonly dataDir: string;
  /** A key of another project. */
  newKey(project: string): Promise<string>;
  /** All that its processes have printed. */
  log(): Promise<string>;
}

/** Sends a body with `x-api-key`; returns the answer, parsed, and its stream position. Throws unless it is 2xx. */
export async function request<Answer>(
  { url, key }: MeasuredService,
  path: string,
  body: object | string,
  more: { readonly method?: 'PUT'; readonly type?: string } = {},
): Promise<Answer & { readonly position: number }> {
  const { type = 'application/json' } = more;
  const answer = await fetch(`${url}/v1/${path}`, {
    method: more.method ?? 'POST',
    headers: { 'x-api-key': key, 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}: ${text.slice(0, 300)}`);
  const isJson = type === 'application/json';
  return {
    ...((isJson ? JSON.parse(text) : {}) as Answer),
    position: Number(answer.headers.get('x-stream-position')),
  };
}

const WAIT_MS = 600_000;

/** Waits until queries count everything up to a position. Throws after ten minutes. */
export async function untilCounted(
  service: MeasuredService,
  instanceId: string,
  position: number,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  const query = { instanceId, groupBy: 'SESSION', fields: 'messages', limit: '1' };
  const client = new ServiceClient(service);
  while (performance.now() < deadline)
    if ((await client.query(query, position)).waitResult === 'reached') return;
  throw new Error(`position ${position} was not counted within ${WAIT_MS / 60_000} minutes`);
}

const UNLIMITED = {
  RATE_LIMIT_PER_SECOND: '1000000000',
  RATE_LIMIT_MESSAGES_PER_SECOND: '1000000000',
  OPEN_RATE_LIMIT_PER_SECOND: '1000000000',
};

/** Opens the registry of a service that runs, for the duration of `work`. */
export function inRegistry<Result>(
  server: Parameters<typeof connectionOptions>[0],
  work: (registry: Registry) => Promise<Result>,
): Promise<Result> {
  return withConnection(server, { name: 'benchmark' }, (connection) => withRegistry(connection, {}, work));
}

/** Starts a nats-server that keeps its data below a folder. */
export async function startNats(dataDir: string): Promise<RunningServer> {
  return startServer({ dataDir, port: await freePort(), cacheDir: join(ROOT, '.cache') });
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/**
 * Starts the whole service (nats, web, worker) on free ports with an empty data directory of its own and
 * without a rate limit that a benchmark could reach; `isLimited`: with its usual limits. Throws with the end of its
 * output when it does not start.
 */
export async function startMeasuredService(
  env: Readonly<Record<string, string>> = {},
  { isLimited = false }: { readonly isLimited?: boolean } = {},
): Promise<OwnService> {
  const folder = await mkdtemp(join(tmpdir(), 'undertone-bench-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const natsPort = await freePort();
  const environment = {
    ...process.env,
    PORT: String(port),
    NATS_PORT: String(natsPort),
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    ...(isLimited ? {} : UNLIMITED),
    ...env,
  };
  const logFile = join(folder, 'service.log');
  const service = startService({
    script: 'src/main/start.ts',
    cwd: ROOT,
    env: environment,
    logFile,
    keyFile: firstKeyFile(folder),
  });
  const stop = async (): Promise<void> => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const log = (): Promise<string> => readFile(logFile, 'utf8').catch(() => '');
  try {
    await waitUntilReady(url, 180_000, service.ended);
    const server = { dataDir: folder, natsPort, natsUrl: env['NATS_URL'], natsToken: env['NATS_TOKEN'] };
    const newKey = (projectName: string): Promise<string> =>
      inRegistry(server, async (registry) => (await registry.createKey({ projectName, env: 'test' })).rawKey);
    return { url, key: service.key() ?? (await newKey('default')), dataDir: folder, newKey, log, stop };
  } catch (error) {
    const tail = (await log()).split('\n').slice(-15).join('\n');
    await stop();
    throw new Error(`the service did not start: ${String(error)}\n${tail}`, { cause: error });
  }
}
