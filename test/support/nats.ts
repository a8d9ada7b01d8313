import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamConnection } from '../../src/stream/connection.ts';
import { startServer, type RunningServer, type ServerAddress } from '../../src/stream/server/server.ts';

const CACHE_DIR = join(import.meta.dirname, '../../.cache');

/** A real nats-server of a test's own, on a free port and an empty data directory. */
export interface TestServer {
  readonly dataDir: string;
  readonly port: number;
  readonly url: string;
  readonly token: string;
  /** What `openConnection` takes. */
  readonly address: ServerAddress;
  /** Ends it in an orderly way. `restart` brings it back. */
  end(): Promise<void>;
  /** kill -9. `restart` brings it back on the same port and data. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Ends it and deletes its data. Register it right after the start: `after(() => server.stop())`. */
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the probe has no port');
  return address.port;
}

export async function startTestServer(): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'undertone-nats-'));
  const port = await freePort();
  const start = (): Promise<RunningServer> => startServer({ dataDir, port, cacheDir: CACHE_DIR });
  let server = await start();
  const { url, token } = server;
  return {
    dataDir,
    port,
    url,
    token,
    address: { url, token: () => token },
    end: () => server.stop(),
    kill: () => server.kill(),
    restart: async () => {
      await server.kill();
      server = await start();
    },
    stop: async () => {
      await server.kill();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Kills and restarts a server and waits until these connections have lost it and found it again. */
export async function restartUnder(server: TestServer, ...connections: StreamConnection[]): Promise<void> {
  const back = connections.map(
    (connection) =>
      new Promise<void>((resolve) => {
        const stop = connection.onStateChange((state) => {
          if (state !== 'reconnected') return;
          stop();
          resolve();
        });
      }),
  );
  await server.restart();
  await Promise.all(back);
}

/** Kills a server and waits until this connection knows. */
export async function killUnder(server: TestServer, connection: StreamConnection): Promise<void> {
  const lost = new Promise<void>((resolve) => connection.onStateChange(() => resolve()));
  await server.kill();
  await lost;
}
