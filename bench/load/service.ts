import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createKey, startService, waitUntilReady } from '../../src/demo/service.ts';
import { firstKeyFile } from '../../src/main/first-steps.ts';

const ROOT = resolve(import.meta.dirname, '../..');

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
 * without a rate limit that a benchmark could reach. Throws with the end of its output when it does not start.
 */
export async function startMeasuredService(env: Readonly<Record<string, string>> = {}): Promise<OwnService> {
  const folder = await mkdtemp(join(tmpdir(), 'undertone-bench-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    ...process.env,
    PORT: String(port),
    NATS_PORT: String(await freePort()),
    DATA_DIR: folder,
    RATE_LIMIT_PER_SECOND: '1000000000',
    RATE_LIMIT_MESSAGES_PER_SECOND: '1000000000',
    LOG_LEVEL: 'warn',
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
  try {
    await waitUntilReady(url, 180_000, service.ended);
    const newKey = (project: string): Promise<string> =>
      createKey({ project, script: 'src/cli/keys.ts', cwd: ROOT, env: environment });
    return { url, key: service.key() ?? (await newKey('default')), dataDir: folder, newKey, stop };
  } catch (error) {
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-15).join('\n');
    await stop();
    throw new Error(`the service did not start: ${String(error)}\n${tail}`, { cause: error });
  }
}
